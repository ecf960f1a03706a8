"""Values of one column, straight from the bytes: times of the most common pattern, whole numbers, and what is odd.

All take `data` and spans int32[n, *], begin and end of each value at `column` and `column + 1`, and fill an array of n.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

ZERO, SPACE, DASH, COLON = 48, 32, 45, 58
PATTERN_LENGTH = 19  # of 2006-03-01 07:17:12


@inlined_kernel
def _two(data: Bytes, at: int) -> int:
    """Return the number of two digits, or a number far below zero."""
    tens, ones = np.int64(data[at]) - ZERO, np.int64(data[at + 1]) - ZERO
    return int(tens * 10 + ones) if 0 <= tens <= 9 and 0 <= ones <= 9 else -(1 << 20)


@inlined_kernel
def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 in the Gregorian calendar.

    Hinnant, "chrono-compatible low-level date algorithms": the year begins in March, so that the day that comes and
    goes is the last one of the year.
    """
    shifted = year - (1 if month <= 2 else 0)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


@kernel
def parse_common_times(data: Bytes, spans: Int32s, column: int, missing: int, times: Int64s) -> int:
    """Fill times with the seconds of `%Y-%m-%d %H:%M:%S`; return how many values are there and are no such time."""
    bad = 0
    for r in range(len(spans)):
        begin, end = spans[r, column], spans[r, column + 1]
        times[r] = missing
        if begin == end:
            continue
        bad += 1
        if end - begin != PATTERN_LENGTH:
            continue
        if data[begin + 4] != DASH or data[begin + 7] != DASH or data[begin + 10] != SPACE:
            continue
        if data[begin + 13] != COLON or data[begin + 16] != COLON:
            continue
        year = _two(data, begin) * 100 + _two(data, begin + 2)
        month, day = _two(data, begin + 5), _two(data, begin + 8)
        hour, minute, second = _two(data, begin + 11), _two(data, begin + 14), _two(data, begin + 17)
        if year < 0 or not 1 <= month <= 12 or not 1 <= day <= 31:
            continue
        if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59):
            continue
        days = _days(year, month, day)
        last = _days(year + (1 if month == 12 else 0), 1 if month == 12 else month + 1, 1)
        if days >= last:  # the 31st of April
            continue
        times[r] = days * 86_400 + hour * 3600 + minute * 60 + second
        bad -= 1
    return bad


@kernel
def parse_numbers(data: Bytes, spans: Int32s, column: int, highest: int, missing: int, numbers: Int64s) -> int:
    """Fill numbers with the values that are whole numbers from 0 to `highest`; return how many others are there.

    A plus sign and leading zeros are taken, nothing else: all other values are `missing`.
    """
    bad = 0
    for r in range(len(spans)):
        begin, end = spans[r, column], spans[r, column + 1]
        numbers[r] = missing
        if begin == end:
            continue
        if data[begin] == 43 and end - begin > 1:
            begin += 1
        number = np.int64(0)
        for i in range(begin, end):
            digit = np.int64(data[i]) - ZERO
            if not 0 <= digit <= 9 or number > highest:
                number = np.int64(-1)
                break
            number = number * 10 + digit
        if 0 <= number <= highest:
            numbers[r] = number
        else:
            bad += 1
    return bad


@kernel
def find_odd(
    data: Bytes, spans: Int32s, column: int, rows: Int32s, ascii_only: bool, odd: npt.NDArray[np.bool_]
) -> None:
    """Mark the values of `rows` whose form may not be the normal one: white space at an end, or a byte outside ASCII.

    odd bool[rows]. `ascii_only` = no byte of the data is outside ASCII, and only the ends need a look.
    """
    for r in range(len(rows)):
        begin, end = spans[rows[r], column], spans[rows[r], column + 1]
        if begin == end:
            continue
        if data[begin] <= SPACE or data[end - 1] <= SPACE:
            odd[r] = True
        elif not ascii_only:
            for i in range(begin, end):
                if data[i] >= 128:
                    odd[r] = True
                    break


@kernel
def unwrap_array(data: Bytes, state: Int64s) -> int:
    """Turn the text of a JSON array into lines, one element each, in place and byte for byte.

    The brackets become spaces, the commas between elements become line ends, and line ends between tokens become
    spaces. A line end inside a string is no JSON, and becomes a byte that is none either. state int64[4] = depth;
    inside a string (1, after a backslash 2); the array has ended; the last token was a comma between elements. It is
    kept between calls. Returns the position after the end of the array.
    """
    depth, string, closed, comma, after = state[0], state[1], state[2], state[3], len(data)
    for i in range(len(data)):
        c = data[i]
        if string > 0:
            if c in (10, 13):
                data[i] = 1
            if string == 2:
                string = 1
            elif c == 92:
                string = 2
            elif c == 34:
                string = 0
        elif c in (10, 13):
            data[i] = 32
        elif c == 34:
            string = 1
        elif c in (91, 123):  # opening bracket or brace
            if depth == 0 and closed == 0 and c == 91:
                data[i] = 32
            depth += 1
        elif c in (93, 125):
            depth -= 1
            if depth == 0 and closed == 0:
                data[i] = 10 if c == 93 else c
                closed, after = 1, i + 1
        elif c == 44 and depth == 1 and closed == 0:
            data[i], comma = 10, 1
            continue
        if c not in (9, 10, 13, 32):
            comma = 0
    state[0], state[1], state[2], state[3] = depth, string, closed, comma
    return after
