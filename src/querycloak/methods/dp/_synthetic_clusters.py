"""Clusters of users by what they ask about: spherical k-means with noise, in a fixed number of rounds.

A user's profile is the vector of events by field, brought to length 1; users belong to the cluster whose centre has the
largest product with it. The new centre of a cluster is the direction of the sum of its profiles, so no count is needed.
Clusters begin at the fields that most is asked about, by the noisy topics that were published before.

**What one user changes.** A round adds up one vector over clusters x fields: a user's profile in the block of the
user's cluster, 0 elsewhere. Its length is at most 1 (`_synthetic_sums.py`, normed), whatever the cluster; which cluster
it is follows from the user's own profile and centres published before. So the l2-sensitivity of a round is 1, and
rounds compose adaptively.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._synthetic_sums import noisy_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.methods.dp._synthetic_sums import NoisySums
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share

__all__ = ["Profiles", "assign", "find_centres", "first_centres", "next_centres"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


class Profiles(NamedTuple):
    """What users ask about: distinct (user, field) pairs, ordered by user."""

    user: Int64s
    """int64[m], ascending"""
    field: Int64s
    """int64[m]"""
    events: Int64s
    """int64[m]"""
    fields: int
    users: int
    """codes of users are below this"""

    @classmethod
    def of(cls, user: Int64s, field: Int64s, fields: int, users: int) -> Profiles:
        """Count the events of each user and field."""
        key, count = np.unique(user * np.int64(fields) + field, return_counts=True)
        owner, where = np.divmod(key, np.int64(fields))
        return cls(owner, where, count, fields, users)


def first_centres(mass: Float64s, clusters: int) -> Float64s:
    """float64[clusters, fields]: one field each, those with the most mass; mass: float64[fields], noisy."""
    top = np.argsort(-mass, kind="stable")[:clusters]
    centres = np.zeros((clusters, len(mass)))
    centres[np.arange(len(top)), top] = 1.0
    return centres


def assign(profiles: Profiles, centres: Float64s) -> Int64s:
    """int64[users]: the cluster of each user; of equally near ones, and without a profile, the first."""
    start = np.flatnonzero(np.diff(profiles.user, prepend=-1))
    out = np.zeros(profiles.users, dtype=np.int64)
    if len(start):
        near = np.stack(  # float64[clusters, users with a profile]; the length of a profile changes no order
            [np.add.reduceat(profiles.events * centre[profiles.field], start) for centre in centres]
        )
        out[profiles.user[start]] = near.argmax(axis=0)
    return out


def find_centres(profiles: Profiles, centres: Float64s, rounds: Sequence[Share], random: Randomness) -> Float64s:
    """float64[clusters, fields]: the centres after all rounds that have a share of the budget."""
    clusters, fields = centres.shape
    user = np.repeat(profiles.user, profiles.events)
    field = np.repeat(profiles.field, profiles.events)
    for i, share in enumerate(rounds):
        cell = assign(profiles, centres)[user] * fields + field
        sums = noisy_sums(
            user, cell, clusters * fields, most=1, share=share, random=random.child(f"round {i}"), normed=True
        )
        centres = next_centres(sums, centres)
    return centres


def next_centres(sums: NoisySums, centres: Float64s) -> Float64s:
    """float64[clusters, fields]: the directions of the sums of a round; where there are none, the centres before."""
    found = sums.cut().reshape(centres.shape)
    length = np.sqrt((found**2).sum(axis=1, keepdims=True))
    return np.where(length > 0, found / np.where(length > 0, length, 1.0), centres)
