r"""Published lines: the bytes of each record, with the id of its new user in place of the one that asked.

Nothing is decoded and nothing else is changed: what is written is what was read, byte for byte. A record comes from the
batch at hand (`Fresh`) or from an earlier one, since when it waits (`Waiting`). The memory of one record:

.. code-block:: text

    4417749\tgreen tea\t2006-03-01 07:17:12\n         {"user": "u7", "query": "green tea"}\n
    ^      ^                                 ^         ^        ^   ^                       ^
    |      USER_END                          LINE_END  |        |   USER_END                LINE_END
    LINE_BEGIN = USER_BEGIN                            |        USER_BEGIN (with the quotes, which tell of the asker)
                                                       LINE_BEGIN

    cuts    int32[n, 5]     LINE_BEGIN  USER_BEGIN  USER_END  LINE_END  BARE
                            of fresh records, into the data of the batch
    slots   int64[2^b, 6]   NUMBER (-1 = free)  BEGIN  GAP  END  ASKER  HOW = 2 * kind + bare
                            a hash table of the records that wait, by their running number: searched from the slot of
                            the number's hash on, slot after slot; at most half of the slots are taken
    texts   uint8           their lines without the user: [BEGIN, GAP) came before it, [GAP, END) after; the last
                            SLACK bytes stay free
    counts  int64[3]        RECORDS that wait; TOP: bytes of `texts` in use; LIVE: those of records that still wait

New lines are put at TOP. The bytes of a record that has left stay where they are until the room is needed: then the
caller has what still waits copied into new arrays (`move_waiting`), twice as large as that. All arrays belong to
`WaitingLines`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, instruction, kernel, lean_kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of cuts; BARE: 1 = no quotes are left around the user
LINE_BEGIN, USER_BEGIN, USER_END, LINE_END, BARE = range(5)
CUTS = 5
# columns of slots, cells of counts
NUMBER, BEGIN, GAP, END, ASKER, HOW, SLOT_COLUMNS = range(7)
RECORDS, TOP, LIVE, COUNTS = range(4)
FREE = -1
QUOTE = 34
AHEAD = 16  # records whose bytes are asked for before they are needed
SLACK = 32  # bytes after the last one of an array that `_copy_wide` may write over


class Fresh(NamedTuple):
    """The records of the batch at hand."""

    data: Bytes
    cuts: Int32s
    user: Int32s
    """int32[n]: code of the user who asked"""
    kind: npt.NDArray[np.int8]
    """int8[n]: what the text of the record is, see texts/phrases.py"""
    first: int
    """running number of the first of them"""


class Waiting(NamedTuple):
    """The records that wait: see the drawing above."""

    slots: Int64s
    texts: Bytes
    counts: Int64s


@inlined_kernel
def _word(data: Bytes, at: int) -> np.uint64:
    """Return eight bytes as one number; compiled to one load."""
    word, begin = np.uint64(0), np.uint64(at)
    for i in range(8):
        word |= np.uint64(data[begin + np.uint64(i)]) << np.uint64(8 * i)
    return word


@inlined_kernel
def _put_word(out: Bytes, at: int, word: np.uint64) -> None:
    """Write a number as eight bytes; compiled to one store."""
    begin = np.uint64(at)
    for i in range(8):
        out[begin + np.uint64(i)] = np.uint8(word >> np.uint64(8 * i))


@inlined_kernel
def _copy(source: Bytes, begin: int, end: int, out: Bytes, at: int) -> int:
    """Copy bytes and return the position after them.

    Eight at a time; the last eight are copied as one word too, which may overlap the word before: no loop over a rest.
    """
    length, i = end - begin, 0
    if length < 8:
        for i in range(length):
            out[at + i] = source[begin + i]
        return at + length
    while i + 8 <= length:
        _put_word(out, at + i, _word(source, begin + i))
        i += 8
    _put_word(out, at + length - 8, _word(source, end - 8))
    return at + length


@instruction("fetch")
def _fetch(array: npt.NDArray[np.generic], row: int) -> None:
    """Ask the memory for a row, and do not wait for it."""


@instruction("move")
def _move(source: Bytes, begin: int, out: Bytes, at: int) -> None:
    """Copy 32 bytes."""
    out[at : at + SLACK] = source[begin : begin + SLACK]


@inlined_kernel
def _copy_wide(source: Bytes, begin: int, end: int, out: Bytes, at: int) -> int:
    """Copy bytes and return the position after them; up to SLACK bytes of `out` after them may be written over."""
    if begin == end:
        return at
    if end + SLACK > len(source):
        return _copy(source, begin, end, out, at)
    i = 0
    while True:
        _move(source, begin + i, out, at + i)
        i += SLACK
        if begin + i >= end:
            return at + end - begin


@inlined_kernel
@wraps_around
def _home(slots: Int64s, number: int) -> int:
    """Return the slot from which a running number is searched: neighbours are scattered (Fibonacci hashing)."""
    word = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    return int(np.int64(word >> np.uint64(33)) & (len(slots) - 1))


@inlined_kernel
def _find(slots: Int64s, number: int) -> int:
    """Return the slot of a running number; the record must be there."""
    slot = _home(slots, number)
    while slots[slot, NUMBER] != number:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inlined_kernel
def _free_slot(slots: Int64s, number: int) -> int:
    """Return the slot where a running number that is not there is to be put."""
    slot = _home(slots, number)
    while slots[slot, NUMBER] != FREE:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inlined_kernel
def _remove(waiting: Waiting, hole: int) -> None:
    """Free a slot; records that were put after it because it was taken move up."""
    slots, mask = waiting.slots, len(waiting.slots) - 1
    waiting.counts[RECORDS] -= 1
    waiting.counts[LIVE] -= slots[hole, END] - slots[hole, BEGIN]
    slot = (hole + 1) & mask
    while slots[slot, NUMBER] != FREE:
        home = _home(slots, slots[slot, NUMBER])
        if (slot - home) & mask >= (slot - hole) & mask:  # its search passes the hole
            for column in range(SLOT_COLUMNS):
                slots[hole, column] = slots[slot, column]
            hole = slot
        slot = (slot + 1) & mask
    slots[hole, NUMBER] = FREE


@kernel
def join_lines(
    fresh: Fresh,
    waiting: Waiting,
    record: Int64s,
    user: Int64s,
    ids: tuple[Bytes, Int64s, Bytes],
    width: int,
    left: npt.NDArray[np.bool_],
    found: tuple[Int32s, Int64s],
) -> Bytes:
    """Write records after each other, each with the id of its new user; those that waited do so no more.

    record int64[n] = running numbers of fresh records, or of some that wait. A fresh record that is written is marked
    in `left`; found = asker int32[n], which is filled, and the number of records by their kind, which are added.
    ids = texts and ends, as in ByteCodes, and whether an id needs quotes: it gets them where the user was written
    without. `width` = bytes of each id, 0 = they differ.
    """
    data, cuts, users = fresh.data, fresh.cuts, fresh.user
    slots, stored = waiting.slots, waiting.texts
    texts, ends, needs_quotes = ids
    asker, kinds = found
    n = len(record)
    size = (
        len(data) + waiting.counts[LIVE] + (2 + width) * n + SLACK
    )  # no record leaves twice: room that may stay empty
    if width == 0:
        for i in range(n):
            size += ends[user[i] + 1] - (ends[user[i]] if user[i] > 0 else 0)
    out, at = np.empty(size, np.uint8), 0
    for i in range(n):
        if i + AHEAD // 2 < n and record[i + AHEAD // 2] < fresh.first:  # its slot has been asked for
            slot = _home(slots, record[i + AHEAD // 2])
            if slots[slot, NUMBER] != FREE:  # mostly its own
                _fetch(stored, slots[slot, BEGIN])
        if i + AHEAD < n:
            later = record[i + AHEAD] - fresh.first
            if width > 0:
                _fetch(texts, user[i + AHEAD] * width)
            if later >= 0:
                _fetch(data, cuts[later, USER_END])
            else:
                _fetch(slots, _home(slots, record[i + AHEAD]))
        u, r, slot = user[i], record[i] - fresh.first, 0
        if r < 0:
            slot = _find(slots, record[i])
            at = _copy_wide(stored, slots[slot, BEGIN], slots[slot, GAP], out, at)
            quote = slots[slot, HOW] & 1 and needs_quotes[u]
            asker[i] = slots[slot, ASKER]
            kinds[slots[slot, HOW] >> 1] += 1
        else:
            at = _copy_wide(data, cuts[r, LINE_BEGIN], cuts[r, USER_BEGIN], out, at)
            quote = cuts[r, BARE] and needs_quotes[u]
            asker[i] = users[r]
            kinds[fresh.kind[r]] += 1
        if quote:
            out[at] = QUOTE
            at += 1
        if width > 0:  # ends is large, and not needed
            at = _copy_wide(texts, u * width, (u + 1) * width, out, at)
        else:
            at = _copy_wide(texts, ends[u] if u > 0 else 0, ends[u + 1], out, at)
        if quote:
            out[at] = QUOTE
            at += 1
        if r < 0:
            at = _copy_wide(stored, slots[slot, GAP], slots[slot, END], out, at)
            _remove(waiting, slot)
        else:
            at = _copy_wide(data, cuts[r, USER_END], cuts[r, LINE_END], out, at)
            left[r] = True
    return out[:at]


@lean_kernel
def mark_seen(user: Int64s, seen: npt.NDArray[np.bool_]) -> None:
    """Mark users in seen bool[users]."""
    for i in range(len(user)):
        seen[np.uint64(user[i])] = True


@kernel
def measure_staying(cuts: Int32s, left: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Count the fresh records that have not left, and the bytes of them that are kept."""
    n, size = 0, 0
    for r in range(len(left)):
        if not left[r]:
            n += 1
            size += cuts[r, LINE_END] - cuts[r, LINE_BEGIN] - (cuts[r, USER_END] - cuts[r, USER_BEGIN])
    return n, size


