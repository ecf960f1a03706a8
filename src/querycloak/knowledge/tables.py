"""Rows of our hand-written tables: columns separated by tabs, lines that begin with # are comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["items_of", "table_rows"]


def table_rows(text: str, source: str, columns: Sequence[str], first: int = 1) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the number of each line, from `first`, and its fields without the spaces around them.

    >>> list(table_rows("# colours\nred\t rot \n\n", "colours.tsv", ["english", "german"]))
    [(2, ['red', 'rot'])]
    """
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), first):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != len(columns):
            expected = f"expected {len(columns)} tab-separated fields ({', '.join(columns)}), found {len(fields)}"
            raise InputError.at(source, expected, number)
        yield number, fields


def items_of(field: str) -> list[str]:
    """Return the items of a field that are separated by commas.

    >>> items_of("a, b c,, d")
    ['a', 'b c', 'd']
    """
    return [item for part in field.split(",") if (item := part.strip())]
