"""Byte strings as codes, by first appearance: the vocabulary of a log or a stream, which grows while it is read."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from querycloak.arrays._vocabulary_kernels import code_texts, find_texts, move_slots, write_digits
from querycloak.arrays.checks import Arrays, require, take

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from querycloak.randomness import Randomness

__all__ = ["BROKEN", "ByteCodes", "Vocabulary", "fresh_ids", "id_width", "sliced_texts"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]

NONE: Final = -1
"""Code of an empty text."""
BROKEN: Final = -2
"""Code of a text whose escapes cannot be decoded."""
MOST_SPELLINGS: Final = 1 << 20
"""odd spellings that are remembered; when there are more, all are forgotten, and decoded again where they come"""
LONGEST_SLICE: Final = 1 << 30
"""bytes that are cut into texts at once: a value of Polars is shorter than 4 GiB"""
FAST_GROWTH: Final = 1 << 18
"""Slots up to which a table becomes four times as large, not twice: memory does not count yet."""
PART: Final = 1 << 26
"""Bytes of texts that are coded again at once."""


class ByteCodes:
    """Codes of byte strings. The text of a code never moves: one thread may read it while another adds.

    >>> codes = ByteCodes()
    >>> [codes.add(word) for word in (b"ann", b"bob", b"ann")], codes.text(1), len(codes)
    ([0, 1, 0], b'bob', 2)
    """

    def __init__(self) -> None:
        self._key = np.uint64(int.from_bytes(os.urandom(8)))  # codes do not depend on it
        self._slots = np.zeros((1024, 2), dtype=np.uint64)
        self.ends = np.zeros(642, dtype=np.int64)
        """int64: number of codes, then where each text ends; the end of code c is ends[c + 1]"""
        self.texts = np.zeros(1 << 14, dtype=np.uint8)

    def __len__(self) -> int:
        return int(self.ends[0])

    def __repr__(self) -> str:
        return f"ByteCodes({len(self):,})"

    def code(self, data: Bytes, spans: Int32s, column: int, rows: Int32s, code: Int32s) -> None:
        """Set code int32[n] of `rows` to the codes of their texts; one that is set stays, and an empty text stays -1.

        spans int32[n, *]: begin and end of each text in `data`, in `column` and the next.
        """
        done = 0
        while True:
            done += code_texts((data, spans, column), rows[done:], code, self._key, self._slots, self.ends, self.texts)
            if done == len(rows):
                return
            begin, end = spans[rows[done], column : column + 2].tolist()
            self.grow(end - begin)

    def find(self, data: Bytes, spans: Int32s) -> Int32s:
        """int32[n]: codes of texts, -1 = it is not known; spans int32[n, 2]: begin and end of each in `data`."""
        code = np.full(len(spans), NONE, dtype=np.int32)
        find_texts((data, spans, 0), code, self._key, self._slots, self.ends, self.texts)
        return code

    def add(self, text: bytes) -> int:
        """Return the code of one text."""
        code = np.full(1, -1, dtype=np.int32)
        span = np.array([[0, len(text)]], dtype=np.int32)
        self.code(np.frombuffer(text, dtype=np.uint8), span, 0, np.zeros(1, dtype=np.int32), code)
        return int(code[0])

    def text(self, code: int) -> bytes:
        """Return the text of a code."""
        begin = int(self.ends[code]) if code > 0 else 0
        return self.texts[begin : int(self.ends[code + 1])].tobytes()

    def texts_from(self, first: int) -> list[bytes]:
        """Return the texts of all codes from `first` on."""
        ends = self.ends[first : len(self) + 1].tolist()
        if first == 0:
            ends[0] = 0
        begin = ends[0]
        whole = self.texts[begin : ends[-1]].tobytes()
        return [whole[a - begin : b - begin] for a, b in pairwise(ends)]

    def to_arrays(self) -> Arrays:
        """Return the texts, one after the other in the order of their codes, and where each ends."""
        n = len(self)
        used = int(self.ends[n]) if n else 0
        return {"texts": self.texts[:used].copy(), "ends": self.ends[1 : n + 1].copy()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ByteCodes:
        """Code the texts of `to_arrays` again, under a new hash key; BadStateError where they cannot be such texts."""
        texts = take(arrays, "texts", np.uint8)
        ends = take(arrays, "ends", np.int64, low=0, high=len(texts))
        require((np.diff(ends, prepend=0) > 0).all(), "no text is empty")
        require((int(ends[-1]) if len(ends) else 0) == len(texts), "every byte belongs to a text")
        made, begins = cls(), np.append(0, ends[:-1])
        first = 0
        while first < len(ends):  # in parts: spans are of 32 bits
            last = max(first + 1, int(np.searchsorted(ends, begins[first] + PART, side="right")))
            require(ends[last - 1] - begins[first] < 1 << 31, "no text is longer than 2 GB")
            rows = np.arange(last - first, dtype=np.int32)
            spans = np.stack([begins[first:last], ends[first:last]], axis=1) - begins[first]
            code = np.full(len(rows), -1, dtype=np.int32)
            data = texts[begins[first] : ends[last - 1]]
            made.code(data, spans.astype(np.int32), 0, rows, code)
            first = last
        require(len(made) == len(ends), "no text is there twice")
        return made

    def to_series(self) -> pl.Series:
        """Return all texts, in the order of their codes; they must be UTF-8."""
        begins, lengths = self._bounds()
        return sliced_texts(self.texts[: int(lengths.sum())], begins, lengths)

    def _bounds(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        ends = self.ends[1 : len(self) + 1]
        begins = np.concatenate([np.zeros(1, dtype=np.int64), ends])[: len(ends)]
        return begins, ends - begins

    @property
    def memory(self) -> int:
        """Bytes that it takes."""
        return self._slots.nbytes + self.ends.nbytes + self.texts.nbytes

    @property
    def arrays(self) -> tuple[np.uint64, npt.NDArray[np.uint64], npt.NDArray[np.int64], Bytes]:
        """Key of the hash, slots, ends and texts: for kernels that code next to other work (`live._plain_kernels`)."""
        return self._key, self._slots, self.ends, self.texts

    def grow(self, wanted: int) -> None:
        """Make room for one more text, of so many bytes."""
        n = len(self)
        if 8 * (n + 1) > 5 * len(self._slots) or n + 2 > len(self.ends):
            slots = np.zeros(((4 if len(self._slots) < FAST_GROWTH else 2) * len(self._slots), 2), dtype=np.uint64)
            move_slots(self._slots, slots)
            ends = np.zeros(5 * len(slots) // 8 + 2, dtype=np.int64)
            ends[: n + 1] = self.ends[: n + 1]
            self._slots, self.ends = slots, ends
        used = int(self.ends[n]) if n else 0
        if used + wanted > len(self.texts):
            texts = np.zeros(2 * len(self.texts) + wanted, dtype=np.uint8)
            texts[:used] = self.texts[:used]
            self.texts = texts


class Vocabulary:
    """Values of one column, of which some are written in an odd way: with escapes, or not in their normal form.

    An odd spelling has the code of what it means. Its meaning is looked up once, however often it comes.
    """

    def __init__(self) -> None:
        self.codes = ByteCodes()
        self._written = ByteCodes()
        self._meant = np.zeros(0, dtype=np.int32)  # code of what each odd spelling means

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,})"

    def text(self, code: int) -> bytes:
        """Return the value of a code."""
        return self.codes.text(code)

    @property
    def memory(self) -> int:
        """Bytes that it takes."""
        return self.codes.memory + self._written.memory + self._meant.nbytes

    def code(
        self,
        data: Bytes,
        spans: Int32s,
        column: int,
        rows: Int32s,
        odd: npt.NDArray[np.bool_],
        meaning: Callable[[list[bytes]], list[bytes | None]],
    ) -> Int32s:
        """int32[n]: codes of the values of `rows`, spans as in `ByteCodes.code`; -1 elsewhere, and where it is empty.

        `odd` bool[rows] = a value is written in an odd way; `meaning` returns what each of some distinct ones means,
        or None where it means nothing: BROKEN.
        """
        code = np.full(len(spans), NONE, dtype=np.int32)
        if not odd.any():
            self.codes.code(data, spans, column, rows, code)
            return code
        odd_rows = rows[odd]
        written = np.full(len(spans), NONE, dtype=np.int32)
        self._written.code(data, spans, column, odd_rows, written)
        written = written[odd_rows]
        known = len(self._meant)
        texts = meaning([self._written.text(c) for c in range(known, len(self._written))])

        # What new spellings mean is put after the data, and their rows point there: one pass over all rows gives codes
        # in the order of the rows, whichever way a value is written.
        lengths = np.array([len(text or b"") for text in texts], dtype=np.int64)
        ends = len(data) + np.cumsum(lengths)
        longer = np.concatenate([data, np.frombuffer(b"".join(text or b"" for text in texts), dtype=np.uint8)])
        places = spans[:, column : column + 2].astype(np.int32)
        is_new = written >= known
        new = written[is_new] - known
        places[odd_rows[is_new], 0], places[odd_rows[is_new], 1] = (ends - lengths)[new], ends[new]
        settled = odd.copy()
        settled[odd] = ~is_new
        self.codes.code(longer, places, 0, rows[~settled], code)

        meant = np.full(len(texts), NONE, dtype=np.int32)
        meant[new] = code[odd_rows[is_new]]
        meant[[i for i, text in enumerate(texts) if text is None]] = BROKEN
        self._meant = np.concatenate([self._meant, meant])
        code[odd_rows] = np.append(self._meant, np.int32(NONE))[written]  # an empty value is no spelling: -1
        if len(self._meant) > MOST_SPELLINGS:
            self._written, self._meant = ByteCodes(), np.zeros(0, dtype=np.int32)
        return code

    def to_arrays(self) -> Arrays:
        """Return what a checkpoint keeps. Odd spellings are not among it: they are decoded again where they come."""
        return self.codes.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the vocabulary of a checkpoint; BadStateError where the arrays are none."""
        made = cls()
        made.codes = ByteCodes.from_arrays(arrays)
        return made


