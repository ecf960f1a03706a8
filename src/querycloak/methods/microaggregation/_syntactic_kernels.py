"""Kernels of the syntactic distance between users: every query against every query of the other.

The memory. `Records` is made by the caller and read only; a record is one distinct query of one user:

    start[u] ──> text[i], times[i], time[i], domain[i]      the records of user u
                   │                            └──> label_start ──> label     com, example, www
                   ├──> letter_start ──> letter
                   └──> word_start ──> word

Scratch, one per thread:

    bits    uint64[alphabet], for one text of at most 64 letters: bit p of bits[c] = letter p is c. All zero between two
            texts: only the letters of the text are set and set back
    row     int32[longest + 1], one row of the table of edits
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel, wraps_around

__all__ = ["SCALE", "Records", "syntactic_matrix"]

SCALE: Final = 1 << 30
"""The distance 1."""
WORD: Final = 64
"""bits of a machine word"""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Records(NamedTuple):
    """What users asked: user u has the records start[u] .. start[u + 1] - 1, one per distinct query."""

    start: Int64s
    text: Int32s
    """int32[m], code of the query"""
    times: Int64s
    """int64[m], how often the user asked it"""
    time: npt.NDArray[np.float64]
    """float64[m], mean time in 0 .. 1 over the log, NaN = unknown; empty = the log has no times"""
    domain: Int32s
    """int32[m], clicked domain, -1 = none; empty = the log has no clicks"""
    letter_start: Int64s
    letter: Int32s
    """letters of text t: letter_start[t] .. letter_start[t + 1] - 1"""
    word_start: Int64s
    word: Int32s
    """words of each text"""
    label_start: Int64s
    label: Int32s
    """labels of each domain, the last label first"""


@kernel
def _edits(a: Int32s, b: Int32s, row: Int32s) -> int:
    """Count the edits from a to b (Levenshtein) with one row of the table."""
    for j in range(len(b) + 1):
        row[j] = j
    for i in range(len(a)):
        corner = row[0]  # the cell above and to the left, which the row has overwritten
        row[0] = i + 1
        for j in range(len(b)):
            best = min(row[j] + 1, row[j + 1] + 1, corner + (0 if a[i] == b[j] else 1))
            corner = row[j + 1]
            row[j + 1] = best
    return int(row[len(b)])


@kernel
@wraps_around
def _edits_in_word(size: int, bits: npt.NDArray[np.uint64], b: Int32s) -> int:
    """Count the edits from a text of 1 to 64 letters to b: Myers 1999, one machine word per letter of b.

    The table of edits is kept column by column as differences of neighbours: bit p of `up` = the cell below p is one
    more, of `down` = one less; `right` and `left` are the same between this column and the last. The addition carries a
    run of equal letters through all cells at once, and may wrap around.
    """
    one = np.uint64(1)
    up, down = ~np.uint64(0), np.uint64(0)
    last = one << np.uint64(size - 1)
    edits = size
    for letter in b:
        here = bits[letter]
        same = here | down
        carry = (((here & up) + up) ^ up) | here
        right = down | ~(carry | up)
        left = up & carry
        if right & last:
            edits += 1
        elif left & last:
            edits -= 1
        right = (right << one) | one
        left = left << one
        up = left | ~(same | right)
        down = right & same
    return edits


@kernel
def _share(part: int, whole: int) -> int:
    """Return part / whole in units of 1 / SCALE; 0 where there is nothing."""
    return (SCALE * part + whole // 2) // whole if whole > 0 else 0


@kernel
def _known_apart(records: Records, i: int, j: int) -> tuple[int, int]:
    """Return the sum of the time and domain distances, and how many of the two the log has."""
    total, parts = 0, 0
    if len(records.time):
        parts += 1
        apart = abs(records.time[i] - records.time[j])
        total += SCALE if np.isnan(apart) else int(SCALE * apart + 0.5)
    if len(records.domain):
        parts += 1
        a, b = records.domain[i], records.domain[j]
        if (a < 0) != (b < 0):
            total += SCALE
        elif a >= 0 and a != b:
            first, labels = records.label_start, records.label
            longest = max(first[a + 1] - first[a], first[b + 1] - first[b])
            shortest = min(first[a + 1] - first[a], first[b + 1] - first[b])
            same = 0
            while same < shortest and labels[first[a] + same] == labels[first[b] + same]:
                same += 1
            total += _share(longest - same, longest)
    return total, parts


@kernel
def _compare(records: Records, u: int, v: int, bits: npt.NDArray[np.uint64], row: Int32s) -> int:
    """Return the distance of two users: each record to the nearest of the other user, both ways, weighted by count.

    A pair of records is skipped where a lower bound shows that it cannot be the nearest of either.
    """
    letter_start, letters = records.letter_start, records.letter
    word_start, words = records.word_start, records.word
    first_u, last_u = records.start[u], records.start[u + 1]
    first_v, last_v = records.start[v], records.start[v + 1]
    nearest = np.full(last_v - first_v, np.int64(SCALE))
    total = np.int64(0)
    weight = np.int64(0)
    for i in range(first_u, last_u):
        text = records.text[i]
        a = letters[letter_start[text] : letter_start[text + 1]]
        a_words = words[word_start[text] : word_start[text + 1]]
        packed = 0 < len(a) <= WORD
        if packed:
            for p in range(len(a)):
                bits[a[p]] |= np.uint64(1) << np.uint64(p)
        best = SCALE
        for j in range(first_v, last_v):
            other = records.text[j]
            size = letter_start[other + 1] - letter_start[other]
            size_words = word_start[other + 1] - word_start[other]
            long, long_words = max(len(a), size), max(len(a_words), size_words)
            apart, parts = _known_apart(records, i, j)
            longer = _share(abs(len(a) - size), long)
            wordier = _share(abs(len(a_words) - size_words), long_words)
            least = (apart + 2 * longer + wordier) // (parts + 3)  # edits are never fewer than the difference in length
            if least >= best and least >= nearest[j - first_v]:
                continue
            string, term = 0, 0
            if text != other:
                b = letters[letter_start[other] : letter_start[other + 1]]
                edits = _edits_in_word(len(a), bits, b) if packed else _edits(a, b, row)
                string = _share(edits, long)
                term = _share(_edits(a_words, words[word_start[other] : word_start[other + 1]], row), long_words)
            mean = (apart + longer + string + term) // (parts + 3)
            best = min(best, mean)
            nearest[j - first_v] = min(nearest[j - first_v], mean)
        if packed:
            for p in range(len(a)):
                bits[a[p]] = np.uint64(0)
        total += records.times[i] * best
        weight += records.times[i]
    for j in range(first_v, last_v):
        total += records.times[j] * nearest[j - first_v]
        weight += records.times[j]
    return int((total + weight // 2) // weight)


@parallel_kernel
def syntactic_matrix(records: Records, alphabet: int, longest: int) -> npt.NDArray[np.int32]:
    """Return the distances of all users: int32[n, n], in units of 1 / SCALE."""
    n = len(records.start) - 1
    out = np.zeros((n, n), dtype=np.int32)
    for i in numba.prange(n):
        u = i // 2 if i % 2 == 0 else n - 1 - i // 2  # long rows and short ones in turn: threads finish together
        bits = np.zeros(alphabet, dtype=np.uint64)
        row = np.zeros(longest + 1, dtype=np.int32)
        for v in range(u + 1, n):
            apart = _compare(records, u, v, bits, row)
            out[u, v] = apart
            out[v, u] = apart
    return out
