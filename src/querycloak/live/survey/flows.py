"""How far the categories of users have moved so far: `measures.category_emd` over a stream that never ends.

What is kept is a count for each pair of a user and a category, originals less published ones: memory grows with the
pairs, not with the records. The figures are those of `querycloak measure` over all records that were read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.measures._emd_kernels import tree_flows

if TYPE_CHECKING:
    from querycloak.live.survey.rows import Path

__all__ = ["Flows", "Moved"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Moved:
    """How far categories have moved."""

    share: float
    """of the largest possible distance"""
    edges_per_query: float


class Flows:
    """Counts of users and categories, and the tree of the categories."""

    def __init__(self) -> None:
        self._number: dict[Path, int] = {(): 0}
        self._parent = [-1]
        self._depth = [0]
        self._key = np.zeros(0, dtype=np.int64)  # user << 32 | node, sorted
        self._count = np.zeros(0, dtype=np.int64)  # originals less published ones
        self._largest = 0
        self._originals = 0

    def nodes(self, paths: list[Path]) -> Int32s:
        """int32[paths]: the node of each path; new ones are added."""
        return np.array([self._node(path) for path in paths], dtype=np.int32)

    def _node(self, path: Path) -> int:
        found = self._number.get(path)
        if found is None:
            above = self._node(path[:-1])
            found = self._number[path] = len(self._parent)
            self._parent.append(above)
            self._depth.append(len(path))
        return found

    def add(self, user: Int32s, node: Int32s, sign: int) -> None:
        """Count rows: 1 = original, -1 = published."""
        self._largest += int(np.array(self._depth, dtype=np.int64)[node].sum())
        self._originals += len(user) if sign > 0 else 0
        keys = np.concatenate([self._key, user.astype(np.int64) << 32 | node])
        counts = np.concatenate([self._count, np.full(len(user), sign, dtype=np.int64)])
        self._key, inverse = np.unique(keys, return_inverse=True)
        self._count = np.bincount(inverse, weights=counts, minlength=len(self._key)).astype(np.int64)
        there = self._count != 0
        self._key, self._count = self._key[there], self._count[there]

    def moved(self) -> Moved:
        """Return how far all categories have moved."""
        user = (self._key >> 32).astype(np.int32)
        node = (self._key & 0xFFFFFFFF).astype(np.int32)
        parent = np.array(self._parent, dtype=np.int32)
        users = int(user.max(initial=-1)) + 1
        total = int(tree_flows(user, node, self._count.astype(np.int32), parent, users).sum())
        return Moved(total / max(self._largest, 1), total / max(self._originals, 1))
