"""Users into groups by MDAV: whole or in topical blocks, refined or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.distances.distance import SCALE, distances_of
from querycloak.distances.user_concepts import part_of
from querycloak.errors import InputError
from querycloak.methods.microaggregation._blocks import topical_blocks
from querycloak.methods.microaggregation._mdav import mdav
from querycloak.methods.microaggregation._refine import medoids, refine
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.distances.distance import Distances
    from querycloak.distances.user_concepts import UserConcepts
    from querycloak.methods.microaggregation._group_settings import MdavSettings

__all__ = ["Grouping", "group_bags", "group_distances", "refuse_too_few"]


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group each user belongs to, and how tight the groups are."""

    group: npt.NDArray[np.int32]
    """int32[n]"""
    total: float
    """sum of the distances of users to the medoid of their group"""
    unrefined: float
    """the same before refinement"""
    blocks: int = 1

    def figures(self) -> dict[str, float]:
        """Return what the statement shows."""
        size = np.bincount(self.group)
        out = {
            "groups": len(size),
            "smallest group": int(size.min()),
            "largest group": int(size.max()),
            "mean distance to the group's medoid": self.total / len(self.group),
        }
        if self.blocks > 1:
            out["blocks"] = self.blocks
        if self.total != self.unrefined:
            out["distance saved by refinement"] = 1 - self.total / self.unrefined
        return out


def refuse_too_few(n: int, k: int, of: str) -> None:
    """Refuse to make groups of k out of fewer than k users."""
    if n < k:
        users = f"users {of}".rstrip()
        raise InputError(
            f"Groups of k = {k} users need at least {k} {users}, the log has {n:,}. Lower k, or use a larger log."
        )


def group_distances(distances: Distances, k: int, progress: Progress = QUIET, *, refined: bool) -> Grouping:
    """Group all users of a distance together."""
    progress.start("grouping users", len(distances))
    group = mdav(distances, k, progress)
    if refined:
        group, before, after = refine(distances, group, k, progress)
        return Grouping(group, after / SCALE, before / SCALE)
    total = medoids(distances, group)[1] / SCALE
    return Grouping(group, total, total)


def group_bags(bags: UserConcepts, settings: MdavSettings, progress: Progress = QUIET) -> Grouping:
    """Group users by their bags of concepts, in topical blocks where the settings and the number of users say so."""
    n = len(bags.weight)
    per_block = settings.block_users(n)
    if per_block is None:
        return group_distances(distances_of(bags), settings.k, progress, refined=settings.refine)
    blocks = topical_blocks(bags, per_block)
    progress.note(f"{n:,} users: grouped in {len(blocks):,} topical blocks of about {per_block:,} users.")
    progress.start("grouping users", n)
    group = np.empty(n, dtype=np.int32)
    groups, total, unrefined = 0, 0.0, 0.0
    for users in blocks:
        part = group_distances(distances_of(part_of(bags, users)), settings.k, refined=settings.refine)
        group[users] = part.group + groups
        groups += int(part.group.max()) + 1
        total += part.total
        unrefined += part.unrefined
        progress.advance(len(users))
    return Grouping(group, total, unrefined, len(blocks))
