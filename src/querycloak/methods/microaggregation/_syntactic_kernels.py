"""Kernels of the syntactic distance between users: every query against every query of the other.

The records and their sketches are described in `_syntactic_records`. Bounds on the distance of one record to all
records of another user come from the sketches; most pairs of records are never compared in full.

`Scratch` is the memory of one thread. `bits` is for one text of at most 64 letters: bit p of bits[c] = letter p is c.
It is all zero between two texts: only the letters of the text are set and set back. `row` is one row of the table of
edits.
"""

# ruff: noqa: FURB136 - max() of two numbers looks for NaN, which keeps a loop from vector instructions

from __future__ import annotations

from typing import Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel, parallel_kernel, wraps_around
from querycloak.methods.microaggregation._syntactic_records import WORD, Int32s, Int64s, Records, Sketches

__all__ = ["SCALE", "compare_users"]

SCALE: Final = 1 << 30
"""The distance 1."""
ROUNDING: Final = 4096
"""What a bound gives away to stay below the distance: its arithmetic has 24 bits, a distance has 30. A sum of five
parts of at most 1 is off by less than 5 * 2^-24 * SCALE = 320 in each of a few steps."""


class Scratch(NamedTuple):
    """Memory of one thread; `most` is the number of records of the user with the most."""

    bits: npt.NDArray[np.uint64]
    row: Int32s
    of_u: Int64s
    """int64[most], distance of each record of the first user to the nearest of the second, as far as is known"""
    of_v: Int64s
    """int64[most], the same for the second user"""
    floor: npt.NDArray[np.float32]
    """float32[most], bounds of one record of the first user to all of the second"""
    lowest: npt.NDArray[np.float32]
    """float32[most], the lowest bound of each record of the second user,"""
    lowest_at: Int64s
    """int64[most], and to which record of the first"""
    first_try: Int64s
    """int64[most], for each record of the first user the record of the second with the lowest bound"""


@lean_kernel
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


@inlined_kernel
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
    for p in range(len(b)):
        here = bits[b[p]]
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


