r"""Records of plain tables in one pass: lines are split, and users and categories coded, while their bytes are at hand.

Plain is a batch of which every record is good: no quotes that mean something, the right number of fields, a user
without blanks at its ends, a query, a path without empty levels. The general way (`logs._records_kernels`,
`arrays._vocabulary_kernels`) takes a pass for each of these steps, and finds the same. At what is not plain the kernel
stops, and the caller goes the general way with the whole batch: what was coded until then has the codes that it would
have had.

.. code-block:: text

    data     4 4 1 7 7 4 9 \t g r e e n   t e a \t T o p / F o o d \n 4 4 1 ...
    bounds  ^             ^                   ^                   ^            of one line: before its first field,
            [0]           [1]                 [2]                 [3]          and the separator after each
    rows     int64[AHEAD, 6]   lines that are split and not yet looked up: BEGIN and END and HASH of user and category
    cuts     int32[n, 5]       out, as in `_join_kernels`
    codes    int32[n, 2]       out: code of the user; of the category, -1 = it is empty

Lines are split AHEAD at a time, and the slots of their texts asked for; then they are looked up. Vocabularies are those
of `arrays._vocabulary_kernels`, whose drawing tells what is in `slots`, `ends` and `texts`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, instruction, lean_kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

NEWLINE, RETURN, SPACE, TAB = 10, 13, 32, 9
BLOCK = 64  # bytes that are looked at at once
AHEAD = 64  # lines that are split before they are looked up
USER_BEGIN, USER_END, USER_HASH, CATEGORY_BEGIN, CATEGORY_END, CATEGORY_HASH, ROW_FIELDS = range(7)
# columns of cuts, as in _join_kernels
LINE_BEGIN, CUT_USER_BEGIN, CUT_USER_END, LINE_END, BARE = range(5)
USER, CATEGORY = range(2)  # columns of codes
# why the kernel stopped
DONE, NOT_PLAIN, NO_ROOM_FOR_USER, NO_ROOM_FOR_CATEGORY = range(4)
# of a vocabulary, as in arrays/_vocabulary_kernels
HASH, TAG, SHORT, FULL = 0, 1, 8, 255
FACTOR = np.uint64(0x9E3779B97F4A7C15)
FULL_VOCABULARY, EMPTY = -2, -1


class Shape(NamedTuple):
    """How lines are to be split."""

    separator: int
    odd: int
    """a byte that is looked at apart: the carriage return in CSV, else 0"""
    fields: int
    user: int
    """number of the field of the user; so for the others"""
    query: int
    category: int
    levels: int
    """the byte that separates the levels of a category; 0 = it is not one plain byte"""
    header: Bytes
    """the header line without its end; a line equal to it is no record"""
    longest: int
    """bytes of the longest line"""


class Codes(NamedTuple):
    """A vocabulary."""

    key: np.uint64
    slots: Words
    ends: Int64s
    texts: Bytes


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
    """Hash a text, as arrays/_vocabulary_kernels does."""
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
def _fetch(array: npt.NDArray[np.generic], row: int) -> None:
    """Ask the memory for a row, and do not wait for it."""


@instruction("marks")
def _marks(data: Bytes, at: int, a: int, b: int, c: int, d: int) -> np.uint64:
    """Return 64 bits: which of the 64 bytes from `at` on are one of four."""
    block = data[at : at + BLOCK]
    found = (block == a) | (block == b) | (block == c) | (block == d)
    return np.uint64(sum(1 << i for i in np.flatnonzero(found).tolist()))


@instruction("lowest")
def _lowest(word: np.uint64) -> int:
    """Return the number of the lowest bit that is set; there must be one."""
    number = int(word)
    return (number & -number).bit_length() - 1


@inlined_kernel
def _code(data: Bytes, begin: int, end: int, h: np.uint64, codes: Codes) -> int:
    """Return the code of a text that is not empty; a new one is added, or FULL_VOCABULARY returned."""
    slots, ends, texts = codes.slots, codes.ends, codes.texts
    length, mask = end - begin, len(slots) - 1
    size = np.uint64(min(FULL, length))
    slot = np.int64(h) & mask
    while True:
        tag = slots[slot, TAG]
        if tag == 0:
            known = ends[0]
            last = ends[known] if known > 0 else 0
            if 8 * (known + 1) > 5 * len(slots) or known + 2 > len(ends) or last + length > len(texts):
                return FULL_VOCABULARY
            for t in range(np.uint64(length)):  # unsigned: compiled to a copy of many bytes at once
                texts[np.uint64(last) + t] = data[np.uint64(begin) + t]
            slots[slot, HASH], slots[slot, TAG] = h, np.uint64(known + 1) << np.uint64(8) | size
            ends[0], ends[known + 1] = known + 1, last + length
            return int(known)
        if slots[slot, HASH] == h and tag & np.uint64(255) == size:
            c = np.int64(tag >> np.uint64(8)) - 1
            if length < SHORT or _equal(data, begin, end, texts, ends[c] if c > 0 else 0, ends[c + 1]):
                return int(c)
        slot = (slot + 1) & mask


@inlined_kernel
def _is_sound(data: Bytes, shape: Shape, bounds: Int64s, ascii_only: bool) -> bool:
    """Tell whether a line with the right number of fields is a good record with a plain user."""
    at, end = bounds[0] + 1, bounds[shape.fields]
    begin, stop = bounds[shape.user] + 1, bounds[shape.user + 1]
    if begin == stop or data[begin] <= SPACE or data[stop - 1] <= SPACE:
        return False
    if not ascii_only:
        for i in range(begin, stop):
            if data[i] >= 128:
                return False
    begin, stop = bounds[shape.query] + 1, bounds[shape.query + 1]
    while begin < stop and (data[begin] == SPACE or data[begin] == TAB):
        begin += 1
    if begin == stop:
        return False
    if end - at != len(shape.header):
        return True
    for i in range(end - at):  # noqa: SIM110 - compiled
        if data[at + i] != shape.header[i]:
            return True
    return False  # the header once more


@lean_kernel
def _is_path(data: Bytes, begin: int, end: int, separator: int) -> bool:
    """Tell whether a category is a path without empty levels, for sure: blanks and bytes outside ASCII need a look."""
    while begin < end and data[begin] == separator:
        begin += 1
    while begin < end and data[end - 1] == separator:
        end -= 1
    for i in range(begin, end):
        if data[i] <= SPACE or data[i] >= 127 or (data[i] == separator and data[i + 1] == separator):
            return False
    return bool(separator > 0 and begin < end)


@inlined_kernel
def _look_up(
    data: Bytes,
    rows: Int64s,
    n: int,
    vocabularies: tuple[Codes, Codes],
    paths: tuple[Int32s, int],
    codes: Int32s,
    first: int,
) -> tuple[int, int]:
    """Look up the users and categories of n lines; return how many are done, and why no more.

    A record whose path is bad is none, and its user may be nobody: the category comes first.
    """
    users, categories = vocabularies
    node_of, separator = paths
    for r in range(n):
        code, begin, end = EMPTY, rows[r, CATEGORY_BEGIN], rows[r, CATEGORY_END]
        if begin < end:
            known = categories.ends[0]
            code = _code(data, begin, end, np.uint64(rows[r, CATEGORY_HASH]), categories)
            if code == FULL_VOCABULARY:
                return r, NO_ROOM_FOR_CATEGORY
            if code < len(node_of):
                if node_of[code] < 0:
                    return r, NOT_PLAIN
            elif code == known and not _is_path(data, begin, end, separator):  # it is new
                return r, NOT_PLAIN
        codes[first + r, CATEGORY] = code
        code = _code(data, rows[r, USER_BEGIN], rows[r, USER_END], np.uint64(rows[r, USER_HASH]), users)
        if code == FULL_VOCABULARY:
            return r, NO_ROOM_FOR_USER
        codes[first + r, USER] = code
    return n, DONE


@lean_kernel
def take_plain(
    data: Bytes,
    shape: Shape,
    ascii_only: bool,
    vocabularies: tuple[Codes, Codes],
    node_of: Int32s,
    first: tuple[int, int],
    room: tuple[Int64s, Int64s],
    cuts: Int32s,
    codes: Int32s,
) -> tuple[int, int, int]:
    """Take whole lines from row and byte `first` on; return the row and the byte after them, and why it stopped.

    vocabularies = users, categories; node_of int32[*]: nodes of the categories known before, -1 = a bad path; room =
    bounds int64[fields + 1] and rows int64[AHEAD, ROW_FIELDS], whose contents mean nothing between calls. `ascii_only`
    = no byte is outside ASCII.
    """
    users, categories = vocabularies
    bounds, rows = room
    paths = (node_of, shape.levels)
    separator, odd, fields = shape.separator, shape.odd, shape.fields
    user_mask, category_mask = len(users.slots) - 1, len(categories.slots) - 1
    n, at = first  # of the first line that is not looked up; `split` lines after it are split
    split, field, sound, block, most = 0, 0, True, at, len(cuts)
    bounds[0] = at - 1
    while block < len(data) and n + split < most:
        if block + BLOCK <= len(data):
            marks = _marks(data, block, separator, NEWLINE, 0, odd)
        else:
            marks = np.uint64(0)
            for j in range(len(data) - block):
                c = data[block + j]
                if c in (separator, NEWLINE, 0, odd):
                    marks |= np.uint64(1) << np.uint64(j)
        while marks != 0:
            i = block + _lowest(marks)
            marks &= marks - np.uint64(1)
            c = data[i]
            if c == separator:
                field += 1
                if field == fields:
                    sound = False
                    break
                bounds[field] = i
            elif c == NEWLINE:
                line = bounds[0] + 1
                bounds[fields] = i - 1 if i > bounds[field] + 1 and data[i - 1] == RETURN else i
                if field + 1 != fields or i - line > shape.longest or not _is_sound(data, shape, bounds, ascii_only):
                    sound = False
                    break
                begin, end = bounds[shape.user] + 1, bounds[shape.user + 1]
                row = n + split
                cuts[row, LINE_BEGIN], cuts[row, LINE_END], cuts[row, BARE] = line, i + 1, 1
                cuts[row, CUT_USER_BEGIN], cuts[row, CUT_USER_END] = begin, end
                h = _hash(data, begin, end, users.key)
                _fetch(users.slots, int(np.int64(h) & user_mask))
                rows[split, USER_BEGIN], rows[split, USER_END], rows[split, USER_HASH] = begin, end, np.int64(h)
                begin, end = bounds[shape.category] + 1, bounds[shape.category + 1]
                h = _hash(data, begin, end, categories.key)
                _fetch(categories.slots, int(np.int64(h) & category_mask))
                rows[split, CATEGORY_BEGIN], rows[split, CATEGORY_END] = begin, end
                rows[split, CATEGORY_HASH] = np.int64(h)
                split += 1
                bounds[0], field = i, 0
                if split == AHEAD or n + split == most:
                    done, why = _look_up(data, rows, split, vocabularies, paths, codes, n)
                    if done < split:
                        return n + done, int(cuts[n + done, LINE_BEGIN]), why
                    n, at, split = n + split, i + 1, 0
                    if n == most:
                        break
            elif c == 0 or (i + 1 < len(data) and data[i + 1] != NEWLINE):
                sound = False
                break
        if not sound:
            break
        block += BLOCK
    done, why = _look_up(data, rows, split, vocabularies, paths, codes, n)
    if done < split:
        return n + done, int(cuts[n + done, LINE_BEGIN]), why
    n += split
    if n > 0:
        at = int(cuts[n - 1, LINE_END])
    return n, at, DONE if sound else NOT_PLAIN


@lean_kernel
def find_nodes(codes: Int32s, node_of: Int32s, unclassified: int, node: Int32s) -> int:
    """Fill node int32[n] with the nodes of categories, as their codes; return how many are the unclassified one."""
    without = 0
    for i in range(len(codes)):
        code = codes[i, CATEGORY]
        found = unclassified if code < 0 else int(node_of[code])
        node[i] = found
        without += found == unclassified
    return without
