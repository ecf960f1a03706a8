"""Words as codes, and texts of several words as rows of codes: what the kernels of the layers look things up in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.vocabulary import ByteCodes
from querycloak.mapping._layer_kernels import (
    BRANDS,
    ENTRY,
    FACTS,
    FLAGS,
    GUESS,
    LETTER,
    MOST_WORDS,
    NOTHING,
    OWN,
    SENSE,
    UNKNOWN,
    fill_sequences,
)
from querycloak.mapping._split_kernels import kinds, split_queries
from querycloak.mapping.layer_arrays import Sequences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

__all__ = ["CodedWords", "SplitTexts", "sequences_of", "spans_of", "split_texts"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_SPACE: Final = ord(" ")
_LINE: Final = ord("\n")


class CodedWords:
    """All words that were seen, as codes, with a row of facts for each (`_layer_kernels`)."""

    def __init__(self) -> None:
        self.codes = ByteCodes()
        self.facts = _no_facts(1 << 19)

    def code(self, data: Bytes, spans: Int32s) -> Int32s:
        """Return the codes of words, begin and end in `data`; new words are added."""
        code = np.full(len(spans), -1, np.int32)
        self.codes.code(data, spans, 0, np.arange(len(spans), dtype=np.int32), code)
        if len(self.codes) > len(self.facts):
            self.facts = np.concatenate([self.facts, _no_facts(len(self.codes))])
        return code

    def code_lines(self, column: Bytes) -> tuple[Int32s, Int64s]:
        """Return the codes of the words of texts, one text per line, and where each text begins: int64[texts + 1]."""
        at = np.flatnonzero((column == _SPACE) | (column == _LINE))
        spans = np.stack([np.append(0, at + 1), np.append(at, len(column))], axis=1).astype(np.int32)
        first = np.flatnonzero(column[at] == _LINE) + 1
        return self.code(column, spans), np.concatenate([np.zeros(1, np.int64), first, [len(spans)]]).astype(np.int64)

    def code_texts(self, texts: Sequence[str]) -> Int32s:
        """Return the codes of single words; new ones are added."""
        data, spans = spans_of(texts)
        return self.code(data, spans)

    def find(self, texts: Sequence[str]) -> Int32s:
        """Return the codes of single words, -1 where they were not seen."""
        data, spans = spans_of(texts)
        return self.codes.find(data, spans)

    def texts(self, codes: Iterable[int]) -> list[str]:
        """Return the words of codes."""
        return [self.codes.text(code).decode() for code in codes]


def _no_facts(rows: int) -> Int32s:
    facts = np.full((rows, FACTS), -1, np.int32)
    facts[:, [LETTER, FLAGS, BRANDS, OWN]] = 0
    facts[:, SENSE] = NOTHING
    facts[:, [GUESS, ENTRY]] = UNKNOWN
    return facts


def spans_of(texts: Sequence[str]) -> tuple[Bytes, Int32s]:
    """Return the bytes of texts, one after the other, and begin and end of each: int32[n, 2]."""
    parts = [text.encode() for text in texts]
    end = np.cumsum(np.fromiter(map(len, parts), np.int32, len(parts)), dtype=np.int32)
    begin = np.concatenate([np.zeros(1, np.int32), end[:-1]])[: len(parts)]
    return np.frombuffer(b"".join(parts), np.uint8), np.stack([begin, end], axis=1)


def sequences_of(code: Int32s, start: Int64s) -> Sequences:
    """Return rows of codes that can be found."""
    size = 1 << max(4, int(2 * len(start)).bit_length())
    found = Sequences(np.full(size, -1, np.int64), start.astype(np.int64), code.astype(np.int32))
    fill_sequences(found)
    return found


class SplitTexts:
    """The words of many texts: those that the kernel can split, and which it cannot."""

    def __init__(self, data: Bytes, offset: Int64s) -> None:
        """Take texts, one after the other, and where each begins: int64[n + 1]."""
        size = len(data) + 1
        self.words = np.zeros(size + 2 * int((data == ord("&")).sum()) + 8, np.uint8)
        """the words in lower case, one after the other"""
        spans, ends = np.zeros((size, 2), np.int32), np.zeros(size, np.uint8)
        self.start = np.zeros(len(offset), np.int64)
        """int64[n + 1]: first word of each text"""
        odd = np.zeros(len(offset) - 1, np.uint8)
        count = split_queries(data, offset, kinds(), MOST_WORDS, self.words, spans, ends, self.start, odd)
        self.spans = spans[:count]
        """int32[words, 2]: begin and end in `words`"""
        self.ends = ends[:count]
        """uint8[words]: 1 = the last of its clause"""
        self.odd = np.flatnonzero(odd)
        """numbers of the texts that are left to the reference"""


def split_texts(texts: pl.Series) -> SplitTexts:
    """Split texts into words."""
    length = texts.str.len_bytes().to_numpy().astype(np.int64)
    data = np.frombuffer(str(texts.str.join("").item()).encode() if len(texts) else b"", np.uint8)
    return SplitTexts(data, np.concatenate([np.zeros(1, np.int64), np.cumsum(length)]))
