"""The exponential mechanism over the concepts of a domain, exact and without a pass over the domain.

Paper: Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca (2018), sections 3.3, 3.5 and 3.6; equations 3, 5, 6, 7
and 12. `concept` is c_i, `epsilon` is ε_q, `group` is the profile topic rho, `spread` is max_sim - min_sim.

**Why it is exact.** In a tree, equation 5 depends only on the levels of both concepts and of their lowest common
ancestor. So candidates fall into cells (ancestor, level) of equal weight: a draw picks a cell, then a concept in it.

**Why it is ε_q-differentially private**, in the arithmetic that runs, not only on paper. Weights are whole numbers of
1 to 2^62, calibrated to the worst case of the domain (`_semantic_dp_calibration.py` has the proof). No weight is zero
even at ε_q = 10^6, and none overflows. The number below the total is drawn without bias, so the probabilities are
these fractions exactly, as long as the random words are uniform. A draw for no concept is uniform over the domain, and
counts as an input in the worst case.

The weights come from the taxonomy and the topics alone, never from a log.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from querycloak.arrays.keyed_streams import BLOCK
from querycloak.errors import ParameterError
from querycloak.methods.dp._semantic_dp_calibration import Calibration
from querycloak.methods.dp._semantic_dp_cells import largest_losses, losses, make_cells
from querycloak.methods.dp._semantic_dp_kernels import Cells, cells_of, draw, draw_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.arrays.keyed_streams import Streams
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.randomness import Randomness

__all__ = ["Criterion", "Mechanism"]

Criterion = Literal["sqc1", "sqc2", "nsqc"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_LARGEST = 1 << 24  # concepts: what two limbs of 40 and 64 bits can add up


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism:
    """A criterion over disjoint domains of one taxonomy, ready to draw."""

    criterion: Criterion
    domains: tuple[int, ...]
    """root concept of each domain"""
    cells: Cells
    calibration: Calibration

    @classmethod
    def over(
        cls,
        taxonomy: Taxonomy,
        domains: Sequence[int],
        *,
        criterion: Criterion,
        profile: Sequence[int] = (),
        as_in_paper: bool = False,
    ) -> Mechanism:
        """Prepare the cells. `domains` and `profile` are roots of subtrees; within each list, none inside another.

        `profile` are the topics rho of equation 6, read by sqc2 only. Concepts of a domain that are in no topic form
        one further group. `as_in_paper`: weights with ε/2, not calibrated: their loss is at most ε.
        """
        if len(taxonomy) >= _LARGEST:
            raise ParameterError.of("taxonomy", f"one of fewer than {_LARGEST:,} concepts", len(taxonomy))
        topics = profile if criterion == "sqc2" else ()
        cells = make_cells(taxonomy, domains, topics, itself=criterion == "nsqc")
        calibration = Calibration(
            cells,
            losses(int(cells.level.max(initial=0))),
            largest_losses(taxonomy, domains, cells),
            taxonomy.size[list(domains)].astype(np.int64),
            equal_totals=criterion == "nsqc",
            as_in_paper=as_in_paper,
        )
        return cls(criterion, tuple(int(d) for d in domains), cells, calibration)

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
        if not len(concept):
            return out
        values, which = _distinct(epsilon)
        numbers = len(self.domains)
        # tables by ε_q, then by spread: seeds repeat what they drew before there were tables
        by_spread = np.lexsort((np.array(self.domains), self.calibration.spread))
        rank = np.empty(numbers, dtype=np.int64)
        rank[by_spread] = np.arange(numbers)
        pair = which * numbers + rank[self.cells.home[self.cells.group[concept]]]  # int64[m], (ε_q, domain)
        is_used = np.bincount(pair, minlength=len(values) * numbers) > 0
        used = np.flatnonzero(is_used)
        tables = self.calibration.tables(values[used // numbers].tolist(), by_spread[used % numbers].tolist())
        table = (np.cumsum(is_used) - 1)[pair].astype(np.int32)
        order = _together(table, concept, len(self.cells.parent))
        state = np.array([0, -1], dtype=np.int64)
        while state[0] < len(order):
            words = random.words(6 * min(len(order) - int(state[0]), block))
            draw(self.cells, tables, order, concept, table, words, state, out)
        return out

    def draw_each(self, concept: Int32s, epsilon: float, streams: Streams) -> Int32s:
        """Draw one concept for each input from a stream of its own: int32[m]. There is one domain."""
        out = np.full(len(concept), -1, dtype=np.int32)
        tables = self.calibration.tables([epsilon], [0])
        missing, n = np.arange(len(concept)), BLOCK
        while len(missing):
            some, drawn = concept[missing], np.empty(len(missing), dtype=np.int32)
            table = np.zeros(len(missing), dtype=np.int32)
            order = _together(table, some, len(self.cells.parent))
            draw_each(self.cells, tables, order, some, table, streams.take(missing).words(n), drawn)
            out[missing] = drawn
            missing, n = missing[drawn < 0], 2 * n
        return out

    def probabilities(self, concept: int, epsilon: float) -> dict[int, Fraction]:
        """Return the exact probability of each candidate, as the draw has it: for tests and for explaining."""
        piece, total = self.cells_from(concept, epsilon)
        whole = sum(int(t[0]) * int(p[1] + p[3]) for p, t in zip(piece, total, strict=True))
        out: dict[int, Fraction] = {}
        for p, t in zip(piece.tolist(), total.tolist(), strict=True):
            for candidate in self._members(concept, p):
                out[candidate] = Fraction(t[0], whole)
        return out

    def cells_from(self, concept: int, epsilon: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Return the cells of one input, int64[cells, 4] and uint64[cells, 3]: `piece` and `total` of the kernels."""
        tables = self.calibration.tables([epsilon], [int(self.cells.home[self.cells.group[concept]])])
        size = (tables.near.shape[1] + 1) ** 2 + 1
        piece = np.empty((size, 4), dtype=np.int64)
        total = np.empty((size, 3), dtype=np.uint64)
        n = cells_of(self.cells, concept, tables.near[0], tables.far[0], piece, total)
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


def _distinct(epsilon: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], Int64s]:
    """Return the distinct values, ascending, and int64[m], which of them each is; one value is the usual case."""
    if epsilon.min() == epsilon.max():
        return epsilon[:1], np.zeros(len(epsilon), dtype=np.int64)
    values = np.unique(epsilon)  # few: to look each up takes less time than to sort their indices
    return values, np.searchsorted(values, epsilon).astype(np.int64)


def _together(table: Int32s, concept: Int32s, concepts: int) -> Int64s:
    """int64[m]: an order that brings equal (table, concept) together, ties in the order given.

    Sorting one number that holds all three is several times as fast as sorting by keys.
    """
    m = len(table)
    if (int(table.max()) + 1) * concepts * m >= 1 << 63:
        return np.lexsort((concept, table)).astype(np.int64)
    key = (table.astype(np.int64) * concepts + concept) * m + np.arange(m)
    key.sort()
    return np.asarray(key % m, dtype=np.int64)
