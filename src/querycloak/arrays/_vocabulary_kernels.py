"""Byte strings to codes: a hash table with open addressing, whose slots tell most strings apart without their text.

.. code-block:: text

    slots  uint64[2^k, 2]   HASH  TAG        TAG = 0: the slot is free
           slot 5:          h(tea) | (code + 1) << 8 | length, at most 255
    ends   int64            [0]: number of codes n;  [c + 1]: where the text of code c ends in `texts`
    texts  uint8            the texts in the order of their codes, without anything between: t e a c u p ...

At most five of eight slots are taken, so that a search is short. A text is looked for from the slot of its hash on,
slot after slot, until it is found or a slot is free. The caller owns the arrays and makes larger ones where there is no
room; a text that is there never moves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, instruction, kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# columns of slots
HASH, TAG = 0, 1
SHORT = 8  # a text of fewer bytes is known by its hash alone: for these, hashing is one to one
FACTOR = np.uint64(0x9E3779B97F4A7C15)
FULL = 255  # a length that means this or more
AHEAD = 32  # texts whose slots are asked for before they are needed: a power of 2


@inlined_kernel
def _word(data: Bytes, at: int) -> np.uint64:
    """Return eight bytes as one number; compiled to one load."""
    word, begin = np.uint64(0), np.uint64(at)
    for i in range(8):
        word |= np.uint64(data[begin + np.uint64(i)]) << np.uint64(8 * i)
    return word


@inlined_kernel
@wraps_around
def _mix(word: np.uint64) -> np.uint64:
    """Scatter the bits, one to one (Stafford 2011, variant 13)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inlined_kernel
@wraps_around
def _hash(data: Bytes, begin: int, end: int, key: np.uint64) -> np.uint64:
    """Hash a text; without the key nobody can write texts that all fall into one slot."""
    length = end - begin
    if length < SHORT:
        word = np.uint64(length) << np.uint64(56)
        if begin + SHORT <= len(data):
            word |= _word(data, begin) & ((np.uint64(1) << np.uint64(8 * length)) - np.uint64(1))
        else:
            for i in range(length):
                word |= np.uint64(data[begin + i]) << np.uint64(8 * i)
        return _mix(word ^ key)
    h, at = np.uint64(length) * FACTOR ^ key, begin
    while at + 8 < end:
        h = (h ^ _word(data, at)) * FACTOR
        h ^= h >> np.uint64(32)
        at += 8
    return _mix(h ^ _word(data, end - 8))


@inlined_kernel
def _equal(data: Bytes, begin: int, end: int, texts: Bytes, start: int, stop: int) -> bool:
    """Compare two texts of eight bytes or more, eight at a time, the last eight as they come."""
    if stop - start != end - begin:
        return False
    different = _word(data, end - 8) ^ _word(texts, stop - 8)
    while begin + 8 < end:
        different |= _word(data, begin) ^ _word(texts, start)
        begin += 8
        start += 8
    return bool(different == 0)


@instruction("fetch")
def _fetch(array: Words, row: int) -> None:
    """Ask the memory for a row, and do not wait for it."""


@inlined_kernel
def _hash_ahead(source: tuple[Bytes, Int32s, int], row: int, key: np.uint64, slots: Words) -> np.uint64:
    """Hash the text of a row, and ask for its slot."""
    data, spans, column = source
    h = _hash(data, int(spans[row, column]), int(spans[row, column + 1]), key)
    _fetch(slots, int(np.int64(h) & (len(slots) - 1)))
    return h


