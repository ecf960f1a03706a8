"""From the text of a query to its clauses with their units: by the papers' mappings, or in layers.

A reader is small to send to another process: what is embedded is loaded there again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from querycloak.arrays.jit import JIT_OFF
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.layers import Clause, find_units
from querycloak.mapping.modes import LAYERED, MAPPINGS, Unit, split_mapping
from querycloak.mapping.phrases import read_classes
from querycloak.mapping.words import clauses, clauses_with_sites

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.bulk import BulkReader
    from querycloak.mapping.layer_tables import LayerTables
    from querycloak.mapping.lexicon import Lexicon

__all__ = ["LayerReader", "ReadClause", "Reader", "WordReader", "concepts_in", "reader_of"]


class ReadClause(NamedTuple):
    """A clause and its units."""

    clause: Clause
    units: list[Unit]


class Reader(Protocol):
    """Reads queries."""

    @property
    def lexicon(self) -> Lexicon:
        """The labels that words are looked up in."""

    @property
    def mapping(self) -> str:
        """The mapping that is used."""

    @property
    def reads_bulk(self) -> bool:
        """Whether there is `bulk`, without loading it."""

    @property
    def bulk(self) -> BulkReader | None:
        """What reads many queries faster, with the same answers; None where there is no such thing."""

    def read(self, text: str) -> list[ReadClause]:
        """Return the clauses of a query with their units."""


class WordReader:
    """Reads queries by the labels of one taxonomy, as the papers do."""

    def __init__(self, lexicon: Lexicon, mapping: str) -> None:
        self.lexicon = lexicon
        self.mapping = mapping
        self.reads_bulk = False
        self.bulk = None

    def read(self, text: str) -> list[ReadClause]:
        """Return the clauses of a query with their units."""
        find = MAPPINGS[self.mapping]
        read = _with_phrases([(words, "") for words in clauses(text)], self.lexicon)
        return [ReadClause(c, find(c.words, c.classes, c.phrases, self.lexicon)) for c in read]


class LayerReader:
    """Reads queries in layers."""

    def __init__(self, taxonomy: str, mapping: str) -> None:
        """Load what the layers need for a taxonomy, by its name."""
        self.taxonomy = taxonomy
        self.mapping = mapping
        self.tables = _tables(taxonomy, mapping)

    @property
    def lexicon(self) -> Lexicon:
        """The labels of WordNet."""
        return self.tables.lexicon

    def read(self, text: str) -> list[ReadClause]:
        """Return the clauses of a query with their units."""
        read = _with_phrases(clauses_with_sites(text), self.lexicon)
        return [ReadClause(c, units) for c, units in zip(read, find_units(read, self.tables), strict=True)]

    @property
    def reads_bulk(self) -> bool:
        """Whether there are kernels that read queries; these know our vectors alone."""
        return not JIT_OFF and not self.tables.own_vectors

    @cached_property
    def bulk(self) -> BulkReader | None:
        """What reads many queries faster."""
        from querycloak.mapping.bulk import BulkReader

        return BulkReader(self) if self.reads_bulk else None

    def __getstate__(self) -> tuple[str, str]:
        return self.taxonomy, self.mapping

    def __setstate__(self, state: tuple[str, str]) -> None:
        self.taxonomy, self.mapping = state
        self.tables = _tables(*state)


def _tables(taxonomy: str, mapping: str) -> LayerTables:
    from querycloak.knowledge.topic_tree import load_topic_tree
    from querycloak.knowledge.wordnet import load_wordnet
    from querycloak.mapping.layer_tables import LayerTables

    tree = load_wordnet() if taxonomy == "wordnet" else load_topic_tree().taxonomy
    name, vectors = split_mapping(mapping)
    return LayerTables(tree, vectors, guesses=name != "certain")


def reader_of(taxonomy: Taxonomy, mapping: str, lexicon: Lexicon | None) -> Reader:
    """Return what reads queries; a taxonomy that the layers do not know is read by its labels, in segments."""
    from querycloak.mapping.layer_tables import reads_layers
    from querycloak.mapping.lexicon import lexicon_of

    name, _ = split_mapping(mapping)
    if name in LAYERED and lexicon is None and reads_layers(taxonomy):
        return LayerReader(taxonomy.name, mapping)
    return WordReader(lexicon or lexicon_of(taxonomy), "segments" if name in LAYERED else name)


def concepts_in(read: Iterable[ReadClause]) -> tuple[int, ...]:
    """Return one concept per unit, -1 where it has none; at least one."""
    return tuple(unit.concept for _, units in read for unit in units) or (NO_CODE,)


def _with_phrases(found: list[tuple[list[str], str]], lexicon: Lexicon) -> list[Clause]:
    """Add classes and noun phrases to the words of clauses.

    In a query without a noun phrase, the last word that is no stop word and no number counts as one: people also search
    for "swim" and "sexy".
    """
    known = lexicon.words
    out = []
    any_phrase = False
    for texts, site in found:
        words = [known[w] for w in texts]
        classes, phrases = read_classes("".join([word.letter for word in words]))
        out.append(Clause(words, classes, phrases, site))
        any_phrase = any_phrase or bool(phrases)
    if not any_phrase:
        for c in range(len(out) - 1, -1, -1):
            clause = out[c]
            for i in range(len(clause.words) - 1, -1, -1):
                if not clause.words[i].stop and clause.classes[i] != "c":
                    classes = clause.classes[:i] + "n" + clause.classes[i + 1 :]
                    out[c] = clause._replace(classes=classes, phrases=((i, i + 1),))
                    return out
    return out