@kernel
def keep_lines(fresh: Fresh, left: npt.NDArray[np.bool_], waiting: Waiting) -> None:
    """Let the fresh records that have not left wait; there must be room, see `measure_staying`."""
    slots, counts, cuts = waiting.slots, waiting.counts, fresh.cuts
    for r in range(len(left)):
        if left[r]:
            continue
        number = fresh.first + r
        slot, begin = _free_slot(slots, number), counts[TOP]
        gap = _copy_wide(fresh.data, cuts[r, LINE_BEGIN], cuts[r, USER_BEGIN], waiting.texts, begin)
        end = _copy_wide(fresh.data, cuts[r, USER_END], cuts[r, LINE_END], waiting.texts, gap)
        slots[slot, NUMBER], slots[slot, BEGIN], slots[slot, GAP], slots[slot, END] = number, begin, gap, end
        slots[slot, ASKER], slots[slot, HOW] = fresh.user[r], 2 * fresh.kind[r] + (1 if cuts[r, BARE] else 0)
        counts[RECORDS] += 1
        counts[TOP] = end
        counts[LIVE] += end - begin


@kernel
def forget_lines(waiting: Waiting, number: Int64s) -> None:
    """Let records that wait do so no more; number int64[n]."""
    for i in range(len(number)):
        _remove(waiting, _find(waiting.slots, number[i]))


