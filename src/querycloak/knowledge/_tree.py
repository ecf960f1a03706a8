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
    """Return depth, subtree size and leaf count for parents in depth-first order.

    Links are followed in strides that double, so that even a chain of n nodes takes log n steps. A parent that does not
    come before its child is refused: following such links might never end.
    """
    n = len(parent)
    index = np.arange(n)
    if n and (parent[0] >= 0 or (parent[1:] < 0).any() or (parent[1:] >= index[1:]).any()):
        raise ValueError("parents are not those of one tree in depth-first order")
    above = np.where(parent < 0, index, parent)  # the root is above itself
    depth = (above != index).astype(np.int32)
    # Of the children of a node the last ends where the node ends; every other ends where the next begins.
    by_parent = np.argsort(parent, kind="stable")  # children of a node are one run, in order
    end = np.full(n, n)
    next_one = parent[by_parent[:-1]] == parent[by_parent[1:]]
    end[by_parent[:-1][next_one]] = by_parent[1:][next_one]
    last = np.ones(n, np.bool_)
    last[by_parent[:-1][next_one]] = False
    ends_with = np.where(last, above, index)  # the nearest node up that ends at the same index
    while (further := ends_with[ends_with] != ends_with).any():
        ends_with = np.where(further, ends_with[ends_with], ends_with)
    size = end[ends_with] - index
    while above.any():
        depth += depth[above]
        above = above[above]
    leaf = np.concatenate([np.zeros(1, np.int64), np.cumsum(size == 1)])
    leaves = leaf[index + size] - leaf[index]
    return depth, size.astype(np.int32), leaves.astype(np.int32)
