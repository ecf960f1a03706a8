"""What all pages share: templates in which every value is escaped, and how numbers are written."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from querycloak.visible import visible_on_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

__all__ = ["Cell", "Table", "decimal", "percent", "render", "sentence"]


class Cell(NamedTuple):
    """A cell of a table."""

    text: str = ""
    mark: str = ""
    """`over` where it breaks a limit, `fine` where it keeps one, `open` where that is not known, `none` where there is
    nothing to judge"""
    note: str = ""
    """a second line, smaller"""
    bar: float | None = None
    """a share to draw below the text"""


class Table(NamedTuple):
    """A table of a page."""

    head: list[str]
    rows: list[list[Cell]]
    best: int | None = None
    """the row to set in bold"""
    subheads: list[str] | None = None
    """a second line of each head, left out on paper"""


def render(template: str, **values: Any) -> str:
    """Return a whole page."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("querycloak.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=visible_on_page,
    )
    found.filters |= {"count": _count, "named": _named, "percent": percent, "sentence": sentence}
    return found


def percent(share: float) -> str:
    """Write a share with at most one digit after the point, and never a small one as nothing.

    >>> percent(0.1234), percent(0.2), percent(0.0004), percent(-0.0004)
    ('12.3%', '20%', '<0.1%', '0%')
    """
    if 0 < share < 0.0005:
        return "<0.1%"
    return _signed(f"{100 * share:.1f}".removesuffix(".0")) + "%"


def decimal(value: float) -> str:
    """Write a number with two digits after the point.

    >>> decimal(0.456), decimal(-0.001)
    ('0.46', '0.00')
    """
    return _signed(f"{value:.2f}")


def _signed(text: str) -> str:
    """Write a minus sign as one, and none before a zero."""
    return text.replace("-", "−") if text.strip("-0.") else text.lstrip("-")  # noqa: RUF001


def sentence(text: str) -> str:
    """Write a text as a sentence: a capital at the beginning, a stop at the end.

    >>> sentence("nothing was found")
    'Nothing was found.'
    """
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return ended[:1].upper() + ended[1:]


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}" for name, value in values.items()
    )
