"""From the words of a clause to its units: two ways to read a noun phrase.

`phrases` is the papers' way (Batet et al. 2013, section 4.1.2, step 3; Sánchez et al. 2018, section 3.4): a phrase is
one unit, and words are dropped from its left until a label matches. `segments` covers the clause by the longest
labels from the left: a phrase may give several units, and a label may reach over stop words ("statue of liberty").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from querycloak.mapping.lexicon import Lexicon, Word

__all__ = [
    "DEFAULT_MAPPING",
    "LAYERED",
    "MAPPINGS",
    "Unit",
    "check_mapping",
    "mapping_of_statement",
    "split_mapping",
    "stated_mapping",
    "untouched",
]

DEFAULT_MAPPING: Final = "layers"
LAYERED: Final = ("layers", "certain")
"""Mappings that read in layers (`layers`); `certain` without guesses. A file of vectors may follow a colon."""


_WITH_VECTORS: Final = ", vectors "
_DIGITS: Final = 16


class Unit(NamedTuple):
    """A semantic unit: words start .. end - 1 of a clause, and their concept."""

    start: int
    end: int
    concept: int
    """-1 = the phrase has no concept"""
    layer: str = ""
    """what found it, see `layers`; empty for the papers' mappings"""


def by_phrases(words: Sequence[Word], classes: str, phrases: Sequence[tuple[int, int]], lexicon: Lexicon) -> list[Unit]:
    """Return one unit per phrase: the longest end of it, without stop words, that is a label."""
    del classes
    longest = lexicon.longest
    units = []
    for start, end in phrases:
        content = [i for i in range(start, end) if not words[i].stop]
        unit = Unit(start, end, NO_CODE)
        for left, i in enumerate(content):
            size = len(content) - left
            if size > 1 and longest.get(f"{words[i].stem} {words[content[left + 1]].stem}", 0) < size:
                continue
            concept = lexicon.find([words[j] for j in content[left:]])
            if concept != NO_CODE:
                unit = Unit(i, end, concept)
                break
        units.append(unit)
    return units


def by_segments(
    words: Sequence[Word], classes: str, phrases: Sequence[tuple[int, int]], lexicon: Lexicon
) -> list[Unit]:
    """Return one unit per label that covers words, the longest from the left, and one per phrase that none touches.

    A label begins with a word that is no stop word. A single word counts only if it is a noun here: the noun
    "free" of WordNet is not what "free software" means.
    """
    units: list[Unit] = []
    longest = lexicon.longest
    n = len(words)
    at = 0
    while at < n:
        word = words[at]
        length = 1
        if not word.stop:
            if at + 1 < n:
                length = min(longest.get(f"{word.stem} {words[at + 1].stem}", 1), n - at)
            while length > 1:
                concept = lexicon.find(words[at : at + length])
                if concept != NO_CODE:
                    units.append(Unit(at, at + length, concept))
                    break
                length -= 1
            if length == 1 and word.concept != NO_CODE and classes[at] in "gn":
                units.append(Unit(at, at + 1, word.concept))
        at += length
    missed = untouched(phrases, units)
    return sorted(units + missed) if missed else units


def untouched(phrases: Sequence[tuple[int, int]], units: list[Unit]) -> list[Unit]:
    """Return a unit without concept for each phrase that no unit touches; both are in order."""
    missed = []
    at = 0
    for start, end in phrases:
        while at < len(units) and units[at].end <= start:
            at += 1
        if at == len(units) or units[at].start >= end:
            missed.append(Unit(start, end, NO_CODE))
    return missed


MAPPINGS: Final[dict[str, Callable[[Sequence[Word], str, Sequence[tuple[int, int]], Lexicon], list[Unit]]]] = {
    "segments": by_segments,
    "phrases": by_phrases,
}


def check_mapping(name: str | None) -> str:
    """Return the name of a mapping, the default for None; one that is not there is refused with the nearest.

    >>> check_mapping("phrase")
    Traceback (most recent call last):
    ...
    querycloak.errors.UnknownNameError: There is no mapping 'phrase'. Did you mean 'phrases'? There are: certain, \
layers, phrases, segments.
    """
    if name is None:
        return DEFAULT_MAPPING
    split_mapping(name)
    return name


def split_mapping(mapping: str) -> tuple[str, str | None]:
    """Return the name of a mapping, and the file of vectors after the colon; None = ours.

    >>> split_mapping("layers:my-vectors.bin"), split_mapping("phrases")
    (('layers', 'my-vectors.bin'), ('phrases', None))
    """
    name, _, vectors = mapping.partition(":")
    if name not in {*LAYERED, *MAPPINGS}:
        raise UnknownNameError.of("mapping", name, [*LAYERED, *MAPPINGS])
    if vectors and name not in LAYERED:
        raise ParameterError(f"The mapping {name!r} uses no vectors; {' and '.join(LAYERED)} do.")
    return name, vectors or None


def stated_mapping(mapping: str) -> str:
    """Return a mapping as statements name it: without the path of a file, which tells about its owner."""
    name, vectors = split_mapping(mapping)
    if vectors is None:
        return name
    from querycloak.knowledge.vectors import load_vectors

    return f"{name}{_WITH_VECTORS}{load_vectors(vectors).digest[:_DIGITS]}"


def mapping_of_statement(stated: str) -> str | None:
    """Return the mapping that a statement names, None where it names none; with vectors of one's own, say so."""
    name, own, digest = stated.partition(_WITH_VECTORS)
    if own:
        raise ParameterError(
            f"The release's queries were read with word vectors of its maker (SHA-256 {digest}…): give that file with "
            f"--vectors (mapping={name + ':FILE'!r}), or choose another --mapping."
        )
    return name or None
