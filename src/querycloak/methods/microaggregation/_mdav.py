"""MDAV: groups of k to 2k - 1 users, far ones first (Batet et al. 2013, Algorithm 1).

The distance between users is an argument, so every method that groups by MDAV shares this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.distances.distance import Distances

__all__ = ["mdav"]

Groups = npt.NDArray[np.int32]


class _Remaining:
    """The users not yet grouped, with the sum of distances of each to all of them, kept up to date by subtraction."""

    def __init__(self, distances: Distances, progress: Progress) -> None:
        self.distances = distances
        self.progress = progress
        self.group: Groups = np.full(len(distances), -1, dtype=np.int32)
        self.users = np.arange(len(distances))  # ascending: the first of equals is the lowest index
        self.sums = distances.sums()
        self.groups = 0

    def __len__(self) -> int:
        return len(self.users)

    def centroid(self) -> int:
        """Find the user with the smallest sum of distances to all (eq. 5)."""
        return int(self.users[np.argmin(self.sums[self.users])])

    def farthest(self, user: int) -> int:
        """Find the most distant user."""
        return int(self.users[np.argmax(self.distances.row(user)[self.users])])

    def group_around(self, seed: int, k: int) -> None:
        """Group a user with the k - 1 nearest."""
        others = self.users[self.users != seed]
        rank = self.distances.row(seed)[others].astype(np.int64) * len(self.group) + others  # ties: lowest index
        self.take(np.append(others[np.argpartition(rank, k - 2)[: k - 1]], seed))

    def take(self, members: npt.NDArray[np.int64]) -> None:
        """Make a group and remove its users."""
        self.group[members] = self.groups
        self.groups += 1
        self.users = self.users[self.group[self.users] < 0]
        if len(self.users):  # integers: subtraction leaves exactly the sums over those who remain
            for member in members.tolist():
                self.sums -= self.distances.row(member)
        self.progress.advance(len(members))


def mdav(distances: Distances, k: int, progress: Progress = QUIET) -> Groups:
    """Group users who are near each other: int32[n], the number of each user's group.

    Ties (farthest, nearest, centroid) break by the lowest user index. The centroid is never computed again: distance
    sums are kept, so the whole costs O(n²) look-ups. Needs n >= k >= 2.
    """
    left = _Remaining(distances, progress)
    while len(left) >= 3 * k:
        first = left.farthest(left.centroid())
        left.group_around(first, k)
        left.group_around(left.farthest(first), k)
    if len(left) >= 2 * k:
        left.group_around(left.farthest(left.centroid()), k)
    left.take(left.users)
    return left.group
