"""From parent links to depth-first order: what `Taxonomy` is built with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import TaxonomyError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["depth_first", "shape"]

Int32s = npt.NDArray[np.int32]


def depth_first(parent: npt.NDArray[np.int64], names: Sequence[str]) -> npt.NDArray[np.int64]:
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


def shape(parent: Int32s) -> tuple[Int32s, Int32s, Int32s]:
    """Return depth, subtree size and leaf count for parents in depth-first order."""
    depth = _depths(parent)
    size = np.ones(len(parent), dtype=np.int32)
    by_depth = np.argsort(depth, kind="stable")
    for nodes in reversed(np.split(by_depth, np.flatnonzero(np.diff(depth[by_depth])) + 1)[1:]):  # the deepest first
        np.add.at(size, parent[nodes], size[nodes])
    before = np.append(0, np.cumsum(size == 1, dtype=np.int32))  # leaves before each node; a subtree is a slice
    return depth, size, (before[np.arange(len(parent)) + size] - before[:-1]).astype(np.int32)


def _depths(parent: Int32s) -> Int32s:
    """Return the depth of each node; steps are doubled, so that a tree of any depth takes few rounds."""
    depth = (parent >= 0).astype(np.int32)
    above = parent
    while (going := above >= 0).any():  # depth counts the steps to `above`
        depth = np.where(going, depth + depth[above], depth).astype(np.int32)
        above = np.where(going, above[above], -1).astype(np.int32)
    return depth
