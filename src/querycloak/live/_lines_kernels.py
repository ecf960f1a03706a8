"""Lines of text as bytes: where the user, the query and the category of each record stand.

Nothing is decoded. A record is the bytes of its line; to publish it is to put another user's id in place of its user.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of spans: begin and end of the line (its line end included), of the values, then flags and status
LINE, USER, QUERY, CATEGORY, FLAGS, STATUS = 0, 2, 4, 6, 8, 9
COLUMNS = 10
# flags: the user stands between quotes; a value, or a key, has escapes in it, and must be decoded to be compared
QUOTED, USER_ESCAPED, QUERY_ESCAPED, CATEGORY_ESCAPED, KEY_ESCAPED = 1, 2, 4, 8, 16
# status of a record: good, harmless, bad, or good and yet left out
GOOD, BLANK, HEADER, FIELDS, NO_USER, NO_QUERY, TOO_LONG, MALFORMED, NOT_UTF8, BAD_PATH = range(10)
UNCLASSIFIED, PERSONAL, RARE = range(10, 13)
# columns of what waited: begin, where the user stood, end; 1 = the user had no quotes; code of the asker
BEGIN, GAP, END, BARE, ASKER = range(5)

TAB, NEWLINE, RETURN, SPACE, QUOTE, COMMA, BACKSLASH = 9, 10, 13, 32, 34, 44, 92
COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE = 58, 91, 93, 123, 125
ONES, HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@inlined_kernel
def _word(data: Bytes, at: int) -> np.uint64:
    """Return eight bytes as one number; compiled to one load."""
    word, begin = np.uint64(0), np.uint64(at)
    for i in range(8):
        word |= np.uint64(data[begin + np.uint64(i)]) << np.uint64(8 * i)
    return word


@kernel
def count_lines(data: Bytes) -> int:
    """Count the line ends."""
    n = 0
    for byte in data:
        n += byte == NEWLINE
    return n


@inlined_kernel
def _next_below(data: Bytes, i: int, limit: int) -> int:
    """Return the next place with a byte below the limit, or the end; eight bytes at a time."""
    low = ONES * np.uint64(limit)
    while i + 8 <= len(data):
        word = _word(data, i)
        marks = (word - low) & ~word & HIGHS  # the lowest mark is right: borrows go upwards
        if marks != 0:
            below = (marks & (~marks + np.uint64(1))) - np.uint64(1)
            return i + int((below & ONES) * ONES >> np.uint64(56)) - 1
        i += 8
    while i < len(data) and data[i] >= limit:
        i += 1
    return i


@kernel
def split_table(
    data: Bytes, separator: int, roles: Int32s, header: Bytes, longest: int, final: bool, spans: Int32s
) -> int:
    """Find the records of whole lines, and give how many; spans[n, 0] is where the rest begins.

    `roles` int32[4] = position of user, query and category (-1 = none), number of fields. Between commas a field may
    stand in quotes, with line ends inside; between tabs a quote is an ordinary character. A record that is too long, or
    in a quote that is never closed, costs its first line; `final` = nothing comes after the data.
    """
    n, at = 0, 0
    limit = COMMA + 1 if separator == COMMA else RETURN + 1  # other bytes are no separator, quote or line end
    while at < len(data) and n < len(spans) - 1:
        spans[n, :] = 0
        spans[n, LINE] = at
        i, field, begin, escaped, quoted, finished, has_quote = at, 0, at, False, False, False, False
        while i < len(data):
            c = data[i]
            if has_quote and not quoted and c != separator and c not in (NEWLINE, RETURN):
                spans[n, STATUS] = MALFORMED  # something stands after the closing quote
            elif c == 0:
                spans[n, STATUS] = MALFORMED  # no text
            elif c == RETURN and separator == COMMA and not quoted and i + 1 < len(data) and data[i + 1] != NEWLINE:
                spans[n, STATUS] = MALFORMED  # some take it for the end of a line
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
                    spans[n, STATUS] = MALFORMED
                for r in range(3):
                    if roles[r] == field:
                        inside = 1 if has_quote else 0
                        spans[n, USER + 2 * r], spans[n, USER + 2 * r + 1] = begin + inside, end - inside
                        spans[n, FLAGS] |= (QUOTED if inside and r == 0 else 0) | ((2 << r) if escaped else 0)
                field += 1
                begin, escaped, has_quote = i + 1, False, False
                if c == NEWLINE:
                    finished = True
                    break
                i += 1
            else:
                if c == QUOTE and separator == COMMA and i == begin:
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
            spans[n, STATUS] = status
        end = i - 1 if i > at and data[i - 1] == RETURN else i
        spans[n, LINE + 1] = i + 1
        if spans[n, STATUS] != GOOD:
            pass
        elif end == at:
            spans[n, STATUS] = BLANK
        elif end - at == len(header) and len(header) > 0 and np.array_equal(data[at:end], header):
            spans[n, STATUS] = HEADER
        elif field != roles[3]:
            spans[n, STATUS] = FIELDS
        elif _blank(data, spans[n, USER], spans[n, USER + 1]):
            spans[n, STATUS] = NO_USER
        elif _blank(data, spans[n, QUERY], spans[n, QUERY + 1]):
            spans[n, STATUS] = NO_QUERY
        at = i + 1
        n += 1
    spans[n, LINE] = at
    return n


@kernel
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
    """Return the place after the closing quote of a string whose opening quote is at i, or -1."""
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
    """Return the place after a value of JSON, or -1; nested ones are only balanced."""
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
def _split_object(data: Bytes, begin: int, end: int, keys: Bytes, key_ends: Int32s, span: Int32s) -> int:
    """Find the values of the three keys in one JSON object, at its top level; give the status of the record."""
    i = _skip_space(data, begin, end)
    if i == end:
        return BLANK
    if data[i] != OPEN:
        return MALFORMED
    i, seen, more = _skip_space(data, i + 1, end), 0, True
    if i < end and data[i] == CLOSE:
        i, more = i + 1, False
    while more:
        if i >= end or data[i] != QUOTE:
            return MALFORMED
        key, after = i + 1, _string_end(data, i, end)
        if after < 0:
            return MALFORMED
        for j in range(key, after):
            if data[j] == BACKSLASH:
                span[FLAGS] |= KEY_ESCAPED
        i = _skip_space(data, after, end)
        if i >= end or data[i] != COLON:
            return MALFORMED
        first = _skip_space(data, i + 1, end)
        i = _value_end(data, first, end)
        if i < 0:
            return MALFORMED
        for r in range(3):
            name = keys[0 if r == 0 else key_ends[r - 1] : key_ends[r]]
            if len(name) == 0 or not np.array_equal(data[key : after - 1], name):
                continue
            if seen & (1 << r):  # a second user would be published
                return MALFORMED
            seen |= 1 << r
            if data[first] == QUOTE:
                span[USER + 2 * r], span[USER + 2 * r + 1] = first + 1, i - 1
                span[FLAGS] |= QUOTED if r == 0 else 0
                for j in range(first + 1, i - 1):
                    if data[j] == BACKSLASH:
                        span[FLAGS] |= 2 << r
            elif data[first] == 45 or 48 <= data[first] <= 57:  # a number
                span[USER + 2 * r], span[USER + 2 * r + 1] = first, i
                for j in range(first, i):  # 1, 1.0 and 1e0 would be three users
                    if r == 0 and not 48 <= data[j] <= 57:
                        return MALFORMED
            elif data[first] != 110:  # null is missing; true, false, an object or a list is no value for us
                return MALFORMED
        i = _skip_space(data, i, end)
        if i >= end or (data[i] != COMMA and data[i] != CLOSE):
            return MALFORMED
        more = data[i] == COMMA
        i = _skip_space(data, i + 1, end) if more else i + 1
    if _skip_space(data, i, end) != end:
        return MALFORMED
    if _blank(data, span[USER], span[USER + 1]):
        return NO_USER
    return NO_QUERY if _blank(data, span[QUERY], span[QUERY + 1]) else GOOD


@kernel
def split_json(data: Bytes, keys: Bytes, key_ends: Int32s, longest: int, spans: Int32s) -> int:
    """Find the records of whole lines of JSON, and give how many; spans[n, 0] is where the rest begins.

    `keys` = user, query and category key after each other, `key_ends` int32[3]; an empty key is looked for nowhere.
    """
    n, at = 0, 0
    while n < len(spans) - 1:
        end = at
        while end < len(data) and data[end] != NEWLINE:
            end += 1
        if end == len(data):
            break
        spans[n, :] = 0
        spans[n, LINE], spans[n, LINE + 1] = at, end + 1
        if end - at > longest:
            spans[n, STATUS] = TOO_LONG
        else:
            spans[n, STATUS] = _split_object(data, at, end, keys, key_ends, spans[n])
        at = end + 1
        n += 1
    spans[n, LINE] = at
    return n


@inlined_kernel
def _put_word(out: Bytes, at: int, word: np.uint64) -> None:
    """Write a number as eight bytes; compiled to one store."""
    place = np.uint64(at)
    for i in range(8):
        out[place + np.uint64(i)] = np.uint8(word >> np.uint64(8 * i))


@inlined_kernel
def _copy(source: Bytes, begin: int, end: int, out: Bytes, at: int) -> int:
    """Copy bytes and give the place after them; eight at a time, the last eight as they come."""
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
    """Write records after each other, each with the id of its new user; all else stays as it came, byte for byte.

    record int64[n] = row of `fresh`: data, spans, users; or below zero: the next row of `waited`, bytes and places. A
    fresh one that is written is marked in `left`; asker int32[n] is filled. ids = texts and ends, as in ByteCodes, and
    whether one needs quotes: it gets them where the user stood without; `width` = bytes of each id, 0 = they differ.
    """
    data, spans, users = fresh
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
            size += spans[r, LINE + 1] - spans[r, LINE]
    out, at, w = np.empty(size, np.uint8), 0, 0
    for i in range(len(record)):
        u, r = user[i], record[i]
        if r < 0:
            at = _copy(stored, places[w, BEGIN], places[w, GAP], out, at)
            quote = places[w, BARE] and needs_quotes[u]
        else:
            at = _copy(data, spans[r, LINE], spans[r, USER], out, at)
            quote = (spans[r, FLAGS] & QUOTED) == 0 and needs_quotes[u]
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
            at = _copy(data, spans[r, USER + 1], spans[r, LINE + 1], out, at)
            left[r] = True
            asker[i] = users[r]
    return out[:at]
