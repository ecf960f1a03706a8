"""Topics: disjoint subtrees of a taxonomy, named in a file, in one or two levels.

One topic a line, by label or by path from the root (`entity/abstraction/attribute`); the first sense of a label is
meant. An indented line is a finer topic below the topic above it. Empty lines and lines that begin with # are passed
over.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
>>> find_topic("fruits", food)  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
querycloak.errors.UnknownNameError: There is no concept 'fruits' in the taxonomy taxonomy. The nearest are: ...
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, ParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["PAPER", "PAPER_FINE", "TOPIC_DEPTH", "Topics", "find_topic", "read_topics"]

PAPER = "paper"
"""Name of the topics that come with the package: those of Sánchez et al. (2018), for WordNet."""
PAPER_FINE = "paper-fine"
"""Name of the same topics with the 19 finer ones in the place of the four: domains as fine as profiles."""
TOPIC_DEPTH: Final = 4
"""Depth of the concepts that are topics of a tree without names for them; WordNet's upper three levels say little."""


@dataclass(frozen=True)
class Topics:
    """Topics of a taxonomy, as concepts in ascending order; within each level none is inside another."""

    main: tuple[int, ...]
    fine: tuple[int, ...]
    """the finer topics; a main topic that has none is used itself"""

    def common(self, taxonomy: Taxonomy) -> int:
        """Return the lowest concept above all main topics."""
        return reduce(taxonomy.lca, self.main)


def read_topics(source: str | PathLike[str], taxonomy: Taxonomy) -> Topics:
    """Read a file of topics, or those named `paper` or `paper-fine`; unknown and overlapping ones are refused."""
    if str(source) == PAPER:
        text = files("querycloak.knowledge").joinpath("topics.txt").read_text("utf-8")
        return _parse(text, f"the topics {PAPER!r}", taxonomy)
    if str(source) == PAPER_FINE:
        fine = read_topics(PAPER, taxonomy).fine
        return Topics(fine, fine)
    path = Path(source)
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError.at(path, f"the topics cannot be read ({error.strerror})") from error
    except UnicodeDecodeError:
        raise InputError.at(path, "expected a text file in UTF-8") from None
    return _parse(text, str(path), taxonomy)


def find_topic(name: str, taxonomy: Taxonomy, within: int = 0) -> int:
    """Return the concept of a label (its first sense below `within`) or of a path from the root."""
    first = taxonomy.concept(name)  # refuses an unknown name with the nearest labels
    inside = [c for c in (taxonomy.find(name) or [first]) if taxonomy.covers(within, c)]
    if not inside:
        raise ParameterError(f"The topic {name!r} does not lie below {taxonomy.label(within)!r}.")
    return inside[0]


def _parse(text: str, where: str, taxonomy: Taxonomy) -> Topics:
    main: list[int] = []
    fine: dict[int, list[int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        indented = line[0] in " \t"
        if indented and not main:
            raise InputError.at(where, "a finer topic (indented) comes before any topic", number)
        try:
            concept = find_topic(name, taxonomy, within=main[-1] if indented else 0)
        except (ParameterError, UnknownNameError) as error:
            raise type(error)(f"{where}, line {number}: {error}") from None
        if indented:
            fine[main[-1]].append(concept)
        else:
            main.append(concept)
            fine.setdefault(concept, [])
    if not main:
        raise InputError.at(where, "expected one topic a line, found none")
    _refuse_overlap(main, where, taxonomy)
    finer = [c for topic in main for c in fine[topic] or [topic]]
    _refuse_overlap(finer, where, taxonomy)
    return Topics(tuple(sorted(main)), tuple(sorted(finer)))


def _refuse_overlap(concepts: Sequence[int] | Iterable[int], where: str, taxonomy: Taxonomy) -> None:
    for above, below in pairwise(sorted(concepts)):
        if taxonomy.covers(above, below):
            same = "is named twice" if above == below else f"is inside {taxonomy.label(above)!r}"
            raise ParameterError(f"{where}: topics must not overlap, and {taxonomy.label(below)!r} {same}.")
