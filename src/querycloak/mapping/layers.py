"""The layers in which a query is read, one after the other: what stands first is surest.

1. `site`, `brand`: a web address, the name of a site, a brand, a product or a famous person (`hosts`, `brand_match`);
2. `label`: a label of the taxonomy, in the sense that fits the word and its neighbours best (`lexicon`, `context`);
3. guesses: `name`, a first and a last name; `neighbours`, the concept of the words that are used alike (`neighbours`);
   `address`, what a word in the name of an unknown site says;
4. more guesses: `spelling`, `glued`, a small misspelling, or words without their spaces (`spelling`); `doubtful`, a
   label that the word's use speaks against.

A clause is covered from the left by the longest names and labels, brands before labels of the same length. What is left
of it, nouns that nothing names, is guessed at where guesses are wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.context import choose, sum_of
from querycloak.mapping.modes import Unit, untouched
from querycloak.mapping.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.mapping.layer_tables import LayerTables
    from querycloak.mapping.lexicon import Candidates, Word

__all__ = ["GUESSES", "Clause", "find_units"]

GUESSES: Final = frozenset({"address", "doubtful", "glued", "name", "neighbours", "spelling"})
"""Layers whose answers are guesses."""
LEAST_OF_SITE: Final = 4
"""Letters of the shortest word in the name of a site that may tell what it is about."""
NEAR: Final = 50
"""Words before and after a word, or its clause, that tell what it means: with all of them a long query takes hours."""


class Clause(NamedTuple):
    """The words of a clause, their classes after the rules of context, and its noun phrases."""

    words: Sequence[Word]
    classes: str
    phrases: Sequence[tuple[int, int]]
    host: str = ""
    """the site, where the clause is a web address"""


def find_units(clauses: Sequence[Clause], tables: LayerTables) -> list[list[Unit]]:
    """Return the units of each clause of a query."""
    texts = [word.text for clause in clauses for word in clause.words]
    out = []
    start = 0
    for clause in clauses:
        end = start + len(clause.words)
        around = [*texts[max(0, start - NEAR) : start], *texts[end : end + NEAR]]
        out.append(_of_clause(clause, texts[start:end], around, tables))
        start = end
    return out


def _of_clause(clause: Clause, own: list[str], around: list[str], tables: LayerTables) -> list[Unit]:
    if clause.host:
        site = tables.site(clause.host)
        if site is not None:
            return [Unit(0, len(own), site, "site")]
        if not tables.guesses:
            return [Unit(0, len(own), tables.any_site, "site")]
    units: list[Unit] = []
    at, n = 0, len(own)
    while at < n:
        short = clause.host and len(own[at]) < LEAST_OF_SITE
        unit = None if short else _longest(clause, own, at, around, tables)
        if unit is not None:
            units.append(unit._replace(layer="address") if clause.host else unit)
        at = at + 1 if unit is None else unit.end
    if tables.guesses:
        units = sorted(units + _guessed(clause, units, tables))
    if clause.host and not any(unit.concept != NO_CODE for unit in units):
        return [Unit(0, n, tables.any_site, "site")]
    missed = untouched(clause.phrases, units)
    return sorted(units + missed) if missed else units


def _longest(clause: Clause, own: list[str], at: int, around: list[str], tables: LayerTables) -> Unit | None:
    """Return the unit that begins at a word: the longest name or label, names first; None where nothing names it."""
    brand = tables.brands.longest(own, at, around, NEAR)
    found = None if brand is None else Unit(at, at + brand[0], tables.of_brand(brand[1]), "brand")
    length = 0 if found is None else found.end - at
    own_label = tables.own_label(own, at, length)
    if own_label is not None:
        found, length = Unit(at, at + own_label[0], own_label[1], "label"), own_label[0]
    if clause.words[at].stop:
        return found
    return _label(clause, own, at, length, around, tables) or found


def _label(clause: Clause, own: list[str], at: int, least: int, around: list[str], tables: LayerTables) -> Unit | None:
    """Return the label of WordNet that begins at a word and is longer than what was found already."""
    words, lexicon = clause.words, tables.lexicon
    word = words[at]
    if at + 1 < len(words):
        following = words[at + 1]
        length = min(lexicon.longest.get(f"{word.stem} {following.stem}", 1), len(words) - at)
        while length > max(least, 1):
            found = lexicon.candidates(words[at : at + length])
            if found.senses:
                return _in_sense(found, own, at, at + length, around, tables)
            length -= 1
        if least < 2:
            pair = tables.pair(word, following)
            if pair is not None:
                return Unit(at, at + 2, *pair)
    if least < 1 and clause.classes[at] in "gn":
        found = tables.candidates(word)
        return _in_sense(found, own, at, at + 1, around, tables) if found.senses else None
    return None


def _in_sense(
    found: Candidates, own: list[str], start: int, end: int, around: list[str], tables: LayerTables
) -> Unit | None:
    """Return the unit of a label in the sense that is meant; None for a word that is used for something else."""
    words = own[start:end]
    context = None
    if len(found.senses) > 1 or len(words) == 1:
        beside = (*own[max(0, start - NEAR) : start], *own[end : end + NEAR], *around)
        others = [word for word in beside if word not in STOP_WORDS]
        context = sum_of(tables.vectors, others)
    if len(words) == 1:
        sense = tables.sense(words[0], found, context)
    elif context is None or len(found.senses) == 1:
        sense = found.senses[0]
    else:
        best, _ = choose(tables.neighbourhoods(" ".join(words), found), sum_of(tables.vectors, words), context)
        sense = found.senses[best]
    return None if sense == NO_CODE else Unit(start, end, tables.of_concept(sense), "label")


def _guessed(clause: Clause, units: list[Unit], tables: LayerTables) -> list[Unit]:
    """Return what the nouns that nothing names are probably about."""
    covered = {i for unit in units for i in range(unit.start, unit.end)}
    out = []
    for i, word in enumerate(clause.words):
        if i in covered or word.stop or clause.classes[i] not in "gn":
            continue
        guess = tables.guess_or_doubt(word)
        if guess is not None:
            out.append(Unit(i, i + 1, guess[0], guess[1]))
    return out
