"""Taxonomies that are known by a name: WordNet, our topics, and those of other packages (`querycloak.plugins`).

`load_taxonomy` takes such a name, or a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.errors import UnknownNameError
from querycloak.plugins import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["KNOWLEDGE", "Knowledge", "load_taxonomy", "named_taxonomy", "usual_categories"]


@dataclass(frozen=True)
class Knowledge:
    """A taxonomy with a name, for `--taxonomy NAME`."""

    name: str
    summary: str
    """one line"""
    load: Callable[[], Taxonomy]
    package: str = ""
    """the package it comes from, with its version; empty = QueryCloak itself"""


def _wordnet() -> Taxonomy:
    from querycloak.knowledge.wordnet import load_wordnet

    return load_wordnet()


def _topics() -> Taxonomy:
    from querycloak.knowledge.topic_tree import load_topic_tree

    return load_topic_tree().taxonomy


KNOWLEDGE: Final = Catalog(
    "taxonomy",
    Knowledge,
    (
        Knowledge("wordnet", "the nouns of WordNet 3.0", _wordnet),
        Knowledge("topics", "the topics of web search, with the words that people type", _topics),
    ),
)
"""Taxonomies by name."""


def usual_categories(*, as_in_paper: bool) -> str:
    """Return the name of the taxonomy that the categories of a stream are of, where it has none and none is named.

    The sets of a stream are the top-level categories: WordNet has three, too few to share work between and to read. As
    in the paper, a record goes down a deep tree, and topics have three levels.
    """
    return "wordnet" if as_in_paper else "topics"


def named_taxonomy(source: str | PathLike[str]) -> Taxonomy | None:
    """Return the taxonomy of this name; None where `source` is a file.

    A file wins over a taxonomy of another package, so that installing a package never changes what a command reads.
    What is neither, and has no dot or slash as the path of a file has, is refused with the nearest name.
    """
    name = str(source)
    if name in KNOWLEDGE.built_in:
        return KNOWLEDGE[name].load()
    if Path(name).exists():
        return None
    if "." in name or "/" in name or "\\" in name:
        return None
    try:
        return KNOWLEDGE.find(name).load()
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} Nor is there a file of that name.") from None


def load_taxonomy(source: Taxonomy | str | PathLike[str] = "wordnet") -> Taxonomy:
    """Load a taxonomy by name (`wordnet`: nouns; `topics`: topics of web search; or of a package), or from a file.

    A file holds paths, (child, parent) pairs, or the structure of the Open Directory. What is a taxonomy already is
    returned as it is.

    >>> load_taxonomy("topics").label(0)
    'Top'
    """
    from querycloak.knowledge.taxonomy import Taxonomy

    if isinstance(source, Taxonomy):
        return source
    named = named_taxonomy(source)
    if named is not None:
        return named
    from querycloak.knowledge.table import read_taxonomy

    return read_taxonomy(Path(source))