@kernel
def find_lines(waiting: Waiting, number: Int64s, slot: Int64s) -> None:
    """Fill slot int64[n] with the slots of records that wait; number int64[n]."""
    for i in range(len(number)):
        slot[i] = _find(waiting.slots, number[i])


@kernel
def move_waiting(old: Int64s, texts: Bytes, waiting: Waiting) -> None:
    """Put records of a table into a larger one, which is empty; rows of `old` that are free are passed over."""
    slots, counts = waiting.slots, waiting.counts
    for i in range(len(old)):
        if old[i, NUMBER] == FREE:
            continue
        slot, begin = _free_slot(slots, old[i, NUMBER]), counts[TOP]
        end = _copy_wide(texts, old[i, BEGIN], old[i, END], waiting.texts, begin)
        slots[slot, NUMBER], slots[slot, BEGIN], slots[slot, END] = old[i, NUMBER], begin, end
        slots[slot, GAP] = begin + old[i, GAP] - old[i, BEGIN]
        slots[slot, ASKER], slots[slot, HOW] = old[i, ASKER], old[i, HOW]
        counts[RECORDS] += 1
        counts[TOP] = end
        counts[LIVE] += end - begin


@kernel
def replace_queries(
    data: Bytes, cuts: Int32s, query: Int32s, texts: tuple[Bytes, Int64s, Int64s, Bytes], out: Bytes, moved: Int32s
) -> int:
    """Write lines after each other, some of them with another text in place of their query.

    query int32[n, 2]: begin and end in `data` of what is replaced, with its quotes or inside them; texts = bytes, begin
    and end of each new text in them, begin -1 = the query stays, and whether the text is to be put between quotes.
    Writes the lines to `out` and where they and their users now are to moved int32[n, CUTS], BARE apart. Returns the
    size.
    """
    source, begins, ends, quotes = texts
    at = 0
    for i in range(len(cuts)):
        line, shift = cuts[i, LINE_BEGIN], 0
        moved[i, LINE_BEGIN] = at
        start = at - line  # what comes before the query moves by this
        if begins[i] < 0:
            at = _copy(data, line, cuts[i, LINE_END], out, at)
        else:
            at = _copy(data, line, query[i, 0], out, at)
            if quotes[i]:
                out[at] = QUOTE
                at += 1
            at = _copy(source, begins[i], ends[i], out, at)
            if quotes[i]:
                out[at] = QUOTE
                at += 1
            shift = at - (query[i, 1] + start)
            at = _copy(data, query[i, 1], cuts[i, LINE_END], out, at)
        later = shift if cuts[i, USER_BEGIN] >= query[i, 1] else 0
        moved[i, USER_BEGIN] = cuts[i, USER_BEGIN] + start + later
        moved[i, USER_END] = cuts[i, USER_END] + start + later
        moved[i, LINE_END] = at
    return at
