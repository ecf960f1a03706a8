r"""Which records are a shard's own, by the stretch of bytes that tells the top level of their category.

.. code-block:: text

    data    ...  4 4 1 \t r o w i n g \t T o p / S p o r t s / R o w i n g \n
    spans                                ^ category, begin       end ^
    stretch                              [                  )              "Top/Sports" stands for "Sports"

    rows, spans, how   of `logs._records_kernels`; the category is column 2
    known              the stretches seen so far, with what is to be done, in slots by their hash:
        keys   uint64[2^b, 3]  the bytes of a stretch, zeros after it; the slot is free where the first word is 0
        own    uint8[2^b]      OWN or FOREIGN
    flags  uint8[n]         out: OWN, FOREIGN or ODD = the caller must look at the whole value

The stretch ends before the separator after the first level, or after the second where the first is the root, `Top`. It
is read eight bytes at a time. The caller finds the label of each distinct stretch once, by the rules for whole paths
(`logs.category_paths`). These know all blanks of Unicode; here whatever is not plain is odd: escapes, blanks, bytes
outside ASCII, an empty level, a stretch of more than 24 bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

STATUS, GOOD = 2, 0  # a column of rows, and a status, as in logs._records_kernels
CATEGORY = 2  # column of the spans, as there
ESCAPED = 3  # how a value is written, as there
FOREIGN, OWN, ODD = range(3)
WORDS = 3
LONGEST = 8 * WORDS  # bytes of a stretch
ROOT = 4  # bytes of "Top/"
ONES, SEVENS, HIGHS = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
TOP, LOWER, LETTERS = np.uint64(0x706F74), np.uint64(0x202020), np.uint64(0xFFFFFF)  # "top", the first byte lowest
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Known(NamedTuple):
    """The stretches seen so far: see the drawing above."""

    keys: Words
    own: Bytes


@inlined_kernel
def _word(data: Bytes, at: int) -> np.uint64:
    """Return eight bytes as one number; compiled to one load."""
    word, begin = np.uint64(0), np.uint64(at)
    for i in range(8):
        word |= np.uint64(data[begin + np.uint64(i)]) << np.uint64(8 * i)
    return word


@inlined_kernel
@wraps_around
def _marks(word: np.uint64, byte: int) -> np.uint64:
    """Return the highest bit of each byte that is this one; exact for every byte."""
    other = word ^ ONES * np.uint64(byte)
    return ~((other & SEVENS) + SEVENS | other | SEVENS)


@inlined_kernel
@wraps_around
def _first(marks: np.uint64) -> int:
    """Return the number of the lowest byte that is marked."""
    below = (marks & (~marks + np.uint64(1))) - np.uint64(1)
    return int((below & ONES) * ONES >> np.uint64(56)) - 1


@inlined_kernel
@wraps_around
def _is_plain(word: np.uint64, mask: np.uint64) -> bool:
    """Tell whether the bytes of a mask are ASCII, and neither blanks nor control characters."""
    filled = word | ~mask & SEVENS
    return bool((filled | filled - ONES * np.uint64(33)) & HIGHS == 0)


@inlined_kernel
@wraps_around
def _slot(a: np.uint64, b: np.uint64, c: np.uint64) -> int:
    """Return the hash of three words."""
    h = (a ^ a >> np.uint64(29)) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ b ^ h >> np.uint64(32)) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ c ^ h >> np.uint64(32)) * np.uint64(0x94D049BB133111EB)
    return int(h >> np.uint64(40))


@inlined_kernel
def _stretch(data: Bytes, begin: int, size: int, separator: int, key: Words) -> int:
    """Put the stretch of a category of so many bytes into `key`; return its length, 0 = it is odd."""
    root = 0
    for j in range(WORDS):
        word = _word(data, begin + 8 * j)
        left = size - 8 * j
        mask = ALL if left >= 8 else (np.uint64(1) << np.uint64(8 * left)) - np.uint64(1)
        marks = _marks(word, separator) & mask
        if j == 0 and (word | LOWER) & LETTERS == TOP and marks & np.uint64(0x80000000) != 0:
            root = ROOT
            marks &= ~np.uint64(0xFFFFFFFF)
        if marks != 0:
            left = _first(marks)
            mask = (np.uint64(1) << np.uint64(8 * left)) - np.uint64(1)
        if not _is_plain(word, mask):
            return 0
        key[j] = word & mask
        if marks != 0 or left <= 8:
            for i in range(j + 1, WORDS):
                key[i] = np.uint64(0)
            length = 8 * j + left
            return length if length > root else 0
    return 0


@kernel
def find_own(
    data: Bytes, rows: Int32s, spans: Int32s, how: Bytes, separator: int, known: Known, first: int, flags: Bytes
) -> tuple[int, int]:
    """Set the flags of good records from `first` on; return row and length of a stretch that is not known, or (n, 0).

    `separator` is one byte, and no blank. Records that are not good, or have no category, are left as they are.
    """
    keys, own = known
    mask = len(keys) - 1
    key = np.zeros(WORDS, dtype=np.uint64)
    for row in range(first, len(rows)):
        begin, end = spans[row, 2 * CATEGORY], spans[row, 2 * CATEGORY + 1]
        if rows[row, STATUS] != GOOD or begin == end:
            continue
        length = 0
        if how[row, CATEGORY] != ESCAPED and begin + LONGEST <= len(data):
            length = _stretch(data, begin, end - begin, separator, key)
        if length == 0:
            flags[row] = ODD
            continue
        slot = _slot(key[0], key[1], key[2]) & mask
        while keys[slot, 0] != key[0] or keys[slot, 1] != key[1] or keys[slot, 2] != key[2]:
            if keys[slot, 0] == 0:
                return row, length
            slot = (slot + 1) & mask
        flags[row] = own[slot]
    return len(rows), 0


@kernel
def add_known(known: Known, key: Words, own: int) -> None:
    """Add a stretch; there are more slots than stretches."""
    slot = _slot(key[0], key[1], key[2]) & (len(known.keys) - 1)
    while known.keys[slot, 0] != 0:
        slot = (slot + 1) & (len(known.keys) - 1)
    for i in range(WORDS):
        known.keys[slot, i] = key[i]
    known.own[slot] = own


@kernel
def keep_rows(flags: Bytes, rows: Int32s, spans: Int32s, how: Bytes) -> int:
    """Move the records whose flag is OWN to the front, in their order; return how many there are."""
    n = 0
    for row in range(len(flags)):
        if flags[row] == OWN:
            if n != row:
                for i in range(rows.shape[1]):
                    rows[n, i] = rows[row, i]
                for i in range(spans.shape[1]):
                    spans[n, i] = spans[row, i]
                for i in range(how.shape[1]):
                    how[n, i] = how[row, i]
            n += 1
    return n
