"""The texts of a batch as parts of one buffer: their words, and what of each record is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.vocabulary import sliced_texts
from querycloak.methods.stream import _text_kernels as kernels
from querycloak.texts.phrases import LABEL, PHRASE, QUERY

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

__all__ = ["AS_IT_CAME", "Chosen", "CutTexts", "chosen_parts", "cut_texts"]

Bytes = npt.NDArray[np.uint8]
Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

AS_IT_CAME: Final = -1
"""The text is published as it was spelled."""


@dataclass(frozen=True, eq=False, repr=False)
class Chosen:
    """What of each record of a batch is published."""

    kind: Int8s
    """int8[n]: QUERY, PHRASE, LABEL or NOTHING"""
    data: Bytes
    """what is published instead of a text"""
    begin: Int64s
    """int64[n]: where that begins in `data`; AS_IT_CAME = the text is published as it was spelled, or not at all"""
    end: Int64s
    """int64[n]: where it ends"""

    def take(self, rows: Int64s) -> Chosen:
        """Keep some records."""
        return Chosen(self.kind[rows], self.data, self.begin[rows], self.end[rows])

    def spread(self, rows: npt.NDArray[np.integer], n: int) -> Chosen:
        """Return the choice for n records, of which these are some rows; of the others nothing is published."""
        kind = np.full(n, kernels.NOTHING, dtype=np.int8)
        begin, end = np.full(n, AS_IT_CAME, dtype=np.int64), np.full(n, AS_IT_CAME, dtype=np.int64)
        kind[rows], begin[rows], end[rows] = self.kind, self.begin, self.end
        return Chosen(kind, self.data, begin, end)

    def texts(self, rows: Int64s) -> pl.Series:
        """Return what is published instead of the texts of some records."""
        return sliced_texts(self.data, self.begin[rows], self.end[rows] - self.begin[rows])


class CutTexts(NamedTuple):
    """Texts as they are compared, in one buffer, and their words."""

    data: Bytes
    begin: Int64s
    end: Int64s
    words: Int32s
    """int32[words, 2]: begin and end of each"""
    first: Int64s
    """int64[texts + 1]: where the words of each begin"""

    def text(self, begin: int, end: int) -> str:
        """Return a part of the buffer."""
        return self.data[begin:end].tobytes().decode()


def cut_texts(plain: pl.Series) -> CutTexts:
    """Find the words of texts: what is between spaces. The one function that knows what a word is."""
    length = plain.str.len_bytes().to_numpy().astype(np.int64)
    data = np.frombuffer("".join(plain.to_list()).encode(), dtype=np.uint8)
    end = np.cumsum(length)
    words = np.empty((int(np.count_nonzero(data == ord(" "))) + len(plain), 2), dtype=np.int32)
    first = np.zeros(len(plain) + 1, dtype=np.int64)
    n = kernels.find_words(data, end - length, end, words, first)
    return CutTexts(data, end - length, end, words[:n], first)


def chosen_parts(query: Int32s, choice: kernels.Choice, cut: CutTexts, label: Callable[[int], str]) -> Chosen:
    """Return the choice as stretches of one buffer: that of the texts, and the labels after it, by their index."""
    begin, end = np.full(len(query), AS_IT_CAME, dtype=np.int64), np.full(len(query), AS_IT_CAME, dtype=np.int64)
    where = choice.where.astype(np.int64)
    rows = np.flatnonzero((choice.kind == QUERY) & (where[:, 0] == kernels.COMPARED))
    begin[rows], end[rows] = cut.begin[query[rows]], cut.end[query[rows]]
    rows = np.flatnonzero(choice.kind == PHRASE)
    first, n = where[rows].T
    begin[rows], end[rows] = cut.words[first, 0], cut.words[first + n - 1, 1]
    rows = np.flatnonzero(choice.kind == LABEL)
    used, which = np.unique(where[rows, 0], return_inverse=True)
    written = [label(j).encode() for j in used.tolist()]
    length = np.array([len(text) for text in written], dtype=np.int64)
    ends = len(cut.data) + np.cumsum(length)
    begin[rows], end[rows] = (ends - length)[which], ends[which]
    data = np.concatenate([cut.data, np.frombuffer(b"".join(written), dtype=np.uint8)])
    return Chosen(choice.kind, data, begin, end)
