"""Refinement of groups: fewer steps from users to the medoid of their group, sizes as before.

Not in the paper. MDAV groups greedily and never looks back; moving and swapping users afterwards keeps the guarantee
(sizes stay k to 2k - 1) and loses less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.methods.microaggregation._refine_kernels import exchange, improve
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.distances.distance import Distances

__all__ = ["medoids", "refine"]

Int32s = npt.NDArray[np.int32]

ROUNDS: Final = 200
"""bound on rounds; ten to thirty are the rule"""


def medoids(distances: Distances, group: Int32s, bit: int | None = None) -> tuple[Int32s, int]:
    """Find the member of each group with the smallest sum of distances to the group: int32[groups], and the total.

    Ties: the lowest index; with `bit`, the highest in groups whose number has that bit set.
    """
    groups = int(group.max()) + 1
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(groups + 1))
    medoid = np.empty(groups, dtype=np.int32)
    total = 0
    for g in range(groups):
        members = order[start[g] : start[g + 1]]
        sums = np.array([distances.row(u)[members].sum(dtype=np.int64) for u in members.tolist()])
        ties = members[sums == sums.min()]
        medoid[g] = ties[-1] if bit is not None and g >> bit & 1 else ties[0]
        total += int(sums.min())
    return medoid, total


def refine(distances: Distances, group: Int32s, k: int, progress: Progress = QUIET) -> tuple[Int32s, int, int]:
    """Improve groups until nothing is gained; return the groups, and the total distance to medoids before and after.

    Every round fixes the medoids, moves, swaps and passes on users, then finds the medoids again. Both steps lower the
    total or leave it, so the search ends. Where members tie for the medoid (both do when k = 2), the choice alternates
    from round to round by the bits of the group's number: any two groups differ in one, so every pairing of choices
    has its turn.
    """
    group = group.copy()
    total = before = medoids(distances, group)[1]
    bits = max(int(group.max()), 1).bit_length()
    progress.start("refining groups")
    idle = 0
    for turn in range(ROUNDS):
        medoid, total = medoids(distances, group, turn % bits)
        near = np.stack([distances.row(m) for m in medoid.tolist()])
        changes = improve(near, medoid, group, k) + exchange(near, medoid, group)
        idle = idle + 1 if changes == 0 else 0
        if idle > bits:
            break
    return group, before, min(total, medoids(distances, group)[1])
