"""Brands by name, in the normal form that the mapper gives to words.

>>> table = load_brands()
>>> table["sam club"].name, table["ebay"].sense
("sam's club", 'auction#2')
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from querycloak.errors import InputError
from querycloak.knowledge.brands import FILE, Brand, read_brands
from querycloak.mapping.embedded_brands import embedded_brands
from querycloak.mapping.words import label_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["keyed_brands", "load_brands"]


def load_brands(path: str | PathLike[str] | None = None) -> Mapping[str, Brand]:
    """Return the brands of our table, or of a user's own file, by name and alias in normal form.

    A name that is on two lines is refused.
    """
    return _ours() if path is None else keyed_brands(read_brands(path), str(path))


@cache
def _ours() -> Mapping[str, Brand]:
    made = embedded_brands()
    return keyed_brands(read_brands(), FILE) if made is None else made.brands


def keyed_brands(brands: list[Brand], source: str) -> Mapping[str, Brand]:
    """Return brands by name and alias in normal form; `source` is their file, for messages."""
    table: dict[str, Brand] = {}
    for brand in brands:
        for name in (brand.name, *brand.aliases):
            key = label_text(name)
            if not key:
                raise InputError.at(source, "a name has no letters or digits", brand.line)
            if table.setdefault(key, brand) is not brand:
                raise InputError.at(source, _twice(name, table[key], brand), brand.line)
    return MappingProxyType(table)


def _twice(name: str, first: Brand, second: Brand) -> str:
    """Say what is wrong with a name on two lines; the topic comes first, as it is what most often differs."""
    differs = "with another topic" if first.topic != second.topic else "too"
    return f"the name {name!r} is in line {first.line} {differs}; keep one of the two"
