"""Kernels that sketch records: few bits of each, from which a bound on the distance of two follows."""

from __future__ import annotations

import numpy as np

from querycloak.arrays.jit import kernel, wraps_around
from querycloak.methods.microaggregation._syntactic_records import TURNS, WORD, Int32s, Int64s, Records, Sketches

__all__ = ["count_turns", "sketch"]


@kernel
def _turn(codes: Int32s, p: int) -> int:
    """Count how many times the p-th code has come before, TURNS - 1 at most."""
    turn = 0
    for q in range(p):
        turn += codes[q] == codes[p]
    return min(turn, TURNS - 1)


@kernel
def count_turns(records: Records, alphabet: int) -> Int64s:
    """Count how often each letter comes for the first time in a text, the second, …: int64[alphabet * TURNS]."""
    count = np.zeros(alphabet * TURNS, np.int64)
    for text in range(len(records.letter_start) - 1):
        letters = records.letter[records.letter_start[text] : records.letter_start[text + 1]]
        for p in range(len(letters)):
            count[letters[p] * TURNS + _turn(letters, p)] += 1
    return count


@kernel
@wraps_around
def _word_bits(words: Int32s) -> np.uint64:
    """Return one bit of 64 for each word, by any fixed spread."""
    out = np.uint64(0)
    for p in range(len(words)):
        out |= np.uint64(1) << ((np.uint64(words[p]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58))
    return out


@kernel
def sketch(records: Records, slot: Int64s) -> Sketches:
    """Sketch each record, so that a bound on the distance of two takes a few instructions; ones are not yet counted.

    `slot` is the bit of each letter and turn: int64[alphabet * TURNS], 0 .. 127.
    """
    m = len(records.text)
    out = Sketches(
        np.zeros(m, np.float32),
        np.zeros(m, np.float32),
        np.zeros((2, m), np.uint64),
        np.zeros(m, np.uint64),
        np.zeros(m, np.int32),
        np.zeros(m, np.int32),
        np.zeros(len(records.domain), np.int32),
        np.zeros(len(records.domain), np.int32),
        np.ones(len(records.domain), np.float32),
        np.zeros(len(records.time), np.float32),
    )
    for i in range(m):
        text = records.text[i]
        letters = records.letter[records.letter_start[text] : records.letter_start[text + 1]]
        words = records.word[records.word_start[text] : records.word_start[text + 1]]
        out.letters[i], out.words[i] = len(letters), len(words)
        for p in range(len(letters)):
            bit = slot[letters[p] * TURNS + _turn(letters, p)]
            out.letter_bits[bit // WORD, i] |= np.uint64(1) << np.uint64(bit % WORD)
        out.word_bits[i] = _word_bits(words)
    for i in range(len(records.time)):
        out.time[i] = records.time[i]
    for i in range(len(records.domain)):
        domain = records.domain[i]
        out.top[i], out.second[i] = -1, -1
        if domain >= 0:
            first, last = records.label_start[domain], records.label_start[domain + 1]
            if last > first:
                out.top[i] = records.label[first]
                out.label_share[i] = 1 / (last - first)
            if last > first + 1:
                out.second[i] = records.label[first + 1]
    return out
