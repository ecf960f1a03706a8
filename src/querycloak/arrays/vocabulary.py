"""Byte strings as codes, by first appearance: the vocabulary of a stream, which grows with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays._vocabulary_kernels import code_texts, move_slots, write_digits
from querycloak.arrays.checks import Arrays, part, prefixed, require, take

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.randomness import Randomness

__all__ = ["BROKEN", "ByteCodes", "Vocabulary", "fresh_ids", "id_width"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]

NONE: Final = -1
"""Code of an empty text."""
BROKEN: Final = -2
"""Code of a text whose escapes cannot be decoded."""


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
            self._grow(end - begin)

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

    def _grow(self, wanted: int) -> None:
        n = len(self)
        if 8 * (n + 1) > 5 * len(self._slots) or n + 2 > len(self.ends):
            slots = np.zeros((2 * len(self._slots), 2), dtype=np.uint64)
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
    """Values of one column: what is written with escapes has the code of what it means, and is decoded once."""

    def __init__(self) -> None:
        self.codes = ByteCodes()
        self._written = ByteCodes()
        self._meant = np.zeros(0, dtype=np.int32)  # code of each that is written with escapes

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,})"

    def text(self, code: int) -> bytes:
        """Return the value of a code."""
        return self.codes.text(code)

    def code(
        self,
        data: Bytes,
        spans: Int32s,
        column: int,
        rows: Int32s,
        escaped: npt.NDArray[np.bool_],
        plain: Callable[[bytes], bytes],
    ) -> Int32s:
        """int32[n]: codes of the values of `rows`, spans as in `ByteCodes.code`; -1 elsewhere, and where it is empty.

        `escaped` bool[rows] = a value has escapes; `plain` decodes them, or raises a ValueError: BROKEN.
        """
        code = np.full(len(spans), NONE, dtype=np.int32)
        if not escaped.any():
            self.codes.code(data, spans, column, rows, code)
            return code
        written, plainly, done = code.copy(), ~escaped, 0
        self._written.code(data, spans, column, rows[escaped], written)
        new = np.arange(len(self._meant), len(self._written))
        firsts = np.searchsorted(np.maximum.accumulate(written[rows]), new)  # place of the first row with each new one
        meant = []
        for c, first in zip(new.tolist(), firsts.tolist(), strict=True):  # in the order of the rows, as they all are
            self.codes.code(data, spans, column, rows[done:first][plainly[done:first]], code)
            meant.append(self._decoded(self._written.text(c), plain))
            done = first
        self.codes.code(data, spans, column, rows[done:][plainly[done:]], code)
        self._meant = np.concatenate([self._meant, np.array(meant, dtype=np.int32)])
        code[rows[escaped]] = self._meant[written[rows[escaped]]]
        return code

    def to_arrays(self) -> Arrays:
        """Return the values, and those that are written with escapes with the code of what each means."""
        written = prefixed("written", self._written.to_arrays())
        return {**prefixed("codes", self.codes.to_arrays()), **written, "meant": self._meant}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Vocabulary:
        """Make the vocabulary of `to_arrays` again; BadStateError where it contradicts itself."""
        made = cls()
        made.codes = ByteCodes.from_arrays(part("codes", arrays))
        made._written = ByteCodes.from_arrays(part("written", arrays))
        made._meant = take(
            arrays, "meant", np.int32, length=len(made._written), low=BROKEN, high=len(made.codes) - 1
        ).copy()
        return made

    def _decoded(self, text: bytes, plain: Callable[[bytes], bytes]) -> int:
        try:
            return self.codes.add(plain(text))
        except ValueError:
            return BROKEN


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
