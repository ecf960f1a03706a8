"""Lines of CSV in which no field is a formula to a spreadsheet: see `logs/formulas.py`. All else stays, byte for byte.

Few lines need an apostrophe. Those that may are found in all bytes at once, by a sign of a formula where a cell may
begin; only these are split into their fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.live import _join_kernels as join
from querycloak.logs.formulas import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.logs.layout import Layout

__all__ = ["safe_head", "with_apostrophes"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

WIDE: Final = 0xEF
"""the first byte of a wide sign, in UTF-8"""
_BYTES: Final = np.arange(256)
SIGN: Final = bytes(byte in b"=+-@\t\r" or byte == WIDE for byte in range(256))
"""1 = what a formula may begin with, for `bytes.translate`, which is faster than to look each byte up in an array"""
CUT: Final = np.isin(_BYTES, np.frombuffer(b",;\t\r\n", dtype=np.uint8))
PASSED: Final = ~CUT & ((ord(" ") >= _BYTES) | (_BYTES >= 127) | np.isin(_BYTES, np.frombuffer(b"\"'", dtype=np.uint8)))
"""bool[256]: what may be between the begin of a cell and its sign, and a few more: all of other scripts"""
FARTHEST: Final = 32
"""bytes that are looked back for the begin of a cell; a line with more of them is split"""
QUOTE: Final = b'"'


def with_apostrophes(data: bytes, cuts: Int32s, layout: Layout) -> tuple[bytes, Int32s]:
    """Return lines in which no field is a formula, and their cuts; the user is replaced later, and left alone.

    cuts int32[n, CUTS] of lines in the order of `data`, as in `_join_kernels`.
    """
    moved = np.zeros((2, len(cuts)), dtype=np.int32)  # by how much the user, and the end, of a line move
    parts: list[bytes] = []
    at = 0
    for i in _candidates(data, cuts).tolist():
        begin, end = cuts[i, [join.LINE_BEGIN, join.LINE_END]].tolist()
        line, before_user = _safe_line(data[begin:end], layout)
        if len(line) == end - begin:
            continue
        parts += [data[at:begin], line]
        at, moved[0, i], moved[1, i] = end, before_user, len(line) - (end - begin)
    if not parts:
        return data, cuts
    shift = np.cumsum(moved[1]) - moved[1]
    out = cuts.copy()
    out[:, join.LINE_BEGIN] += shift
    out[:, join.USER_BEGIN] += shift + moved[0]
    out[:, join.USER_END] += shift + moved[0]
    out[:, join.LINE_END] += shift + moved[1]
    return b"".join([*parts, data[at:]]), out


def safe_head(head: bytes, layout: Layout) -> bytes:
    """Return the header of a table, with its line end, in which no name is a formula."""
    return _safe_line(head, layout, names=True)[0]


def _candidates(data: bytes, cuts: Int32s) -> Int64s:
    """int64: the lines that may have a formula: those with a sign at the begin of a cell."""
    array = np.frombuffer(data, dtype=np.uint8)
    at = np.flatnonzero(np.frombuffer(data.translate(SIGN), dtype=np.bool_))
    at = at[(at == 0) | CUT[array[at - 1]] | PASSED[array[at - 1]]]
    row = np.searchsorted(cuts[:, join.LINE_BEGIN], at, side="right") - 1
    at, row = at[row >= 0], row[row >= 0]
    line_end = np.where(array[at] == ord("\r"), 2, 0)  # a return that ends the line is no sign
    inside = at < cuts[row, join.LINE_END] - line_end
    at, row = at[inside], row[inside]
    begin, back = cuts[row, join.LINE_BEGIN], at - 1
    for _ in range(FARTHEST):
        passing = (back >= begin) & PASSED[array[np.maximum(back, 0)]]
        if not passing.any():
            break
        back = back - passing
    reached = np.maximum(back, 0)
    return np.unique(row[(back < begin) | CUT[array[reached]] | PASSED[array[reached]]])


def _safe_line(line: bytes, layout: Layout, *, names: bool = False) -> tuple[bytes, int]:
    """Return a line with its apostrophes, and by how much they move the user; with `names` it is the header."""
    content = line.rstrip(b"\r\n")
    parts, at, before_user, grown = [], 0, 0, 0
    for column, (begin, end) in zip(layout.form.columns, _fields(content, layout.form.separator.encode()), strict=True):
        if column.role == "user" and not names:
            before_user = grown
            continue
        raw = content[begin:end]
        quoted = content[begin - 1 : begin] == QUOTE and begin > 0
        text = (raw.replace(b'""', b'"') if quoted else raw).decode()
        # What a time or a rank is, nobody has looked at here: it may be anything, or a number.
        made = escaped(text, numbers=not names and column.role in {None, "time", "rank"})
        if made != text:
            new = made.encode().replace(b'"', b'""') if quoted else made.encode()
            parts += [content[at:begin], new]
            at, grown = end, grown + len(new) - len(raw)
    return b"".join([*parts, content[at:], line[len(content) :]]), before_user


def _fields(content: bytes, separator: bytes) -> Iterator[tuple[int, int]]:
    """Return where each field of a sound line begins and ends, inside its quotes."""
    begin = 0
    while True:
        if content[begin : begin + 1] == QUOTE:
            end = begin + 1
            while content[(end := content.index(QUOTE, end)) + 1 : end + 2] == QUOTE:
                end += 2
            yield begin + 1, end
            begin = end + 2
            if end + 1 >= len(content):
                return
        else:
            end = content.find(separator, begin)
            yield begin, end if end >= 0 else len(content)
            if end < 0:
                return
            begin = end + 1
