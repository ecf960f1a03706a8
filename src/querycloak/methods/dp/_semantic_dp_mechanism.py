"""The exponential mechanism over the concepts of a domain, exact and without a pass over the domain.

Paper: Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca (2018), sections 3.3, 3.5 and 3.6; equations 3, 5, 6, 7
and 12. `concept` is c_i, `epsilon` is ε_q, `group` is the profile topic rho, `spread` is max_sim - min_sim.

**Why it is exact.** In a tree, equation 5 depends only on the levels of both concepts and of their lowest common
ancestor. So candidates fall into cells (ancestor, level) of equal weight: a draw picks a cell, then a concept in it.

**Why it is ε_q-differentially private**, in the arithmetic that runs, not only on paper. Weights are whole numbers W
with 2^62 · exp(-ε_q/2) <= W <= 2^62 (`weigh` rounds up). For inputs c, c' of one domain and any candidate o,
P(o|c) / P(o|c') = W(o|c) / W(o|c') · ΣW(·|c') / ΣW(·|c), and both factors are at most exp(ε_q/2). No weight is zero
even at ε_q = 10^6, and none overflows. The number below the total is drawn without bias, so the probabilities are
these fractions exactly, as long as the random words are uniform.

The bounds (levels, `spread`, sizes) come from the taxonomy and the topics alone, never from a log.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.methods.dp._semantic_dp_kernels import Cells, cells_of, draw, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.randomness import Randomness

__all__ = ["Criterion", "Mechanism"]

Criterion = Literal["sqc1", "sqc2", "nsqc"]

Int32s = npt.NDArray[np.int32]

_LARGEST = 1 << 24  # concepts: what two limbs of 40 and 64 bits can add up


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism:
    """A criterion over disjoint domains of one taxonomy, ready to draw."""

    criterion: Criterion
    domains: tuple[int, ...]
    """root concept of each domain"""
    cells: Cells

    @classmethod
    def over(
        cls, taxonomy: Taxonomy, domains: Sequence[int], *, criterion: Criterion, profile: Sequence[int] = ()
    ) -> Mechanism:
        """Prepare the cells. `domains` and `profile` are roots of subtrees; within each list, none inside another.

        `profile` are the topics rho of equation 6, read by sqc2 only. Concepts of a domain that are in no topic form
        one further group.
        """
        if len(taxonomy) >= _LARGEST:
            raise ParameterError.of("taxonomy", f"one of fewer than {_LARGEST:,} concepts", len(taxonomy))
        topics = profile if criterion == "sqc2" else ()
        domain = _domain_of(taxonomy, domains)
        level = np.where(domain < 0, -1, taxonomy.depth - taxonomy.depth[domain]).astype(np.int32)
        top, group, far, listed = _groups(taxonomy, domain, domains, topics, itself=criterion == "nsqc")
        first, run, near = _runs(taxonomy.parent, level, top, domain)
        height = int(level.max(initial=0))
        spread = np.ones(len(far))
        if criterion == "sqc1":
            spread = np.array([_spread(taxonomy, level, root) for root in domains])
        cells = Cells(taxonomy.parent, level, top, group, first, run, near, far, listed, spread, _losses(height))
        return cls(criterion, tuple(int(d) for d in domains), cells)

    def covers(self, concept: Int32s) -> npt.NDArray[np.bool_]:
        """bool[m]: whether each concept is in a domain (-1 does not)."""
        return np.where(concept < 0, -1, self.cells.group[concept]) >= 0

    def draw(
        self, concept: Int32s, epsilon: npt.NDArray[np.float64], random: Randomness, block: int = 1 << 20
    ) -> Int32s:
        """Draw one concept for each input: int32[m]; every input must be in a domain, every ε_q be above 0.

        `block` is the number of draws that random words are fetched for at a time; it does not change their chances.
        """
        out = np.full(len(concept), -1, dtype=np.int32)
        order = np.lexsort((concept, self.cells.spread[self.cells.group[concept]], epsilon))
        state = np.array([0, -1], dtype=np.int64)
        while state[0] < len(order):
            words = random.words(6 * min(len(order) - int(state[0]), block))
            draw(self.cells, order, concept, epsilon, words, state, out)
        return out

    def probabilities(self, concept: int, epsilon: float) -> dict[int, Fraction]:
        """Return the exact probability of each candidate, as the draw has it: for tests and for explaining."""
        piece, total = self._cells(concept, epsilon)
        whole = sum(int(t[0]) * int(p[1] + p[3]) for p, t in zip(piece, total, strict=True))
        out: dict[int, Fraction] = {}
        for p, t in zip(piece.tolist(), total.tolist(), strict=True):
            for candidate in self._members(concept, p):
                out[candidate] = Fraction(t[0], whole)
        return out

    def _cells(self, concept: int, epsilon: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        size = (self.cells.loss.shape[0] + 1) ** 2 + 1
        piece = np.empty((size, 4), dtype=np.int64)
        total = np.empty((size, 3), dtype=np.uint64)
        weights = weigh(self.cells.loss, epsilon / 2, float(self.cells.spread[self.cells.group[concept]]))
        far = weigh(np.ones((1, 1)), epsilon / 2, 1.0)[0, 0]
        n = cells_of(self.cells, concept, weights, far, piece, total)
        return piece[:n], total[:n]

    def _members(self, concept: int, piece: list[int]) -> list[int]:
        if piece[0] >= 0:
            slices = self.cells.near[piece[0] : piece[0] + piece[1]], self.cells.near[piece[2] : piece[2] + piece[3]]
            return [*slices[0].tolist(), *slices[1].tolist()]
        base, count, skip_from, skip, is_listed = self.cells.far[self.cells.group[concept]].tolist()
        if is_listed:
            return list(self.cells.listed[base : base + count].tolist())
        gap = concept if skip_from < 0 else base + skip_from
        return [*range(base, gap), *range(gap + skip, base + count + skip)]


def _domain_of(taxonomy: Taxonomy, domains: Sequence[int]) -> Int32s:
    """int32[n]: root of the domain of each concept, -1 outside all."""
    out = np.full(len(taxonomy), -1, dtype=np.int32)
    for root in domains:
        out[root : root + taxonomy.size[root]] = root
    return out


def _groups(
    taxonomy: Taxonomy, domain: Int32s, domains: Sequence[int], topics: Sequence[int], *, itself: bool
) -> tuple[Int32s, Int32s, npt.NDArray[np.int64], Int32s]:
    """Return top, group, far and listed of `Cells`. Group i < len(domains) is what no topic takes in domain i."""
    n = len(taxonomy)
    top, group = domain.copy(), np.full(n, -1, dtype=np.int32)
    far: list[list[int]] = []
    for i, root in enumerate(domains):
        group[root : root + taxonomy.size[root]] = i
    in_topic = np.zeros(n, dtype=np.bool_)
    topic_rows: list[list[int]] = []
    for topic in topics:
        root = int(domain[topic])
        if root < 0:
            continue  # outside all domains, or above some: then its domains are whole
        size = int(taxonomy.size[topic])
        top[topic : topic + size] = topic
        group[topic : topic + size] = len(domains) + len(topic_rows)
        in_topic[topic : topic + size] = True
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
    return top, group, table, np.concatenate([*listed, np.empty(0, dtype=np.int32)])


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
    """Give, for k = 0, 1, …, the k-th ancestor of each near concept within its group, -1 where there is none."""
    out: list[tuple[Int32s, int]] = []
    node = near.copy()
    while (node >= 0).any():
        out.append((node, len(out)))
        ends = (node < 0) | (node == top[near])
        node = np.where(ends, -1, parent[node]).astype(np.int32)
    return out


def _spread(taxonomy: Taxonomy, level: Int32s, root: int) -> float:
    """Return max_sim - min_sim of equation 5 over one domain (1 where it has one concept: nothing to tell apart).

    The least similar pair shares the root alone and lies as deep as two concepts of different branches can: with a
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


def _losses(height: int) -> npt.NDArray[np.float64]:
    """float64[height + 2, 2·height + 2]: 1 - sim = log2(1 + r) by shared and by all ancestors, of equation 5."""
    shared = np.arange(height + 2, dtype=np.float64)[:, None]
    union = np.arange(2 * height + 2, dtype=np.float64)[None, :]
    rest = np.clip((union - shared) / np.maximum(union, 1), 0, 1)
    return np.log2(1 + rest)
