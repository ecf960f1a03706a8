"""What happened to a query on its way to concepts, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.layers import GUESSES

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.lexicon import Lexicon, Word
    from querycloak.mapping.modes import Unit

__all__ = ["ClauseTrace", "Trace"]

REASONS: Final = {
    "site": "by its web address",
    "brand": "by the table of brands, sites and names",
    "label": "by its label, in the sense that fits best",
    "address": "by a word of its web address",
    "name": "a first and a last name",
    "neighbours": "by the words that are used alike",
    "spelling": "by a word one letter apart",
    "glued": "by the words that are glued together",
    "doubtful": "by its label, which its use speaks against",
}
"""What each layer says of a unit."""


@dataclass(frozen=True)
class ClauseTrace:
    """The steps of one clause."""

    words: tuple[Word, ...]
    classes: str
    """one letter per word, after the rules of context; see `phrases`"""
    phrases: tuple[tuple[int, int], ...]
    """start and end of each noun phrase"""
    units: tuple[Unit, ...]

    def text(self, start: int, end: int) -> str:
        """Return the words from start to end as text."""
        return " ".join(word.text for word in self.words[start:end])

    def content(self, start: int, end: int) -> list[Word]:
        """Return the words from start to end that are no stop words."""
        return [word for word in self.words[start:end] if not word.stop]

    def dropped(self) -> list[str]:
        """Return the words, other than stop words, that no concept covers."""
        covered = {i for unit in self.units if unit.concept != NO_CODE for i in range(unit.start, unit.end)}
        return [word.text for i, word in enumerate(self.words) if i not in covered and not word.stop]


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """All steps of a query."""

    query: str
    mapping: str
    clauses: tuple[ClauseTrace, ...]
    taxonomy: Taxonomy
    lexicon: Lexicon
    category: int = NO_CODE
    """concept of the site whose address the query is; -1 = it is not the address of a listed site"""

    @property
    def site(self) -> str | None:
        """The site whose address the query is."""
        from querycloak.mapping.sites import site_of_query

        found = site_of_query(self.query)
        return None if found is None else found.site

    @property
    def concepts(self) -> tuple[int, ...]:
        """One concept per unit, -1 where it has none; at least one."""
        if self.category != NO_CODE:
            return (self.category,)
        return tuple(unit.concept for clause in self.clauses for unit in clause.units) or (NO_CODE,)

    @property
    def phrases(self) -> list[str]:
        """The noun phrases as text."""
        return [clause.text(*phrase) for clause in self.clauses for phrase in clause.phrases]

    @property
    def units(self) -> list[tuple[str, int]]:
        """The words of each unit, and its concept."""
        return [(clause.text(u.start, u.end), u.concept) for clause in self.clauses for u in clause.units]

    @property
    def labels(self) -> list[str]:
        """The preferred label of each concept found."""
        return [self.taxonomy.label(c) for c in self.concepts if c != NO_CODE]

    @property
    def dropped(self) -> list[str]:
        """The words, other than stop words, that no concept covers."""
        return [word for clause in self.clauses for word in clause.dropped()]

    def explain(self) -> list[tuple[str, list[str]]]:
        """Return the steps as (title, lines)."""
        phrases = [(clause, start, end) for clause in self.clauses for start, end in clause.phrases]
        kept = [clause.content(start, end) for clause, start, end in phrases]
        site = self._site()
        return [
            *([("site", site)] if site else []),
            ("words", [clause.text(0, len(clause.words)) for clause in self.clauses]),
            ("tags", [" ".join(f"{word.text}/{word.tag}" for word in clause.words) for clause in self.clauses]),
            ("noun phrases", self.phrases),
            ("without stop words", [" ".join(word.text for word in words) for words in kept]),
            ("stems", [" ".join(word.stem for word in words) for words in kept]),
            (f"concepts ({self.mapping})", [line for clause in self.clauses for line in self._matches(clause)]),
            ("dropped words", [" ".join(self.dropped)] if self.dropped else []),
        ]

    def _site(self) -> list[str]:
        if self.site is None:
            return []
        if self.category == NO_CODE:
            return [self.site]
        return [f"{self.site} → {self.taxonomy.path(self.category, ' / ')} (instead of its words)"]

    def _matches(self, clause: ClauseTrace) -> list[str]:
        lines = []
        for unit in clause.units:
            text = clause.text(unit.start, unit.end)
            if unit.concept == NO_CODE:
                lines.append(f"{text or self.query} → no concept")
            elif unit.layer:
                reason = f"{REASONS[unit.layer]}, {'a guess' if unit.layer in GUESSES else 'certain'}"
                lines.append(f"{text or self.query} → {self.taxonomy.path(unit.concept, ' / ')} ({reason})")
            else:
                words = clause.words[unit.start : unit.end]
                how = self.lexicon.how(words) or self.lexicon.how(clause.content(unit.start, unit.end))
                lines.append(f"{text} → {self.taxonomy.path(unit.concept, ' / ')} (by {how})")
        return lines