def sliced_texts(data: Bytes | bytes, begins: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> pl.Series:
    """Return stretches of some bytes as a column of texts, without a Python string for each."""
    import polars as pl

    parts, first = [], 0
    while first < len(begins):
        base, last = 0, len(begins)
        if len(data) > LONGEST_SLICE:  # then the begins ascend
            base = int(begins[first])
            last = max(int(np.searchsorted(begins, base + LONGEST_SLICE)), first + 1)
        piece = data[base : int(begins[last - 1] + lengths[last - 1])] if base else data
        offsets = pl.Series(begins[first:last] - base)
        cut = pl.lit(bytes(piece)).bin.slice(offsets, pl.Series(lengths[first:last]))
        parts.append(pl.select(cut.cast(pl.String)).to_series())
        first = last
    return pl.concat(parts).alias("") if parts else pl.Series([], dtype=pl.String)


def id_width(*, digits: bool) -> int:
    """Return the length of fresh ids."""
    return 12 if digits else 16


def fresh_ids(ids: ByteCodes, n: int, random: Randomness, *, digits: bool) -> None:
    """Add n new random ids, all distinct from those there are: 12 decimal digits, or 16 hexadecimal ones."""
    wanted = len(ids) + n
    while len(ids) < wanted:
        words = random.words(wanted - len(ids))
        width = id_width(digits=digits)
        texts = np.empty((len(words), width), dtype=np.uint8)
        if digits:
            words = words % np.uint64(9 * 10**11) + np.uint64(10**11)
        write_digits(words, 10 if digits else 16, texts)
        begins = np.arange(len(words), dtype=np.int32) * width
        spans = np.stack([begins, begins + np.int32(width)], axis=1)
        rows, code = np.arange(len(words), dtype=np.int32), np.full(len(words), -1, dtype=np.int32)
        ids.code(texts.ravel(), spans, 0, rows, code)  # one that is there already adds none