@inlined_kernel
def _share(part: int, whole: int) -> int:
    """Return part / whole in units of 1 / SCALE; 0 where there is nothing."""
    return (SCALE * part + whole // 2) // whole if whole > 0 else 0


@inlined_kernel
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


@inlined_kernel
@wraps_around
def _ones(word: np.uint64) -> int:
    """Count the bits that are set, in parallel within the word; compilers know this form and use one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean_kernel
def _floors(sketches: Sketches, i: int, first: int, last: int, out: npt.NDArray[np.float32]) -> None:
    """Bound the distances of record i to the records first .. last - 1 from below: float32[last - first].

    - An edit changes one element of each text, so that there are at least as many edits as elements of one text that
      the other lacks. Each bit that only one text has stands for such an element, whatever shares the bit. Words
      without a common bit are all different, and the edit distance of words is 1.
    - Domains of different top labels are 1 apart; where only the second labels differ, all but one label does.
    - Times as they are.

    Three short loops, because the compiler turns each into vector instructions.
    """
    one, zero = np.float32(1), np.float32(0)
    parts = 3 + (len(sketches.time) > 0) + (len(sketches.top) > 0)
    letters, words = sketches.letters[first:last], sketches.words[first:last]
    low_bits, high_bits = sketches.letter_bits[0, first:last], sketches.letter_bits[1, first:last]
    word_bits = sketches.word_bits[first:last]
    letter_ones, word_ones = sketches.letter_ones[first:last], sketches.word_ones[first:last]
    a_letters, a_words = sketches.letters[i], sketches.words[i]
    a_low, a_high, a_word_bits = sketches.letter_bits[0, i], sketches.letter_bits[1, i], sketches.word_bits[i]
    a_letter_ones, a_word_ones = sketches.letter_ones[i], sketches.word_ones[i]
    for j in range(len(out)):
        long = a_letters if a_letters > letters[j] else letters[j]
        short = letters[j] if a_letters > letters[j] else a_letters
        more = a_letter_ones if a_letter_ones > letter_ones[j] else letter_ones[j]
        lacking = np.float32(more - _ones(a_low & low_bits[j]) - _ones(a_high & high_bits[j]))
        longer = long - short
        edits = lacking if lacking > longer else longer
        long_words = a_words if a_words > words[j] else words[j]
        short_words = words[j] if a_words > words[j] else a_words
        common = a_word_bits & word_bits[j]
        more_words = a_word_ones if a_word_ones > word_ones[j] else word_ones[j]
        lacking_words = np.float32(more_words - _ones(common))
        wordier = long_words - short_words
        changed = lacking_words if lacking_words > wordier else wordier
        changed = changed if common else long_words
        out[j] = (longer + edits) / (long if long > zero else one) + changed / (
            long_words if long_words > zero else one
        )
    if len(sketches.time):
        time, a_time = sketches.time[first:last], sketches.time[i]
        for j in range(len(out)):
            apart = abs(a_time - time[j])
            out[j] += apart if apart == apart else one  # noqa: PLR0124 - NaN: a time is unknown
    if len(sketches.top):
        top, a_top = sketches.top[first:last], sketches.top[i]
        second, a_second = sketches.second[first:last], sketches.second[i]
        label, a_label = sketches.label_share[first:last], sketches.label_share[i]
        for j in range(len(out)):
            same = label[j] if label[j] < a_label else a_label
            second_apart = one - same if a_second != second[j] else zero
            out[j] += one if a_top != top[j] else second_apart
    scale = np.float32(SCALE / parts)
    for j in range(len(out)):
        out[j] = out[j] * scale - np.float32(ROUNDING)


@lean_kernel
def _pack(letters: Int32s, bits: npt.NDArray[np.uint64]) -> bool:
    """Set the bits of a text for `_edits_in_word`; False where it has none or too many letters."""
    if not 0 < len(letters) <= WORD:
        return False
    for p in range(len(letters)):
        bits[letters[p]] |= np.uint64(1) << np.uint64(p)
    return True


@lean_kernel
def _unpack(letters: Int32s, bits: npt.NDArray[np.uint64]) -> None:
    for p in range(len(letters)):
        bits[letters[p]] = np.uint64(0)


@inlined_kernel
def _apart(
    records: Records, sketches: Sketches, i: int, j: int, packed: bool, bits: npt.NDArray[np.uint64], row: Int32s
) -> int:
    """Return the distance of two records; `packed` = `bits` holds the letters of record i."""
    text, other = records.text[i], records.text[j]
    apart, parts = _known_apart(records, i, j)
    if text == other:
        return apart // (parts + 3)
    a = records.letter[records.letter_start[text] : records.letter_start[text + 1]]
    b = records.letter[records.letter_start[other] : records.letter_start[other + 1]]
    a_words = records.word[records.word_start[text] : records.word_start[text + 1]]
    b_words = records.word[records.word_start[other] : records.word_start[other + 1]]
    long, long_words = max(len(a), len(b)), max(len(a_words), len(b_words))
    edits = _edits_in_word(len(a), bits, b) if packed else _edits(a, b, row)
    changed = long_words  # words without a common bit have no word in common
    if sketches.word_bits[i] & sketches.word_bits[j]:
        changed = _edits(a_words, b_words, row)
    strings = _share(abs(len(a) - len(b)), long) + _share(edits, long)
    return (apart + strings + _share(changed, long_words)) // (parts + 3)


@lean_kernel
def _compare(records: Records, sketches: Sketches, u: int, v: int, scratch: Scratch) -> int:
    """Return the distance of two users: each record to the nearest of the other user, both ways, weighted by count.

    First each record is compared with the one that has the lowest bound, which is often the nearest or close to it.
    After that few pairs have a bound below what is known for one of their records, and only those are compared.
    """
    letter_start, letters = records.letter_start, records.letter
    first_u, last_u = records.start[u], records.start[u + 1]
    first_v, last_v = records.start[v], records.start[v + 1]
    bits, row = scratch.bits, scratch.row
    of_u, of_v = scratch.of_u[: last_u - first_u], scratch.of_v[: last_v - first_v]  # the nearest so far
    floor, lowest, lowest_at = (
        scratch.floor[: len(of_v)],
        scratch.lowest[: len(of_v)],
        scratch.lowest_at[: len(of_v)],
    )
    of_u[:] = SCALE
    of_v[:] = SCALE
    lowest[:] = np.float32(2 * SCALE)
    for i in range(len(of_u)):
        _floors(sketches, first_u + i, first_v, last_v, floor)
        at = 0
        for j in range(len(floor)):
            if floor[j] < floor[at]:
                at = j
            if floor[j] < lowest[j]:
                lowest[j] = floor[j]
                lowest_at[j] = i
        scratch.first_try[i] = at
    for turn in range(2):
        for i in range(len(of_u)):
            if turn == 1:
                _floors(sketches, first_u + i, first_v, last_v, floor)
            text = records.text[first_u + i]
            a = letters[letter_start[text] : letter_start[text + 1]]
            packed = _pack(a, bits)
            for j in range(len(of_v)):
                if turn == 0:
                    wanted = scratch.first_try[i] == j or lowest_at[j] == i
                else:
                    wanted = floor[j] < of_u[i] or floor[j] < of_v[j]
                if wanted:
                    apart = _apart(records, sketches, first_u + i, first_v + j, packed, bits, row)
                    of_u[i] = min(of_u[i], apart)
                    of_v[j] = min(of_v[j], apart)
            _unpack(a, bits)
    total = np.int64(0)
    weight = np.int64(0)
    for i in range(len(of_u)):
        total += records.times[first_u + i] * of_u[i]
        weight += records.times[first_u + i]
    for j in range(len(of_v)):
        total += records.times[first_v + j] * of_v[j]
        weight += records.times[first_v + j]
    return int((total + weight // 2) // weight)


@parallel_kernel
def compare_users(
    records: Records, sketches: Sketches, one: Int32s, other: Int32s, threads: int, alphabet: int, longest: int
) -> Int32s:
    """Return the distances of pairs of users: int32[pairs], in units of 1 / SCALE; pair p is of thread p % threads."""
    out = np.zeros(len(one), dtype=np.int32)
    most = np.diff(records.start).max()
    for thread in numba.prange(threads):
        scratch = Scratch(
            np.zeros(alphabet, np.uint64),
            np.zeros(longest + 1, np.int32),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.zeros(most, np.float32),
            np.zeros(most, np.float32),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
        )
        for p in range(thread, len(one), threads):
            out[p] = _compare(records, sketches, one[p], other[p], scratch)
    return out
