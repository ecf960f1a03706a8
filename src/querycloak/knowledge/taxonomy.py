"""A tree of concepts as flat arrays in depth-first order: a subtree is a slice.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> t = Taxonomy.from_parents([-1, 0, 0, 1], [["food"], ["fruit"], ["meat"], ["apple", "apples"]])
>>> t.label(2), t.depth.tolist(), t.size.tolist()
('apple', [0, 1, 2, 1], [4, 2, 1, 1])
"""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - for the dataclass
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import TaxonomyError

__all__ = ["ROOT", "Taxonomy"]

ROOT: Final = 0
"""Index of the root of every taxonomy."""

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """Concepts in depth-first order, the root at index 0 and depth 0."""

    name: str
    parent: Int32s
    """int32[n], -1 for the root; always smaller than the index itself"""
    depth: Int32s
    """int32[n], edges from the root"""
    size: Int32s
    """int32[n], nodes of the subtree with its root: the subtree of c is c .. c + size[c] - 1"""
    leaves: Int32s
    """int32[n], leaves of the subtree; 1 for a leaf"""
    labels: Sequence[Sequence[str]]
    """several labels per concept, the preferred one first"""
    more_parents: tuple[Int32s, Int32s] | None = None
    """(child, parent) of the further hypernyms that the tree leaves out; kept for the graph form"""
    sense: npt.NDArray[np.int32] | None = None
    """int32[labels over all concepts], rank of this concept among those that share the label; None = by index"""

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        return f"Taxonomy({self.name}, {len(self):,} concepts, depth {int(self.depth.max(initial=0))})"

    def label(self, concept: int) -> str:
        """Give the preferred label of a concept."""
        return self.labels[concept][0]

    def ancestors(self, concept: int) -> list[int]:
        """Give the concept and its ancestors, upwards, the root last."""
        out = [concept]
        while self.parent[out[-1]] >= 0:
            out.append(int(self.parent[out[-1]]))
        return out

    def path(self, concept: int, separator: str = "/") -> str:
        """Give the preferred labels from the root down: 'food/fruit/apple'."""
        return separator.join(self.label(c) for c in reversed(self.ancestors(concept)))

    def covers(self, above: int, below: int) -> bool:
        """Tell whether `below` lies in the subtree of `above` (itself included)."""
        return above <= below < above + int(self.size[above])

    @cached_property
    def height(self) -> int:
        """Depth of the deepest concept."""
        return int(self.depth.max(initial=0))

    @classmethod
    def from_parents(
        cls,
        parents: Sequence[int] | Int32s,
        labels: Sequence[Sequence[str]],
        *,
        name: str = "taxonomy",
        names: Sequence[str] | None = None,
    ) -> Taxonomy:
        """Put any numbering into depth-first order; children keep their order. Refuses what is not one tree.

        `parents` has -1 for the root; `names` are used in messages (default: the first label).
        """
        taxonomy, _ = cls.from_parents_with_order(parents, labels, name=name, names=names)
        return taxonomy

    @classmethod
    def from_parents_with_order(
        cls,
        parents: Sequence[int] | Int32s,
        labels: Sequence[Sequence[str]],
        *,
        name: str = "taxonomy",
        names: Sequence[str] | None = None,
    ) -> tuple[Taxonomy, npt.NDArray[np.int64]]:
        """Like `from_parents`; also gives order: int64[n], the old number of each new index."""
        given = np.asarray(parents, dtype=np.int64)
        order = _depth_first(given, names if names is not None else [ls[0] if ls else "?" for ls in labels])
        new_of_old = np.empty(len(given), dtype=np.int64)
        new_of_old[order] = np.arange(len(given))
        parent = np.where(given[order] < 0, -1, new_of_old[given[order]]).astype(np.int32)
        depth, size, leaves = _shape(parent)
        sorted_labels = [labels[i] for i in order.tolist()]
        return cls(name, parent, depth, size, leaves, sorted_labels), order


def _depth_first(parent: npt.NDArray[np.int64], names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Order the nodes depth-first, siblings by old number; raise TaxonomyError on what is not one tree."""
    n = len(parent)
    if n == 0:
        raise TaxonomyError("The taxonomy is empty: it needs at least a root.")
    unknown = np.flatnonzero((parent >= n) | (parent < -1))
    if unknown.size:
        raise TaxonomyError(f"The taxonomy's node {names[int(unknown[0])]!r} has a parent that does not exist.")
    roots = np.flatnonzero(parent == -1)
    if len(roots) > 1:
        shown = ", ".join(repr(names[int(r)]) for r in roots[:3])
        raise TaxonomyError(f"The taxonomy has {len(roots)} roots ({shown}): it needs exactly one.")
    by_parent = np.argsort(parent, kind="stable")  # children of p are one run, by old number
    first = np.searchsorted(parent[by_parent], np.arange(n))
    last = np.searchsorted(parent[by_parent], np.arange(n), side="right")
    children, starts, ends = by_parent.tolist(), first.tolist(), last.tolist()
    order: list[int] = []
    stack = roots.tolist()
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(children[starts[node] : ends[node]]))
    if len(order) < n:
        seen = np.zeros(n, dtype=np.bool_)
        seen[order] = True
        raise TaxonomyError(f"The taxonomy has a cycle through {names[_on_cycle(parent, seen)]!r}.")
    return np.array(order, dtype=np.int64)


def _on_cycle(parent: npt.NDArray[np.int64], reached: npt.NDArray[np.bool_]) -> int:
    """Find a node on a cycle: follow parents from an unreached node until one repeats."""
    node = int(np.flatnonzero(~reached)[0])
    visited: set[int] = set()
    while node not in visited:
        visited.add(node)
        node = int(parent[node])
    return node


def _shape(parent: Int32s) -> tuple[Int32s, Int32s, Int32s]:
    """Give depth, subtree size and leaf count for parents in depth-first order."""
    above = parent.tolist()
    n = len(above)
    depth, size, leaves = [0] * n, [1] * n, [0] * n
    for node in range(1, n):
        depth[node] = depth[above[node]] + 1
    for node in range(n - 1, 0, -1):
        size[above[node]] += size[node]
        leaves[node] = leaves[node] or 1
        leaves[above[node]] += leaves[node]
    leaves[0] = leaves[0] or 1
    return np.array(depth, np.int32), np.array(size, np.int32), np.array(leaves, np.int32)
