"""How alike single published texts and what is known of a person are: the sum of cosines over some spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.arrays.sparse import Sparse
    from querycloak.attacks.interval import Float64s
    from querycloak.attacks.vectors import Space
    from querycloak.logs.query_log import Codes, QueryLog

__all__ = ["Likeness", "share_of_top"]


@dataclass(frozen=True, eq=False)
class Likeness:
    """What is known of some people, and some published texts, in the same spaces."""

    known: list[Sparse]
    """for each space, [people, width]"""
    texts: list[Sparse]
    """for each space, [texts that are compared, width]"""
    row: npt.NDArray[np.int64]
    """int64[published texts]: the row of each in `texts`; -1 = is not compared"""
    work: list[npt.NDArray[np.float32]]
    """for each space, float32[width]: all 0 between calls"""

    @classmethod
    def of(cls, spaces: Iterable[Space], known: QueryLog, people: Codes, texts: npt.NDArray[np.int64]) -> Self:
        """Prepare the comparison of people with published texts, given by their codes, each once."""
        used = list(spaces)
        row = np.full(max((s.shown.rows for s in used), default=0), -1, dtype=np.int64)
        row[texts] = np.arange(len(texts))
        work = [np.zeros(s.width, dtype=np.float32) for s in used]
        return cls([s.known_rows(known, people) for s in used], [s.text_rows(texts) for s in used], row, work)

    def of_person(self, person: int, texts: npt.NDArray[Any]) -> Float64s:
        """float64[texts]: the sum of the cosines of some texts with what is known of a person, given by its index."""
        out = np.zeros(len(texts))
        rows = self.row[texts]
        for known, shown, work in zip(self.known, self.texts, self.work, strict=True):
            mine = slice(known.start[person], known.start[person + 1])
            work[known.column[mine]] = known.value[mine]
            out += shown.dot_rows(rows, work)
            work[known.column[mine]] = 0.0
        return out


def share_of_top(score: Float64s, most: int) -> Float64s:
    """float64[texts]: the share of each text in the first `most` by score; equal scores at the edge share what is left.

    >>> share_of_top(np.array([3.0, 1.0, 2.0, 1.0]), 3).round(3).tolist()
    [0.333, 0.167, 0.333, 0.167]
    >>> share_of_top(np.array([3.0]), 5).tolist()
    [1.0]
    """
    most = min(most, len(score))
    if most == 0:
        return np.zeros(len(score))
    edge = np.partition(score, -most)[-most]
    above, tied = score > edge, score == edge
    share = (above + tied * ((most - above.sum()) / tied.sum())) / most
    return np.asarray(share, dtype=np.float64)
