"""The cells of a mechanism: domains and topics of a taxonomy as the flat arrays that the kernels read.

In a tree, equation 5 depends only on the levels of both concepts and of their lowest common ancestor. So candidates
fall into cells (ancestor, level) of equal weight, and the concepts of a cell are slices of one array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._semantic_dp_kernels import CANDIDATES, Cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["largest_losses", "losses", "make_cells"]

Int32s = npt.NDArray[np.int32]


def make_cells(taxonomy: Taxonomy, domains: Sequence[int], topics: Sequence[int], *, itself: bool) -> Cells:
    """Make the cells of disjoint domains, cut at disjoint topics; `itself`: all but the input itself is far (nsqc)."""
    domain = _domain_of(taxonomy, domains)
    level = np.where(domain < 0, -1, taxonomy.depth - taxonomy.depth[domain]).astype(np.int32)
    top, group, far, listed, home = _groups(taxonomy, domain, domains, topics, itself=itself)
    first, run, near = _runs(taxonomy.parent, level, top, domain)
    return Cells(taxonomy.parent, level, top, group, first, run, near, far, listed, home)


def largest_losses(taxonomy: Taxonomy, domains: Sequence[int], cells: Cells) -> npt.NDArray[np.float64]:
    """float64[domains]: 1 - sim of the least similar pair; 1 where a candidate can be far, which has a sim of 0."""
    far = np.zeros(len(domains), dtype=np.int64)
    used = np.unique(cells.group[cells.group >= 0])  # where a topic is a whole domain, nothing is left for no topic
    np.maximum.at(far, cells.home[used], cells.far[used, CANDIDATES])
    return np.array([1.0 if far[i] else _spread(taxonomy, cells.level, int(root)) for i, root in enumerate(domains)])


def _domain_of(taxonomy: Taxonomy, domains: Sequence[int]) -> Int32s:
    """int32[n]: root of the domain of each concept, -1 outside all."""
    out = np.full(len(taxonomy), -1, dtype=np.int32)
    for root in domains:
        out[root : root + taxonomy.size[root]] = root
    return out


def _groups(
    taxonomy: Taxonomy, domain: Int32s, domains: Sequence[int], topics: Sequence[int], *, itself: bool
) -> tuple[Int32s, Int32s, npt.NDArray[np.int64], Int32s, Int32s]:
    """Return top, group, far, listed and home of `Cells`. Group i < len(domains) is what no topic takes in domain i."""
    n = len(taxonomy)
    top, group = domain.copy(), np.full(n, -1, dtype=np.int32)
    far: list[list[int]] = []
    for i, root in enumerate(domains):
        group[root : root + taxonomy.size[root]] = i
    in_topic = np.zeros(n, dtype=np.bool_)
    topic_rows: list[list[int]] = []
    number = {int(root): i for i, root in enumerate(domains)}
    home = list(range(len(domains)))
    for topic in topics:
        root = int(domain[topic])
        if root < 0:
            continue  # outside all domains, or above some: then its domains are whole
        size = int(taxonomy.size[topic])
        top[topic : topic + size] = topic
        group[topic : topic + size] = len(domains) + len(topic_rows)
        in_topic[topic : topic + size] = True
        home.append(number[root])
        topic_rows.append([root, int(taxonomy.size[root]) - size, topic - root, size, 0])
    listed: list[Int32s] = []
    at = 0
    for root in domains:
        size = int(taxonomy.size[root])
        if itself:
            far.append([root, size - 1, -1, 1, 0])
            continue
        inside = np.flatnonzero(in_topic[root : root + size]).astype(np.int32) + np.int32(root)
        far.append([at, len(inside), len(inside), 0, 1])
        listed.append(inside)
        at += len(inside)
    if itself:
        top = np.where(domain < 0, -1, np.arange(n)).astype(np.int32)
    table = np.array(far + topic_rows, dtype=np.int64).reshape(-1, 5)
    listed_all = np.concatenate([*listed, np.empty(0, dtype=np.int32)])
    return top, group, table, listed_all, np.array(home, dtype=np.int32)


def _runs(parent: Int32s, level: Int32s, top: Int32s, domain: Int32s) -> tuple[npt.NDArray[np.int64], Int32s, Int32s]:
    """Return first, run and near of `Cells`: where the near candidates below each concept are, level by level.

    A group is a subtree, or what is left of a domain without its topics. Sorted by (is a topic, level, index), the
    concepts of one group below one ancestor at one level are one slice.
    """
    inside = np.flatnonzero(domain >= 0)
    near = inside[np.lexsort((inside, level[inside], top[inside] != domain[inside]))].astype(np.int32)
    height = np.zeros(len(parent), dtype=np.int64)
    for node, k in _climb(near, parent, top):
        np.maximum.at(height, node[node >= 0], k)
    rows = np.where(domain >= 0, height + 1, 0)
    first = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    begin = np.full(first[-1], len(near), dtype=np.int32)
    length = np.zeros(first[-1], dtype=np.int32)
    for node, k in _climb(near, parent, top):
        there = np.flatnonzero(node >= 0)
        row = first[node[there]] + k
        length += np.bincount(row, minlength=len(length)).astype(np.int32)
        np.minimum.at(begin, row, there.astype(np.int32))
    return first, np.stack([begin, length], axis=1), near


def _climb(near: Int32s, parent: Int32s, top: Int32s) -> list[tuple[Int32s, int]]:
    """Return, for k = 0, 1, …, the k-th ancestor of each near concept within its group, -1 where there is none."""
    out: list[tuple[Int32s, int]] = []
    node = near.copy()
    while (node >= 0).any():
        out.append((node, len(out)))
        ends = (node < 0) | (node == top[near])
        node = np.where(ends, -1, parent[node]).astype(np.int32)
    return out


def _spread(taxonomy: Taxonomy, level: Int32s, root: int) -> float:
    """Return max_sim - min_sim of equation 5 over one domain (1 where it has one concept: nothing to tell apart).

    The least similar pair shares the root alone and is as deep as two concepts of different branches can: with a
    and b edges, r = (a + b) / (a + b + 1). A pair that shares l > 0 further ancestors has at most
    r = 1 - (l + 1) / (2h - l + 1) <= 1 - 1 / (h + 1), which the root and the deepest concept (h edges) reach already.
    """
    inside = np.arange(root + 1, root + taxonomy.size[root])
    if not len(inside):
        return 1.0
    branch = np.cumsum(level[inside] == 1) - 1
    deepest = np.zeros(int(branch[-1]) + 1, dtype=np.int64)
    np.maximum.at(deepest, branch, level[inside])
    edges = int(np.sort(deepest)[-2:].sum())
    return float(np.log2(1 + edges / (edges + 1)))


def losses(height: int) -> npt.NDArray[np.float64]:
    """float64[height + 2, 2·height + 2]: 1 - sim = log2(1 + r) by shared and by all ancestors, of equation 5."""
    shared = np.arange(height + 2, dtype=np.float64)[:, None]
    union = np.arange(2 * height + 2, dtype=np.float64)[None, :]
    rest = np.clip((union - shared) / np.maximum(union, 1), 0, 1)
    return np.log2(1 + rest)
