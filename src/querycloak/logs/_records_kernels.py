r"""Records in bytes: where the values of each line begin and end. Nothing is decoded.

The memory, for a table in which user, query and time are wanted as columns 0, 1 and 3:

.. code-block:: text

    data   uint8    4417749 \t g r e e n   t e a \t 2 0 0 6 - 0 3 - 0 1 \n  4 4 1 7 ...
                    ^       ^  ^                ^   ^                  ^    ^
    rows   BEGIN ---+       |  |                |   |                  |    |
           END -------------|--|----------------|---|------------------|----+
    spans  column 0: [0,    7) |                |   |                  |
           column 1:          [8,              17)  |                  |
           column 3:                               [18,               28)

    rows   int32[n + 1, 4]             BEGIN and END of the line (END is after its line end), STATUS, FOUND
                                       rows[n, BEGIN] is where the first line begins that is not whole yet
    spans  int32[n + 1, 2 * columns]   of column c: begin at 2c, end at 2c + 1; quotes are left outside
    how    uint8[n + 1, columns]       how the value is written, see below; 0 = it is missing, and its span is empty

Columns 0, 1 and 2 are always those of user, query and category, whether the log has them or not; what comes after them
is the caller's choice. The caller owns all arrays; a kernel fills them from row `n` on and returns how many rows there
are now. There is one more row than records, for the begin of the rest.

JSON keys are in a table (`Keys`): entry e is one way to write a key inside the objects of `parent[e]`, and leads to
`node[e]`. Node 0 is the record itself. A node has a column (`column[node]`, -1 = none) or is opened: its value, where
it is an object, is searched for more keys. A key that is not in the table stops the kernel where `collect` asks for
all keys, and wherever it is written with escapes: only the caller can tell what it means.
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

# columns of rows; FOUND: the number of fields of a table's line; at a new key of JSON, the node of its object
BEGIN, END, STATUS, FOUND = range(4)
ROW_FIELDS = 4
# the columns whose values every reader looks at, and that therefore must be sound
USER, QUERY, CATEGORY = range(3)
# how a value is written: not at all; as it is; between quotes; between quotes, with escapes; as JSON's null
MISSING, BARE, QUOTED, ESCAPED, NULL = range(5)
# status of a record: good; left out without being a mistake; a mistake; or good and yet left out by the caller
GOOD, BLANK, HEADER, NO_USER, NO_QUERY = range(5)
FIELDS, MALFORMED, NUL, NOT_TEXT, TOO_LONG, BAD_PATH, BAD_TIME = range(5, 12)
UNCLASSIFIED, PERSONAL, RARE = range(12, 15)
NEW_KEY = 15

TAB, NEWLINE, RETURN, SPACE, QUOTE, COMMA, MINUS, ZERO, NINE, COLON = 9, 10, 13, 32, 34, 44, 45, 48, 57, 58
OPEN_LIST, BACKSLASH, CLOSE_LIST, LETTER_N, OPEN, CLOSE = 91, 92, 93, 110, 123, 125
BLOCK = 64  # bytes that are looked at at once
ONES, HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


class Records(NamedTuple):
    """What a kernel fills: see the drawing above."""

    rows: Int32s
    spans: Int32s
    how: Bytes


class Table(NamedTuple):
    """How the lines of a table are to be split."""

    column: Int32s
    """int32[fields]: column of each field, -1 = not wanted"""
    header: Bytes
    """the header line without its end; a line equal to it is no record"""
    separator: int
    quotes: bool
    """a field may be between quotes, with separators and line ends inside"""
    needs_user: bool
    """a record without a user is left out"""


class Keys(NamedTuple):
    """The keys of JSON objects: see above."""

    texts: Bytes
    """the spellings after each other, each as it is written between the quotes"""
    ends: Int32s
    """int32[entries]: where each spelling ends in `texts`"""
    parent: Int32s
    node: Int32s
    column: Int32s
    """int32[nodes]"""
    opened: Bytes
    """uint8[nodes]"""
    seen: Int64s
    """int64[nodes + 1], owned by the kernel: number of the last record with each node; at the end, of this record"""
    path: Int32s
    """int32[deepest]: owned by the kernel: the nodes of the objects that are open"""


@inlined_kernel
def _word(data: Bytes, at: int) -> np.uint64:
    """Return eight bytes as one number; compiled to one load."""
    word, begin = np.uint64(0), np.uint64(at)
    for i in range(8):
        word |= np.uint64(data[begin + np.uint64(i)]) << np.uint64(8 * i)
    return word


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


@instruction("ones")
def _ones(word: np.uint64) -> int:
    """Return how many bits are set."""
    return int(word).bit_count()


@lean_kernel
def count_lines(data: Bytes) -> int:
    """Count the line ends."""
    n, whole = 0, len(data) - len(data) % BLOCK
    for at in range(0, whole, BLOCK):
        n += _ones(_marks(data, at, NEWLINE, NEWLINE, NEWLINE, NEWLINE))
    for at in range(whole, len(data)):
        n += data[at] == NEWLINE
    return n


@inlined_kernel
@wraps_around
def _next_below(data: Bytes, i: int, limit: int) -> int:
    """Return the next position with a byte below the limit, or the end; eight bytes at a time."""
    low = ONES * np.uint64(limit)
    while i + 8 <= len(data):
        word = _word(data, i)
        marks = (word - low) & ~word & HIGHS  # a borrow goes upwards only, so the lowest mark is right
        if marks != 0:
            below = (marks & (~marks + np.uint64(1))) - np.uint64(1)  # ones below the lowest mark: count them
            return i + int((below & ONES) * ONES >> np.uint64(56)) - 1
        i += 8
    while i < len(data) and data[i] >= limit:
        i += 1
    return i


@kernel
def split_table(data: Bytes, table: Table, longest: int, final: bool, records: Records) -> int:
    """Find the records of whole lines from row 0 on; return how many.

    A record of more than `longest` bytes, or in a quote that is never closed, costs its first line: what comes after it
    may be sound. `final` = nothing comes after the data, which ends with a line end.
    """
    rows, spans, how = records
    separator, quotes = table.separator, table.quotes
    n, at = 0, 0
    # Bytes from the limit on are no separator, quote or line end, and are passed over eight at a time.
    limit = max(separator, QUOTE if quotes else RETURN) + 1
    while at < len(data) and n < len(rows) - 1:
        rows[n, BEGIN], rows[n, STATUS] = at, GOOD
        spans[n, :] = 0
        how[n, :] = MISSING
        i, field, begin = at, 0, at
        escaped, quoted, finished, has_quote = False, False, False, False
        while i < len(data):
            c = data[i]
            if has_quote and not quoted and c != separator and c not in (NEWLINE, RETURN):
                rows[n, STATUS] = MALFORMED  # something comes after the closing quote
            elif c == 0:
                rows[n, STATUS] = NUL
            elif c == RETURN and quotes and not quoted and i + 1 < len(data) and data[i + 1] != NEWLINE:
                rows[n, STATUS] = MALFORMED  # some readers take it for the end of a line
            if c >= limit:
                i = _next_below(data, i + 1, limit)
            elif quoted:
                if c == QUOTE:
                    if i + 1 < len(data) and data[i + 1] == QUOTE:
                        escaped = True
                        i += 1
                    else:
                        quoted = False
                if i - at > longest:
                    break
                i += 1
            elif c in (separator, NEWLINE):
                end = i
                if c == NEWLINE and end > begin and data[end - 1] == RETURN:
                    end -= 1
                if has_quote and (end - begin < 2 or data[end - 1] != QUOTE):
                    rows[n, STATUS] = MALFORMED
                if field < len(table.column):
                    column = table.column[field]
                    if column >= 0:
                        inside = 1 if has_quote else 0
                        spans[n, 2 * column], spans[n, 2 * column + 1] = begin + inside, end - inside
                        if end - begin > 2 * inside:
                            how[n, column] = ESCAPED if escaped else QUOTED if has_quote else BARE
                        elif has_quote:
                            how[n, column] = QUOTED
                field += 1
                begin, escaped, has_quote = i + 1, False, False
                if c == NEWLINE:
                    finished = True
                    break
                i += 1
            else:
                if c == QUOTE and quotes and i == begin:
                    quoted = has_quote = True
                i += 1
        if not finished or i - at > longest:
            if i - at <= longest and not final:
                break
            status = TOO_LONG if i - at > longest else MALFORMED
            i = at
            while i < len(data) and data[i] != NEWLINE:
                i += 1
            if i == len(data):
                break
            rows[n, STATUS] = status
        end = i - 1 if i > at and data[i - 1] == RETURN else i
        rows[n, END], rows[n, FOUND] = i + 1, field
        if rows[n, STATUS] == GOOD:
            rows[n, STATUS] = _status(data, table, at, end, field, spans, n)
        at = i + 1
        n += 1
    rows[n, BEGIN], rows[n, STATUS] = at, GOOD
    return n


@lean_kernel
def split_plain(data: Bytes, table: Table, longest: int, records: Records) -> int:
    """Do the same as `split_table` for data in which there is no quote, or quotes mean nothing.

    What is not a separator, a line end, a NUL or, in CSV, a carriage return is not looked at: 64 bytes at a time.
    """
    rows, spans, how = records
    separator, odd = table.separator, RETURN if table.quotes else 0
    fields = len(table.column)
    spans[:] = 0
    how[:] = MISSING
    n, at, field, begin, status = 0, 0, 0, 0, GOOD
    block, most = 0, len(rows) - 1
    while block < len(data) and n < most:
        if block + BLOCK <= len(data):
            marks = _marks(data, block, separator, NEWLINE, 0, odd)
        else:
            marks = np.uint64(0)
            for j in range(len(data) - block):
                c = data[block + j]
                if c in (separator, NEWLINE, 0, odd):
                    marks |= np.uint64(1) << np.uint64(j)
        while marks != 0 and n < most:
            i = block + _lowest(marks)
            marks &= marks - np.uint64(1)
            c = data[i]
            if c in (separator, NEWLINE):
                end = i
                if c == NEWLINE and end > begin and data[end - 1] == RETURN:
                    end -= 1
                if field < fields:
                    column = table.column[field]
                    if column >= 0:
                        spans[n, 2 * column], spans[n, 2 * column + 1] = begin, end
                        how[n, column] = BARE if end > begin else MISSING
                field += 1
                begin = i + 1
                if c == separator:
                    continue
                rows[n, BEGIN], rows[n, END], rows[n, FOUND] = at, i + 1, field
                if i - at > longest:
                    status = TOO_LONG
                if status == GOOD:
                    end = i - 1 if i > at and data[i - 1] == RETURN else i
                    status = _status(data, table, at, end, field, spans, n)
                rows[n, STATUS] = status
                n += 1
                at, field, status = i + 1, 0, GOOD
            elif c == 0:
                status = NUL
            elif i + 1 < len(data) and data[i + 1] != NEWLINE:
                status = MALFORMED  # some readers take it for the end of a line
        block += BLOCK
    rows[n, BEGIN], rows[n, STATUS] = at, GOOD
    return n


@inlined_kernel
def _status(data: Bytes, table: Table, at: int, end: int, field: int, spans: Int32s, n: int) -> int:
    """Return the status of a whole line without mistakes in its bytes; `end` is before its line end."""
    if end == at:
        return BLANK
    if end - at == len(table.header) and _is_header(data, at, table.header):
        return HEADER
    if field != len(table.column):
        return FIELDS
    if table.needs_user and _blank(data, spans[n, 2 * USER], spans[n, 2 * USER + 1]):
        return NO_USER
    return NO_QUERY if _blank(data, spans[n, 2 * QUERY], spans[n, 2 * QUERY + 1]) else GOOD


@lean_kernel
def _is_header(data: Bytes, at: int, header: Bytes) -> bool:
    for i in range(len(header)):  # noqa: SIM110 - compiled
        if data[at + i] != header[i]:
            return False
    return True


@inlined_kernel
def _blank(data: Bytes, begin: int, end: int) -> bool:
    for i in range(begin, end):  # noqa: SIM110 - compiled
        if data[i] != SPACE and data[i] != TAB:
            return False
    return True


@kernel
def _skip_space(data: Bytes, i: int, end: int) -> int:
    while i < end and (data[i] == SPACE or data[i] == TAB or data[i] == RETURN):
        i += 1
    return i


@kernel
def _string_end(data: Bytes, i: int, end: int) -> int:
    """Return the position after the closing quote of a string whose opening quote is at i, or -1."""
    i += 1
    while i < end:
        if data[i] == BACKSLASH:
            i += 1
        elif data[i] == QUOTE:
            return i + 1
        i += 1
    return -1


@kernel
def _value_end(data: Bytes, i: int, end: int) -> int:
    """Return the position after a value of JSON, or -1; nested values are only balanced."""
    if i < end and data[i] == QUOTE:
        return _string_end(data, i, end)
    depth, begin = 0, i
    while i < end:
        c = data[i]
        if c == QUOTE:
            i = _string_end(data, i, end)
            if i < 0:
                return -1
            continue
        if c in (OPEN, OPEN_LIST):
            depth += 1
        elif c in (CLOSE, CLOSE_LIST):
            if depth == 0:
                break
            depth -= 1
            if depth == 0:
                return i + 1
        elif depth == 0 and c in (COMMA, SPACE, TAB, RETURN):
            break
        i += 1
    return i if depth == 0 and i > begin else -1


@kernel
def _has_escape(data: Bytes, begin: int, end: int) -> bool:
    for i in range(begin, end):  # noqa: SIM110 - compiled
        if data[i] == BACKSLASH:
            return True
    return False


@kernel
def _find_key(data: Bytes, begin: int, end: int, parent: int, first: int, keys: Keys) -> int:
    """Return the entry of a key, or -1. Lines repeat their keys in one order: the search begins at entry `first`."""
    count = len(keys.ends)
    for step in range(count):
        e = first + step
        if e >= count:
            e -= count
        start = keys.ends[e - 1] if e > 0 else 0
        if keys.parent[e] != parent or keys.ends[e] - start != end - begin:
            continue
        same = True
        for i in range(end - begin):
            if data[begin + i] != keys.texts[start + i]:
                same = False
                break
        if same:
            return e
    return -1


@kernel
def _take_value(data: Bytes, first: int, end: int, column: int, raw_from: int, n: int, records: Records) -> bool:
    """Put the value at [first, end) into its column; False where a column that must be sound holds something else."""
    _, spans, how = records
    c = data[first]
    spans[n, 2 * column], spans[n, 2 * column + 1], how[n, column] = first, end, BARE
    if column >= raw_from:  # without a role: kept as the JSON text it is
        return True
    if c == QUOTE:
        spans[n, 2 * column], spans[n, 2 * column + 1] = first + 1, end - 1
        how[n, column] = ESCAPED if _has_escape(data, first + 1, end - 1) else QUOTED
    elif c == MINUS or ZERO <= c <= NINE:
        if column == USER:  # 1, 1.0 and 1e0 would be three users
            for i in range(first, end):
                if not ZERO <= data[i] <= NINE:
                    return False
    else:  # null is missing; so are true, false, an object or a list, which are no value for a role
        spans[n, 2 * column + 1] = first
        how[n, column] = NULL if c == LETTER_N else MISSING
        return c == LETTER_N or column > CATEGORY
    return True


@kernel
def _split_object(
    data: Bytes, begin: int, end: int, keys: Keys, flags: tuple[bool, bool, int], n: int, records: Records
) -> int:
    """Find the values of one JSON object; return the status of the record. flags: see `split_json`."""
    collect, needs_user, raw_from = flags
    rows, spans, _ = records
    i = _skip_space(data, begin, end)
    if i == end:
        return BLANK
    if data[i] != OPEN:
        return MALFORMED
    keys.seen[-1] += 1
    depth, after_value, after_comma, hint = 0, False, False, 0
    keys.path[0] = 0
    i += 1
    while True:
        i = _skip_space(data, i, end)
        if i >= end:
            return MALFORMED
        if data[i] == CLOSE and not after_comma:
            i += 1
            if depth == 0:
                break
            depth -= 1
            after_value = True
            continue
        if after_value:
            if data[i] != COMMA:
                return MALFORMED
            after_value, after_comma = False, True
            i += 1
            continue
        if data[i] != QUOTE:
            return MALFORMED
        key, after = i + 1, _string_end(data, i, end)
        if after < 0:
            return MALFORMED
        i = _skip_space(data, after, end)
        if i >= end or data[i] != COLON:
            return MALFORMED
        first = _skip_space(data, i + 1, end)
        entry = _find_key(data, key, after - 1, keys.path[depth], hint, keys)
        if entry < 0 and (collect or _has_escape(data, key, after - 1)):
            rows[n, FOUND], spans[n, 0], spans[n, 1] = keys.path[depth], key, after - 1
            return NEW_KEY
        node = -1
        if entry >= 0:
            hint, node = entry + 1, keys.node[entry]
            # A second user would be published with the record, and others read the last of two equal keys.
            if keys.seen[node] == keys.seen[-1] and (keys.opened[node] or 0 <= keys.column[node] <= CATEGORY):
                return MALFORMED
            keys.seen[node] = keys.seen[-1]
            if keys.opened[node] and first < end and data[first] == OPEN:
                depth += 1
                keys.path[depth] = node
                i, after_comma = first + 1, False
                continue
        i = _value_end(data, first, end)
        if i < 0:
            return MALFORMED
        if (
            node >= 0
            and keys.column[node] >= 0
            and not _take_value(data, first, i, keys.column[node], raw_from, n, records)
        ):
            return MALFORMED
        after_value, after_comma = True, False
    if _skip_space(data, i, end) != end:
        return MALFORMED
    if needs_user and _blank(data, spans[n, 2 * USER], spans[n, 2 * USER + 1]):
        return NO_USER
    return NO_QUERY if _blank(data, spans[n, 2 * QUERY], spans[n, 2 * QUERY + 1]) else GOOD


@kernel
def split_json(
    data: Bytes, keys: Keys, flags: tuple[bool, bool, int], longest: int, n: int, at: int, records: Records
) -> int:
    """Find the records of whole lines of JSON from row `n` and position `at` on; return how many there are now.

    flags = all keys are wanted; a record without a user is left out; the first column whose values are kept as JSON.
    Stops at a record with a key that is not in the table: its status is NEW_KEY, FOUND is the node of the object and
    the span of column 0 is that of the key. Call again from there.
    """
    rows, spans, how = records
    while n < len(rows) - 1:
        end = at
        while end < len(data) and data[end] != NEWLINE:
            end += 1
        if end == len(data):
            break
        rows[n, BEGIN], rows[n, END], rows[n, FOUND] = at, end + 1, 0
        spans[n, :] = 0
        how[n, :] = MISSING
        if end - at > longest:
            rows[n, STATUS] = TOO_LONG
        else:
            rows[n, STATUS] = _split_object(data, at, end, keys, flags, n, records)
            if rows[n, STATUS] == NEW_KEY:
                return n
        at = end + 1
        n += 1
    rows[n, BEGIN], rows[n, STATUS] = at, GOOD
    return n
