r"""Texts that a spreadsheet would take for a formula, and how CSV holds them so that none does.

A spreadsheet evaluates a cell that begins with `=`, `+`, `-` or `@` (in Japanese and Chinese editions with their wide
forms too), after it has taken quotes, spaces and tabs away. A query is whatever anybody typed, so it may be
`=HYPERLINK(...)`. An apostrophe before the cell makes it text. Quotes of CSV do not.

A spreadsheet may also cut where we do not: one that expects semicolons, as in most of Europe, cuts `tea;=1+1` in two,
whatever separates the fields of the file. So every piece between commas, semicolons, tabs and line ends is looked at:

.. code-block:: text

    =1+1         '=1+1            tea;=1+1     tea;'=1+1         jaguar -car   as it is: no cell begins there
    '=1+1        ''=1+1           \ttea        '\ttea            men's shoes   as it is

**It can be undone.** The apostrophe is itself among the characters that may come before a formula, so that a piece
needs one exactly if it needs one after it got one: escaping adds one to the pieces that need it, undoing takes one from
the pieces that need one and have one. Other texts are the same on both sides, and different texts stay different, so
that nothing that is counted changes.

A field of a column without a role that is a number as a whole, such as -5, is left alone: it is no formula.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from querycloak.logs.form import Column, LogForm

__all__ = [
    "escaped",
    "escaped_row",
    "escaped_texts",
    "holds_formulas",
    "holds_numbers",
    "unescaped",
    "unescaped_texts",
]

# Both Python's and Polars' regular expressions read these alike.
_CUT: Final = r",;\t\r\n"
"""Where a spreadsheet may begin a new cell."""
_PASSED: Final = (
    r"""\x00-\x08\x0b\x0c\x0e-\x20"'\x7f-\xa0\u00ad\u061c\u1680\u180e\u2000-\u200f"""
    r"""\u2028-\u202f\u205f-\u206f\u3000\ufeff"""
)
"""What a spreadsheet may take away from the begin of a cell: quotes, spaces, and characters that show nothing."""
_BEGIN: Final = r"=+\-@\uff1d\uff0b\uff0d\uff20"
"""What a formula begins with."""
_PIECE: Final = rf"(^|[{_CUT}])([{_PASSED}]*[{_BEGIN}])"
_PIECE_ESCAPED: Final = rf"(^|[{_CUT}])'([{_PASSED}]*[{_BEGIN}])"
_TAB: Final = rf"^([{_PASSED}]*[\t\r])"
_TAB_ESCAPED: Final = rf"^'([{_PASSED}]*[\t\r])"
_NUMBER: Final = r"^'*[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_PYTHON: Final = tuple(re.compile(pattern) for pattern in (_PIECE, _TAB, _TAB_ESCAPED, _PIECE_ESCAPED))
_PYTHON_NUMBER: Final = re.compile(_NUMBER)


def holds_formulas(column: Column) -> bool:
    """Tell whether a column holds texts: times, ranks and numbers are written as we write them."""
    return column.role not in {"time", "rank"} and not (column.role is None and column.kind == "number")


def holds_numbers(column: Column) -> bool:
    """Tell whether a field of a column of texts may be a number all the same: nobody said what the column is."""
    return column.role is None


def escaped(text: str, *, numbers: bool = False) -> str:
    r"""Return a text as it is written for a spreadsheet; with `numbers`, one that is a number is left alone.

    >>> escaped("=1+1"), escaped("'=1+1"), escaped(' "@x"'), escaped("tea; -x"), escaped("-5"), escaped("a -b")
    ("'=1+1", "''=1+1", '\' "@x"', "tea;' -x", "'-5", 'a -b')
    >>> escaped("-5", numbers=True)
    '-5'
    """
    if numbers and _PYTHON_NUMBER.fullmatch(text):
        return text
    piece, tab, _, _ = _PYTHON
    return tab.sub(r"'\1", piece.sub(r"\1'\2", text))


def unescaped(text: str, *, numbers: bool = False) -> str:
    """Return the text that was escaped.

    >>> unescaped("'=1+1"), unescaped("''=1+1"), unescaped("'tis"), unescaped("=1+1")
    ('=1+1', "'=1+1", "'tis", '=1+1')
    """
    if numbers and _PYTHON_NUMBER.fullmatch(text):
        return text
    _, _, tab, piece = _PYTHON
    return piece.sub(r"\1\2", tab.sub(r"\1", text))


def escaped_row(values: Iterable[object], *, safe: bool = True) -> list[object]:
    """Return the values of a row of results with their texts escaped; numbers, and texts that are one, stay.

    >>> escaped_row(["@run", -0.5, "-0.5", None])
    ["'@run", -0.5, '-0.5', None]
    """
    return [escaped(value, numbers=True) if safe and isinstance(value, str) else value for value in values]


def escaped_texts(texts: pl.Series, column: Column, form: LogForm) -> pl.Series:
    """Return the fields of a column as they are written in this form."""
    if not (form.safe_csv and holds_formulas(column)):
        return texts
    made = texts.str.replace_all(_PIECE, "${1}'${2}").str.replace(_TAB, "'${1}")
    return _but_numbers(texts, made, column)


def unescaped_texts(texts: pl.Series, column: Column, form: LogForm) -> pl.Series:
    """Return the values of fields that were read in this form."""
    if not (form.safe_csv and holds_formulas(column)):
        return texts
    made = texts.str.replace(_TAB_ESCAPED, "${1}").str.replace_all(_PIECE_ESCAPED, "${1}${2}")
    return _but_numbers(texts, made, column)


def _but_numbers(texts: pl.Series, made: pl.Series, column: Column) -> pl.Series:
    if not holds_numbers(column):
        return made
    return texts.zip_with(texts.str.contains(f"{_NUMBER}$").fill_null(value=True), made)
