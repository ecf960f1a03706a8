"""The tree of the categories seen so far in a stream: a path becomes a node, and a node has a chain of sets."""

from __future__ import annotations

from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.category_paths import split_path

__all__ = ["UNCLASSIFIED", "CategoryTree", "split_path"]

Int32s = npt.NDArray[np.int32]

UNCLASSIFIED: Final[tuple[str, ...]] = ()
"""Path of what could not be classified: a separate top-level branch."""


class CategoryTree:
    """Nodes by path, cut to a depth, and the sets each is in. It grows with the categories, not with the stream."""

    def __init__(self, depth: int, *, borrows: bool = True) -> None:
        """Make an empty tree; without `borrows` a node has its own set alone, and no branch."""
        self.depth = depth
        self.borrows = borrows
        self.width = depth if borrows else 1
        self.sets = 0
        self._nodes: dict[tuple[str, ...], int] = {}
        self._branches: dict[tuple[int, str], int] = {}  # set of the branch above (-1 = none), name → set
        self._chains: list[tuple[int, ...]] = []
        self._depths: list[int] = []

    def __len__(self) -> int:
        return len(self._chains)

    def node(self, path: tuple[str, ...] | None) -> int:
        """Return the node of a path cut to the depth; a new one is added."""
        if path is None:
            raise ValueError("a category path has an empty level")
        cut = path[: self.depth]
        node = self._nodes.get(cut)
        if node is None:
            node = self._nodes[cut] = len(self._chains)
            self._chains.append(self._chain(cut))
            self._depths.append(len(cut))
        return node

    def _chain(self, cut: tuple[str, ...]) -> tuple[int, ...]:
        """Return the sets of a new node: its branches from depth 1 down, then its own."""
        if not self.borrows or not cut:
            return (self._new_set(),)
        sets, above, branches = [], -1, self._branches
        for name in cut:  # a key of two parts: one of a whole path would be hashed name by name, at every level
            at = branches.get((above, name))
            if at is None:
                at = branches[above, name] = self.sets
                self.sets += 1
            sets.append(at)
            above = at
        if len(cut) < self.depth:
            sets.append(self._new_set())
        return tuple(sets)

    def _new_set(self) -> int:
        self.sets += 1
        return self.sets - 1

    def chains(self, first: int = 0) -> tuple[Int32s, Int32s]:
        """Return the sets of each node from `first` on: int32[nodes, width], the widest first, -1 = none; int32[nodes].

        The second array is the length of each chain.
        """
        chains = self._chains[first:]  # one moment in time: another thread may add to the tree
        length = np.fromiter(map(len, chains), dtype=np.int32, count=len(chains))
        out = np.full((len(chains), self.width), -1, dtype=np.int32)
        sets = np.fromiter(chain.from_iterable(chains), dtype=np.int32, count=int(length.sum()))
        out[np.arange(self.width) < length[:, None]] = sets
        return out, length

    def paths(self) -> list[tuple[str, ...]]:
        """Return the path of each node, in the order of the nodes."""
        return list(self._nodes)

    def depths(self) -> Int32s:
        """Return the depth of each node after the cut: int32[nodes], 0 = unclassified."""
        return np.array(self._depths, dtype=np.int32)
