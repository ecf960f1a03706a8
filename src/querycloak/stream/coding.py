"""Byte strings as codes, by first appearance: the vocabulary of a stream, which grows with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.stream._lines_kernels import code_texts, fill_slots

if TYPE_CHECKING:
    from querycloak.randomness import Randomness

__all__ = ["ByteCodes", "fresh_ids"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

HEXADECIMAL = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


class ByteCodes:
    """Codes of byte strings.

    >>> codes = ByteCodes()
    >>> [codes.add(word) for word in (b"ann", b"bob", b"ann")], codes.text(1), len(codes)
    ([0, 1, 0], b'bob', 2)
    """

    def __init__(self) -> None:
        self._slots = np.full(1024, -1, dtype=np.int32)
        self._hashes = np.zeros(512, dtype=np.uint64)
        self.ends = np.zeros(514, dtype=np.int64)
        """int64: number of codes, then where each text ends; the end of code c is ends[c + 1]"""
        self.texts = np.zeros(1 << 14, dtype=np.uint8)

    def __len__(self) -> int:
        return int(self.ends[0])

    def __repr__(self) -> str:
        return f"ByteCodes({len(self):,})"

    def code(self, data: npt.NDArray[np.uint8], begin: Int64s, end: Int64s, known: Int32s | None = None) -> Int32s:
        """int32[n]: codes of data[begin:end]; an empty string is -1. Codes `known` already are taken as they are."""
        code = np.full(len(begin), -1, dtype=np.int32) if known is None else known.copy()
        done = 0
        while True:
            done += code_texts(
                data, begin[done:], end[done:], code[done:], self._slots, self._hashes, self.ends, self.texts
            )
            if done == len(begin):
                return code
            self._grow(int(end[done] - begin[done]))

    def add(self, text: bytes) -> int:
        """Give the code of one text."""
        data = np.frombuffer(text, dtype=np.uint8)
        return int(self.code(data, np.zeros(1, np.int64), np.full(1, len(text), np.int64))[0])

    def text(self, code: int) -> bytes:
        """Give the text of a code."""
        begin = int(self.ends[code]) if code > 0 else 0
        return self.texts[begin : int(self.ends[code + 1])].tobytes()

    def _grow(self, wanted: int) -> None:
        n = len(self)
        if 2 * (n + 1) > len(self._slots) or n + 2 > len(self.ends):
            hashes = np.zeros(2 * len(self._hashes), dtype=np.uint64)
            hashes[:n] = self._hashes[:n]
            ends = np.zeros(2 * len(self.ends), dtype=np.int64)
            ends[: n + 1] = self.ends[: n + 1]
            self._slots = np.full(2 * len(self._slots), -1, dtype=np.int32)
            self._hashes, self.ends = hashes, ends
            fill_slots(hashes[:n], self._slots)
        used = int(self.ends[n]) if n else 0
        if used + wanted > len(self.texts):
            texts = np.zeros(2 * len(self.texts) + wanted, dtype=np.uint8)
            texts[:used] = self.texts[:used]
            self.texts = texts


def fresh_ids(ids: ByteCodes, n: int, random: Randomness, *, digits: bool) -> None:
    """Add n new random ids, all distinct from those there are: 12 decimal digits, or 16 hexadecimal ones."""
    wanted = len(ids) + n
    while len(ids) < wanted:
        words = random.words(wanted - len(ids))
        if digits:
            numbers = (words % np.uint64(9 * 10**11) + np.uint64(10**11))[:, None]
            texts = (numbers // 10 ** np.arange(11, -1, -1, dtype=np.uint64) % np.uint64(10)).astype(np.uint8) + ord(
                "0"
            )
        else:
            shifts = np.arange(60, -1, -4, dtype=np.uint64)
            texts = HEXADECIMAL[(words[:, None] >> shifts & np.uint64(15)).astype(np.int64)]
        ends = (np.arange(len(words), dtype=np.int64) + 1) * texts.shape[1]
        ids.code(texts.ravel(), ends - texts.shape[1], ends)  # one that is there already adds none
