r"""Published lines: the bytes of each record, with the id of its new user in place of the one that asked.

Nothing is decoded and nothing else is changed: what is written is what was read, byte for byte. A record comes from the
batch at hand (`fresh`) or from an earlier one, where it waited (`waited`). The memory of one record:

.. code-block:: text

    4417749\tgreen tea\t2006-03-01 07:17:12\n         {"user": "u7", "query": "green tea"}\n
    ^      ^                                 ^         ^         ^ ^                        ^
    |      USER_END                          LINE_END  |         | USER_END                 LINE_END
    LINE_BEGIN = USER_BEGIN                            |         USER_BEGIN (inside the quotes)
                                                       LINE_BEGIN

    cuts    int32[n, 5]   LINE_BEGIN  USER_BEGIN  USER_END  LINE_END  BARE
                          of fresh records, into the data of the batch
    waited  int64[m, 5]   BEGIN  GAP  END  BARE_THEN  ASKER
                          of records that waited, without their user: [BEGIN, GAP) came before it, [GAP, END) after
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of cuts; BARE: 1 = the user is not between quotes
LINE_BEGIN, USER_BEGIN, USER_END, LINE_END, BARE = range(5)
CUTS = 5
# columns of what waited; BARE_THEN as BARE; ASKER: code of the user who asked
BEGIN, GAP, END, BARE_THEN, ASKER = range(5)
QUOTE = 34


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


@kernel
def join_lines(
    fresh: tuple[Bytes, Int32s, Int32s],
    waited: tuple[Bytes, Int64s],
    record: Int64s,
    user: Int64s,
    ids: tuple[Bytes, Int64s, Bytes],
    width: int,
    left: npt.NDArray[np.bool_],
    asker: Int32s,
) -> Bytes:
    """Write records after each other, each with the id of its new user.

    record int64[n] = row of `fresh` (data, cuts, code of the asker), or below zero: the next row of `waited`. A fresh
    record that is written is marked in `left`; asker int32[n] is filled. ids = texts and ends, as in ByteCodes, and
    whether an id needs quotes: it gets them where the user was written without. `width` = bytes of each id, 0 = they
    differ.
    """
    data, cuts, users = fresh
    stored, places = waited
    texts, ends, needs_quotes = ids
    size, w = 0, 0
    for i in range(len(record)):
        u, r = user[i], record[i]
        size += 2 + (width if width > 0 else ends[u + 1] - (ends[u] if u > 0 else 0))
        if r < 0:
            size += places[w, END] - places[w, BEGIN]
            w += 1
        else:
            size += cuts[r, LINE_END] - cuts[r, LINE_BEGIN]
    out, at, w = np.empty(size, np.uint8), 0, 0
    for i in range(len(record)):
        u, r = user[i], record[i]
        if r < 0:
            at = _copy(stored, places[w, BEGIN], places[w, GAP], out, at)
            quote = places[w, BARE_THEN] and needs_quotes[u]
        else:
            at = _copy(data, cuts[r, LINE_BEGIN], cuts[r, USER_BEGIN], out, at)
            quote = cuts[r, BARE] and needs_quotes[u]
        if quote:
            out[at] = QUOTE
            at += 1
        if width > 0:  # ends is large, and not needed
            at = _copy(texts, u * width, (u + 1) * width, out, at)
        else:
            at = _copy(texts, ends[u] if u > 0 else 0, ends[u + 1], out, at)
        if quote:
            out[at] = QUOTE
            at += 1
        if r < 0:
            at = _copy(stored, places[w, GAP], places[w, END], out, at)
            asker[i] = places[w, ASKER]
            w += 1
        else:
            at = _copy(data, cuts[r, USER_END], cuts[r, LINE_END], out, at)
            left[r] = True
            asker[i] = users[r]
    return out[:at]


@kernel
def replace_queries(
    data: Bytes, cuts: Int32s, query: Int32s, texts: tuple[Bytes, Int64s, Int64s, Bytes], out: Bytes, moved: Int32s
) -> int:
    """Write lines after each other, some of them with another text in place of their query.

    query int32[n, 2]: begin and end of each query in `data`, inside its quotes; texts = bytes, begin and end of each
    new text in them, begin -1 = the query stays, and whether the text is to be put between quotes. Writes the lines to
    `out` and where they and their users now are to moved int32[n, CUTS], BARE apart. Returns the size.
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
