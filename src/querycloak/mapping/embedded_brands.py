"""The names of our brands in normal form, and the concepts of their senses, made ahead of time.

Reading the table, putting 6,000 names into normal form and finding their senses among the labels of WordNet takes 0.2
s; a query needs a few of them. `brand-table.npz` is made by `tools/build_brand_table.py`; where the tables that it was
made from have changed since, everything is made from these. Its columns, texts one per line:

==============  ======  ==================================================================================
names           text    names and aliases in normal form, in the order of the table
name_line       i4[n]   line of the table that each name stands on
starts          text    first words of names
start_lengths   u4      words of the names that begin so: bit k is set where one has k words
senses          text    label#sense of WordNet, of brands and of what the layers need besides
concepts        i4      concept of each sense
topic_of        i2      topic of every concept of WordNet, -1 = none
source          text    SHA-256 of the tables of brands and of topics
==============  ======  ==================================================================================
"""

from __future__ import annotations

from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from querycloak.knowledge import brands as brand_table
from querycloak.knowledge import topic_tree
from querycloak.knowledge.brands import Brand, parse_brands
from querycloak.knowledge.lines import Lines
from querycloak.knowledge.look_up import LookUp, rows_of_lines
from querycloak.knowledge.senses import concepts_of_senses
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["EmbeddedBrands", "columns", "embedded_brands", "lengths_of_names", "source"]

FILE: Final = "brand-table.npz"

V = TypeVar("V")


class EmbeddedBrands:
    """What the file has, searched in place at first."""

    def __init__(self, column: Mapping[str, npt.NDArray[Any]], text: str) -> None:
        """Take the columns of the file, and the text of the table of brands."""
        self._text = text
        self._column = column
        self._made: dict[int, Brand] = {}
        rows = {name: rows_of_lines(column[name].tobytes()) for name in ("names", "starts", "senses")}
        line_of, bits_of = column["name_line"].item, column["start_lengths"].item
        self.brands: Mapping[str, Brand] = _by_row(rows["names"], lambda row: self._brand(line_of(row)))
        """name in normal form → brand"""
        self.lengths: Mapping[str, tuple[int, ...]] = _by_row(rows["starts"], lambda row: _from_bits(bits_of(row)))
        """first word → words of the names that begin with it, the longest first"""
        self.concepts: Mapping[str, int] = _by_row(rows["senses"], column["concepts"].item)
        """label#sense → concept of WordNet"""

    @property
    def topic_of(self) -> npt.NDArray[np.int32]:
        """Topic of every concept of WordNet: int32[n], -1 = none."""
        return self._column["topic_of"].astype(np.int32)

    def _brand(self, line: int) -> Brand:
        found = self._made.get(line)
        if found is None:
            found = self._made[line] = parse_brands(self._lines[line - 1], brand_table.FILE, line)[0]
        return found

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")


def _by_row(rows: LookUp[int], value: Callable[[int], V]) -> LookUp[V]:
    def find(text: str) -> V | None:
        row = rows.get(text)
        return None if row is None else value(row)

    return LookUp(find, lambda: {text: value(row) for text, row in rows.items()})


@cache
def embedded_brands() -> EmbeddedBrands | None:
    """Return what was made ahead of time from the tables that are there; None where they have changed."""
    with as_file(files("querycloak.mapping") / FILE) as path, np.load(path, allow_pickle=False) as npz:
        column = dict(npz.items())
    text = _text(brand_table.FILE)
    return EmbeddedBrands(column, text) if Lines(column["source"])[0] == source() else None


def source() -> str:
    """Return the SHA-256 of the tables of brands and of topics."""
    both = "\0".join([_text(brand_table.FILE), _text(topic_tree.FILE)])
    return sha256(both.encode()).hexdigest()


@cache
def _text(name: str) -> str:
    return files("querycloak.knowledge").joinpath(name).read_text("utf-8")


def lengths_of_names(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return first word → words of the names that begin with it, the longest first."""
    lengths: dict[str, set[int]] = {}
    for name in names:
        first, _, _ = name.partition(" ")
        lengths.setdefault(first, set()).add(name.count(" ") + 1)
    return {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}


def _from_bits(bits: int) -> tuple[int, ...]:
    return tuple(k for k in range(bits.bit_length() - 1, 0, -1) if bits >> k & 1)


def columns(brands: Mapping[str, Brand], senses: Iterable[str], wordnet: Taxonomy) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of the file for brands by name; `senses` are those that are needed besides."""
    lengths = lengths_of_names(brands)
    wanted = sorted({brand.sense for brand in brands.values()} | set(senses))
    return {
        "names": Lines.of(brands).column,
        "name_line": np.array([brand.line for brand in brands.values()], "<i4"),
        "starts": Lines.of(lengths).column,
        "start_lengths": np.array([sum(1 << k for k in found) for found in lengths.values()], "<u4"),
        "senses": Lines.of(wanted).column,
        "concepts": concepts_of_senses(wanted, wordnet).astype("<i4"),
        "topic_of": topics_of_concepts(load_topic_tree(), wordnet).astype("<i2"),
        "source": Lines.of([source()]).column,
    }