@kernel
def code_texts(
    source: tuple[Bytes, Int32s, int],
    rows: Int32s,
    code: Int32s,
    key: np.uint64,
    slots: Words,
    ends: Int64s,
    texts: Bytes,
) -> int:
    """Code byte strings by first appearance; an empty one is -1. Stops where there is no room, and returns how far.

    source = data, spans int32[n, *], column: begin and end of each text, in that column and the next; `rows` = which of
    them. code int32[n]: those >= 0 are left alone. slots uint64[power of 2, 2], see above; ends int64 = number of
    codes, then where each text ends in `texts`.
    """
    data, spans, column = source
    mask = len(slots) - 1
    hashes = np.empty(AHEAD, np.uint64)
    for r in range(min(AHEAD, len(rows))):
        hashes[r] = _hash_ahead(source, rows[r], key, slots)
    for r in range(len(rows)):
        i = rows[r]
        begin, end = int(spans[i, column]), int(spans[i, column + 1])
        length = end - begin
        h = hashes[r & (AHEAD - 1)]
        if r + AHEAD < len(rows):
            hashes[r & (AHEAD - 1)] = _hash_ahead(source, rows[r + AHEAD], key, slots)
        if code[i] >= 0 or length <= 0:
            continue
        size = np.uint64(min(FULL, length))
        slot = np.int64(h) & mask
        while True:
            tag = slots[slot, TAG]
            if tag == 0:
                known = ends[0]
                last = ends[known] if known > 0 else 0
                if 8 * (known + 1) > 5 * len(slots) or known + 2 > len(ends) or last + length > len(texts):
                    return r
                for t in range(np.uint64(length)):  # unsigned: compiled to a copy of many bytes at once
                    texts[np.uint64(last) + t] = data[np.uint64(begin) + t]
                slots[slot, HASH], slots[slot, TAG] = h, np.uint64(known + 1) << np.uint64(8) | size
                ends[0], ends[known + 1] = known + 1, last + length
                code[i] = known
                break
            if slots[slot, HASH] == h and tag & np.uint64(255) == size:
                c = np.int64(tag >> np.uint64(8)) - 1
                if length < SHORT or _equal(data, begin, end, texts, ends[c] if c > 0 else 0, ends[c + 1]):
                    code[i] = c
                    break
            slot = (slot + 1) & mask
    return len(rows)


@kernel
def find_texts(
    source: tuple[Bytes, Int32s, int], code: Int32s, key: np.uint64, slots: Words, ends: Int64s, texts: Bytes
) -> None:
    """Look byte strings up, and add none: sets code int32[n] of those that are there. Arguments as in `code_texts`."""
    data, spans, column = source
    mask = len(slots) - 1
    for i in range(len(spans)):
        begin, end = int(spans[i, column]), int(spans[i, column + 1])
        length = end - begin
        if length <= 0:
            continue
        h = _hash(data, begin, end, key)
        size = np.uint64(min(FULL, length))
        slot = np.int64(h) & mask
        while slots[slot, TAG] != 0:
            tag = slots[slot, TAG]
            if slots[slot, HASH] == h and tag & np.uint64(255) == size:
                c = np.int64(tag >> np.uint64(8)) - 1
                if length < SHORT or _equal(data, begin, end, texts, ends[c] if c > 0 else 0, ends[c + 1]):
                    code[i] = c
                    break
            slot = (slot + 1) & mask


@kernel
def move_slots(old: Words, slots: Words) -> None:
    """Put what is in a table into a larger one, which is empty."""
    mask = len(slots) - 1
    for i in range(len(old)):
        if old[i, TAG] == 0:
            continue
        slot = np.int64(old[i, HASH]) & mask
        while slots[slot, TAG] != 0:
            slot = (slot + 1) & mask
        slots[slot, HASH], slots[slot, TAG] = old[i, HASH], old[i, TAG]


@kernel
def write_digits(numbers: Words, base: int, texts: Bytes) -> None:
    """Write numbers into texts uint8[n, width] in a base to 16, the highest digit first."""
    width = texts.shape[1]
    for i in range(len(numbers)):
        rest = numbers[i]
        for at in range(width - 1, -1, -1):
            if base == 10:  # a divisor that is known becomes a product
                digit, rest = rest % np.uint64(10), rest // np.uint64(10)
            else:
                digit, rest = rest % np.uint64(base), rest // np.uint64(base)
            texts[i, at] = digit + np.uint64(48 if digit < 10 else 87)
