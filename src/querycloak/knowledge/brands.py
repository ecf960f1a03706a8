"""Well-known brands, sites, products and people, written by hand, with their topic and their concept of WordNet.

The file next to this module says how its six columns are read; a user's own file has the same format. Names are matched
in the mapper's normal form, which `querycloak.mapping.brand_names` makes.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.errors import InputError
from querycloak.knowledge.senses import concepts_of_senses
from querycloak.knowledge.tables import items_of, table_rows
from querycloak.knowledge.topic_tree import load_topic_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from os import PathLike

    from querycloak.knowledge.taxonomy import Int32s, Taxonomy

__all__ = ["ALONE", "CONTEXT", "Brand", "brand_concepts", "parse_brands", "read_brands"]

FILE: Final = "brands.tsv"
ALWAYS: Final = ""
"""Needs: nothing; wherever the name is, the brand is meant."""
ALONE: Final = "alone"
"""Needs: to be the whole query, or to have one of the context words next to it."""
CONTEXT: Final = "context"
"""Needs: one of the context words in the query."""
_COLUMNS: Final = ("name", "aliases", "topic", "concept", "needs", "context")


class Brand(NamedTuple):
    """A line of the table."""

    name: str
    aliases: tuple[str, ...]
    topic: int
    """concept of the tree of topics"""
    sense: str
    """label#sense of WordNet: what kind of thing it is, or what it is about"""
    needs: str
    """empty, `alone` or `context`"""
    context: frozenset[str]
    """words that show that the brand is meant"""
    line: int
    """line of the file, from 1"""

    def meant_with(self, others: Collection[str]) -> bool:
        """Tell whether the brand is meant, given the other words of the query in the mapper's normal form."""
        if self.needs == ALWAYS or (self.needs == ALONE and not others):
            return True
        return not self.context.isdisjoint(others)


def read_brands(path: str | PathLike[str] | None = None) -> list[Brand]:
    """Read our table, or a user's own; what is wrong with a line is said with its number.

    The concepts of a user's file are looked up here; those of ours are checked by a test, which saves a pass over
    WordNet at every start.
    """
    if path is None:
        return parse_brands(files("querycloak.knowledge").joinpath(FILE).read_text("utf-8"), FILE)
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise InputError.at(path, f"the brands cannot be read ({error.strerror})") from error
    except UnicodeDecodeError:
        raise InputError.at(path, "expected a text file in UTF-8") from None
    if "\0" in text:
        raise InputError.at(path, "expected a table, found binary data")
    brands = parse_brands(text, str(path))
    _refuse_unknown_concepts(brands, str(path))
    return brands


def brand_concepts(brands: Sequence[Brand], wordnet: Taxonomy) -> Int32s:
    """Return the concept of each brand: int32[len(brands)], -1 where WordNet has none."""
    return concepts_of_senses([brand.sense for brand in brands], wordnet)


def parse_brands(text: str, source: str, first: int = 1) -> list[Brand]:
    """Read lines of a table, the first of which has the number given."""
    topic_of = load_topic_tree().node
    brands: list[Brand] = []
    nothing: frozenset[str] = frozenset()
    for line, (name, aliases, topic, sense, needs, context) in table_rows(text, source, _COLUMNS, first):
        if not name:
            raise InputError.at(source, "the name is empty", line)
        node = topic_of.get(topic)
        if node is None:
            raise InputError.at(source, f"there is no topic {topic!r}; topics are paths such as 'Food & Drink'", line)
        words = frozenset(items_of(context)) if context else nothing
        if needs not in {ALWAYS, ALONE, CONTEXT}:
            raise InputError.at(source, f"needs must be empty, 'alone' or 'context', found {needs!r}", line)
        if needs == CONTEXT and not words:
            raise InputError.at(source, "a brand that needs context has no context words", line)
        if needs == ALWAYS and words:
            raise InputError.at(source, "context words are given, and needs is empty: write 'alone' or 'context'", line)
        brands.append(Brand(name, tuple(items_of(aliases)), node, sense, needs, words, line))
    return brands


def _refuse_unknown_concepts(brands: Sequence[Brand], source: str) -> None:
    from querycloak.knowledge.wordnet import load_wordnet

    for brand, concept in zip(brands, brand_concepts(brands, load_wordnet()).tolist(), strict=True):
        if concept < 0:
            problem = (
                f"there is no concept {brand.sense!r} in WordNet; concepts are written label#sense, as in 'shoe#1'"
            )
            raise InputError.at(source, problem, brand.line)
