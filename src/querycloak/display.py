"""How results show themselves: as plain tables in a terminal, as small cards in a notebook.

A card has inline styles alone, so that it looks the same wherever it is shown; text has the colour of the page around
it, and lines and tags are readable on white and on black. Everything that is put in is escaped here, once, and nothing
in it is hidden (`querycloak.visible`). What shows itself hands over figures, names of columns and sentences of ours,
never a query or a user id.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from querycloak.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

__all__ = ["Html", "ResultList", "card", "details", "facts", "html_table", "items", "tag", "text_table", "words"]

LINE: Final = "1px solid rgba(128,128,128,.35)"
CARD: Final = (
    f"border:{LINE};border-radius:6px;padding:.6em .9em;margin:.3em 0;max-width:62em;overflow-x:auto;"
    "font:13px/1.45 system-ui,sans-serif;color:inherit;background:transparent;text-align:left"
)
TABLE: Final = "border-collapse:collapse;margin:.3em 0;font:inherit;color:inherit;background:transparent"
CELL: Final = (
    f"padding:.2em .7em .2em 0;border:0;border-bottom:{LINE};vertical-align:top;color:inherit;background:transparent"
)
COLOURS: Final = {"good": "#1b7f4b", "open": "#96650c", "bad": "#c02f37", "plain": "#5c6670"}
"""of tags, with white text on them; each has a contrast of more than 4.5"""

_NUMBER: Final = re.compile(r"[+-]?[\d,.]+(e[+-]?\d+)?%?|-|none|")


class Html(str):
    """Text that is HTML already; all other text is escaped where it is put in."""

    __slots__ = ()


def card(title: object, *parts: Html) -> str:
    """Return a card: a title, and parts below each other.

    >>> "&lt;b&gt;" in card("<b>")
    True
    """
    return (
        f'<div style="{CARD}"><div style="font-weight:600;font-size:14px">{_plain(title)}</div>{"".join(parts)}</div>'
    )


def words(*texts: object) -> Html:
    """Return texts after each other, in one paragraph."""
    return Html(f'<div style="margin:.25em 0">{" ".join(map(_plain, texts))}</div>')


def tag(text: object, tone: str = "plain") -> Html:
    """Return a word on a coloured ground: good, open, bad or plain."""
    style = f"background:{COLOURS[tone]};color:#fff;border-radius:4px;padding:.1em .5em;font-weight:600;font-size:12px"
    return Html(f'<span style="{style};white-space:nowrap">{_plain(text)}</span>')


def items(texts: Iterable[object]) -> Html:
    """Return a list of sentences."""
    found = "".join(f"<li>{_plain(text)}</li>" for text in texts)
    return Html(f'<ul style="margin:.2em 0;padding-left:1.3em">{found}</ul>')


def details(title: object, *parts: Html) -> Html:
    """Return parts that are folded until they are asked for."""
    head = f'<summary style="cursor:pointer">{_plain(title)}</summary>'
    return Html(f'<details style="margin:.25em 0">{head}{"".join(parts)}</details>')


def facts(pairs: Mapping[str, object]) -> Html:
    """Return a table of what there is and its value; what is None or empty is left out."""
    shown = [(name, value) for name, value in pairs.items() if value is not None and value != ""]
    rows = [
        f'<tr style="background:transparent"><th style="{CELL};text-align:left;font-weight:400;opacity:.75">{_plain(n)}'
        f'</th><td style="{CELL};text-align:left">{_plain(value)}</td></tr>'
        for n, value in shown
    ]
    return Html(f'<table style="{TABLE}">{"".join(rows)}</table>')


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """Return a table with a header; columns of numbers are to the right."""
    body = [list(row) for row in rows]
    sides = ["right" if right else "left" for right in _right(head, body)]
    top = "".join(_td("th", side, name) for side, name in zip(sides, head, strict=True))
    lines = ("".join(_td("td", side, cell) for side, cell in zip(sides, row, strict=True)) for row in body)
    inside = "".join(f'<tr style="background:transparent">{line}</tr>' for line in lines)
    return Html(f'<table style="{TABLE}"><thead><tr>{top}</tr></thead><tbody>{inside}</tbody></table>')


def text_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text; columns of numbers are to the right.

    >>> print(text_table(["attack", "right", "unit"], [["linkage", "3.1%", "person"]]))
    attack   right  unit
    linkage   3.1%  person
    """
    body = [[visible(str(cell)) for cell in row] for row in rows]
    sides = _right(head, body)
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, widths, sides, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join(map(line, [head, *body]))


def _right(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[bool]:
    """bool[columns]: all that is in the column are numbers, or nothing."""
    return [bool(rows) and all(_NUMBER.fullmatch(str(row[i])) for row in rows) for i in range(len(head))]


def _td(kind: str, side: str, cell: object) -> str:
    weight = "600" if kind == "th" else "400"
    style = f"{CELL};text-align:{side};font-weight:{weight};font-variant-numeric:tabular-nums"
    return f'<{kind} style="{style}">{_plain(cell)}</{kind}>'


def _plain(text: object) -> str:
    return text if isinstance(text, Html) else escape(visible(str(text)))


class Result(Protocol):
    """One result of several that are shown in a table."""

    def to_row(self) -> dict[str, object]:
        """Return everything, with numbers as numbers."""

    def to_cells(self) -> dict[str, str]:
        """Return what a reader wants to see first, as text."""


T = TypeVar("T", bound=Result)


class ResultList(list[T]):
    """A list of results, such as those of all attacks on one release, that shows itself as a table.

    It is a list in every respect; `to_polars()` returns all figures as a table.
    """

    def __repr__(self) -> str:
        if not self:
            return "[]"
        cells = [result.to_cells() for result in self]
        return text_table(list(cells[0]), [list(row.values()) for row in cells])

    def _repr_html_(self) -> str:
        cells = [result.to_cells() for result in self]
        title = f"{len(self)} {'result' if len(self) == 1 else 'results'}"
        return card(title, html_table(list(cells[0]), [list(row.values()) for row in cells]) if cells else Html())

    def to_polars(self) -> pl.DataFrame:
        """Return one row per result, with every figure."""
        import polars as pl

        frame = pl.DataFrame([result.to_row() for result in self], infer_schema_length=None)
        return frame.cast({pl.Null: pl.Float64})
