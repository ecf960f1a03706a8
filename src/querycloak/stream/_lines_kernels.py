"""Lines of text as bytes: where the user, the query and the category of each record stand, their codes, and new lines.

Nothing is decoded. A record is the bytes of its line; to publish it is to put another user's bytes in place of the
user's, so that all else stays as it was, byte for byte.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.jit import inlined_kernel, kernel

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# columns of spans: begin and end of the line (its line end included), of the values, then flags and status
LINE, USER, QUERY, CATEGORY, FLAGS, STATUS = 0, 2, 4, 6, 8, 9
COLUMNS = 10
# flags: the user stands between quotes; a value has escapes in it, and must be decoded to be compared
QUOTED, USER_ESCAPED, QUERY_ESCAPED, CATEGORY_ESCAPED = 1, 2, 4, 8
# status of a record
GOOD, BLANK, HEADER, FIELDS, NO_USER, NO_QUERY, TOO_LONG, MALFORMED, NOT_UTF8, BAD_PATH = range(10)

TAB, NEWLINE, RETURN, SPACE, QUOTE, COMMA, BACKSLASH = 9, 10, 13, 32, 34, 44, 92
PRIME = np.uint64(1099511628211)
COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE = 58, 91, 93, 123, 125


@kernel
def split_table(data: Bytes, separator: int, roles: Int32s, header: Bytes, longest: int, spans: Int32s) -> int:
    """Find the records of whole lines, and give how many; spans[n, 0] is where the rest begins.

    `roles` int32[4] = position of user, query and category (-1 = none), number of fields. Between commas a field may
    stand in quotes, with line ends inside; between tabs a quote is an ordinary character.
    """
    n, at = 0, 0
    while at < len(data) and n < len(spans) - 1:
        spans[n, :] = 0
        spans[n, LINE] = at
        i, field, begin, escaped, quoted, finished, has_quote = at, 0, at, False, False, False, False
        while i < len(data):
            c = data[i]
            if c > COMMA:  # most bytes: no separator, quote or line end
                i += 1
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
        if not finished:
            if i - at <= longest:
                break
            i = at  # no end in sight: give up this line, and go on with the next one
            while i < len(data) and data[i] != NEWLINE:
                i += 1
            if i == len(data):
                break
            spans[n, STATUS] = TOO_LONG
        end = i - 1 if i > at and data[i - 1] == RETURN else i
        spans[n, LINE + 1] = i + 1
        if spans[n, STATUS] == TOO_LONG or i - at > longest:
            spans[n, STATUS] = TOO_LONG
        elif spans[n, STATUS] == MALFORMED:
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
    """Give the place after the closing quote of a string whose opening quote is at i, or -1."""
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
    """Give the place after a value of JSON, or -1; nested ones are only balanced."""
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


@kernel
def code_texts(
    data: Bytes, begin: Int64s, end: Int64s, code: Int32s, slots: Int32s, hashes: Words, ends: Int64s, texts: Bytes
) -> int:
    """Code byte strings by first appearance; an empty one is -1. Stops where there is no room, and gives how far.

    Codes >= 0 that are there already are left alone. The table is open addressing: slots int32[power of 2] (-1 = free)
    → code; of a code, hashes uint64 and ends int64 in `texts`; ends[0] is the number of codes, then their ends.
    """
    mask = len(slots) - 1
    for i in range(len(begin)):
        if code[i] >= 0:
            continue
        length = end[i] - begin[i]
        if length <= 0:
            code[i] = -1
            continue
        h0, h1 = np.uint64(1469598103934665603), np.uint64(length)
        h2, h3, j = h0, h1, begin[i]
        while j + 4 <= end[i]:  # four chains at once: each waits for its own product only
            h0 = (h0 ^ np.uint64(data[j])) * PRIME
            h1 = (h1 ^ np.uint64(data[j + 1])) * PRIME
            h2 = (h2 ^ np.uint64(data[j + 2])) * PRIME
            h3 = (h3 ^ np.uint64(data[j + 3])) * PRIME
            j += 4
        while j < end[i]:
            h0 = (h0 ^ np.uint64(data[j])) * PRIME
            j += 1
        h = ((h0 * PRIME ^ h1) * PRIME ^ h2) * PRIME ^ h3
        h ^= h >> np.uint64(29)
        place = np.int64(h & np.uint64(mask))
        while True:
            c = slots[place]
            if c < 0:
                known = ends[0]
                last = ends[known] if known > 0 else 0
                if 2 * (known + 1) > len(slots) or known + 2 > len(ends) or last + length > len(texts):
                    return i
                texts[last : last + length] = data[begin[i] : end[i]]
                hashes[known], slots[place] = h, known
                ends[0], ends[known + 1] = known + 1, last + length
                code[i] = known
                break
            start = ends[c] if c > 0 else 0
            if hashes[c] == h and ends[c + 1] - start == length:
                different = np.uint8(0)
                for t in range(np.uint64(length)):  # unsigned, and to the end: compiled to many bytes at once
                    different |= texts[np.uint64(start) + t] ^ data[np.uint64(begin[i]) + t]
                if different == 0:
                    code[i] = c
                    break
            place = (place + 1) & mask
    return len(begin)


@kernel
def fill_slots(hashes: Words, slots: Int32s) -> None:
    """Put the codes into a larger table of slots, all free."""
    for c in range(len(hashes)):
        place = np.int64(hashes[c] & np.uint64(len(slots) - 1))
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = c


@inlined_kernel
def _copy(source: Bytes, begin: int, end: int, out: Bytes, at: int) -> int:
    for i in range(np.uint64(end - begin)):  # unsigned: compiled to a copy of many bytes at once
        out[np.uint64(at) + i] = source[np.uint64(begin) + i]
    return at + end - begin


@kernel
def join_lines(
    sources: tuple[Bytes, Bytes],
    pieces: Int64s,
    user: Int64s,
    bare: npt.NDArray[np.bool_],
    needs_quotes: Bytes,
    ends: Int64s,
    texts: Bytes,
) -> Bytes:
    """Write records after each other, each with the text of its user between its two pieces.

    pieces int64[n, 4] = begin and end of what stands before the user, and after it, in the first source; a begin below
    zero is ~begin, and all four are in the second. bare bool[n] = the user stands without quotes: a text that needs
    them, by needs_quotes uint8[users], gets them.
    """
    size = 0
    for i in range(len(pieces)):
        u, begin = user[i], pieces[i, 0] if pieces[i, 0] >= 0 else ~pieces[i, 0]
        size += pieces[i, 1] - begin + pieces[i, 3] - pieces[i, 2] + 2
        size += ends[u + 1] - (ends[u] if u > 0 else 0)
    out, at = np.empty(size, np.uint8), 0
    for i in range(len(pieces)):
        u, quote = user[i], bare[i] and needs_quotes[user[i]]
        begin = pieces[i, 0] if pieces[i, 0] >= 0 else ~pieces[i, 0]
        at = _copy(sources[0] if pieces[i, 0] >= 0 else sources[1], begin, pieces[i, 1], out, at)
        if quote:
            out[at] = QUOTE
        at += quote
        at = _copy(texts, ends[u] if u > 0 else 0, ends[u + 1], out, at)
        if quote:
            out[at] = QUOTE
        at += quote
        at = _copy(sources[0] if pieces[i, 0] >= 0 else sources[1], pieces[i, 2], pieces[i, 3], out, at)
    return out[:at]
