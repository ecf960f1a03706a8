"""Pairs of small neighbouring logs that are hard for a method: they differ in one user, as its relation says.

| relation | the two logs |
|---|---|
| one user more or fewer | `with` has a user whom `without` does not have |
| one user's log replaced | the same users; one of them has another log |
| one user's log against an empty one | the same users; one of them has nothing in the second log |

Each pair is a case in which methods have been wrong: a user in between the clicks of others, one who repeats a text or
holds many, the one whose asking makes a text frequent enough, a text or a concept that nobody else has. All texts are
made up. How many people ask the popular texts (`crowd`) is found by running the method: as many as make it undecided
whether a text is published, and twice as many where its count matters.
"""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - for the dataclass
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.releases.account import ADD_REMOVE, EMPTY, REPLACE, Relation

__all__ = ["POPULAR", "Pair", "Sides", "crowd_log", "pairs_for", "small_taxonomy"]

POPULAR: Final = ("tea", "coffee", "violin", "piano", "river", "train", "bridge", "garden", "lamp", "window")
"""What the crowd asks; the first four are concepts of the audit's taxonomy."""
_CONCEPTS: Final = POPULAR[:4]
_NO_CONCEPT: Final = "qzxvw"
_UNIQUE: Final = "zebra"
_START: Final = 1_141_171_200
_SITES: Final = ("http://a.example", "http://b.example")
_TARGET: Final = "target"

Row = tuple[str, str, int, str | None]
"""user, text, time, URL"""
Crowd = Literal["few", "undecided", "sure"]


class Sides(NamedTuple):
    """Two neighbouring logs."""

    with_user: QueryLog
    """the log that has the user, or the first of two logs of the user"""
    without: QueryLog
    """the log without the user, or the one in which the user has another log"""


@dataclass(frozen=True)
class Pair:
    """A pair of neighbouring logs, and why it is there."""

    name: str
    what: str
    """one line: how the user differs"""
    build: Callable[[int], tuple[list[Row], list[Row]]]
    """size of the crowd → the rows of both logs"""
    crowd: Crowd = "few"
    texts: int = 1
    """popular texts that each of the crowd asks"""

    def sides(self, people: int) -> Sides:
        """Build the two logs around a crowd of so many people."""
        return Sides(*(_log(rows) for rows in self.build(people)))


def small_taxonomy() -> Taxonomy:
    """Return a tree of seven concepts: the fewer there are, the more visible is one of them."""
    labels = [["thing"], ["drink"], ["tea"], ["coffee"], ["instrument"], ["violin"], ["piano"]]
    return Taxonomy.from_parents([-1, 0, 1, 1, 0, 4, 4], labels, name="seven concepts of the audit")


def crowd_log(people: int, texts: int) -> QueryLog:
    """Return a log in which so many people ask the first popular texts, once each."""
    return _log(_crowd(people, texts))


def pairs_for(relation: Relation) -> tuple[Pair, ...]:
    """Return the pairs of a neighbouring relation; none for one that is not about a whole user."""
    if relation == ADD_REMOVE:
        return _ADDED
    if relation == EMPTY:
        return tuple(_emptied(pair) for pair in _REPLACED)
    return _REPLACED if relation == REPLACE else ()


def _log(rows: list[Row]) -> QueryLog:
    user, text, time, url = (list(column) for column in zip(*rows, strict=True))
    return QueryLog.of(user, text, times=time, urls=url)


def _crowd(people: int, texts: int = 1) -> list[Row]:
    return [(f"u{i}", text, _START + 60 * i + j, None) for i in range(people) for j, text in enumerate(POPULAR[:texts])]


def _asks(*texts: str, times: int = 1, step: int = 1) -> list[Row]:
    """Return the rows of the target: each text so often, `step` seconds apart, without a click."""
    return [(_TARGET, text, _START + step * i, None) for i, text in enumerate(list(texts) * times)]


def _added(rows: list[Row], *, texts: int = 1, first: bool = False) -> Callable[[int], tuple[list[Row], list[Row]]]:
    """Return what builds a crowd with the target and without."""

    def build(people: int) -> tuple[list[Row], list[Row]]:
        others = _crowd(people, texts)
        return (rows + others if first else others + rows), others

    return build


def _other_form(people: int) -> tuple[list[Row], list[Row]]:
    """Build a crowd whose ids are numbers, with the target, whose id is a word, and without."""
    others = [(f"{1000 + i}", text, time, url) for i, (_, text, time, url) in enumerate(_crowd(people))]
    return others + _asks("tea"), others


def _in_between(people: int, *, replace: bool = False) -> tuple[list[Row], list[Row]]:
    """Build two-click searches of others, with a row of the target at the same second in between each pair."""
    with_user: list[Row] = []
    without: list[Row] = []
    for i in range(people):
        a, b = ((f"u{i}", "tea", _START + i, site) for site in _SITES)
        with_user += [a, (_TARGET, "tea", _START + i, _SITES[0]), b]
        without += [a, b]
    return with_user, [*without, *(_asks("tea") if replace else [])]


def _two_clicks(number: int) -> list[Row]:
    return [(_TARGET, "tea", _START + i, site) for i in range(number) for site in _SITES]


def _replaced(one: list[Row], other: list[Row], *, alone: bool = False) -> Callable[[int], tuple[list[Row], list[Row]]]:
    """Return what builds two logs of the target, among others or alone."""

    def build(people: int) -> tuple[list[Row], list[Row]]:
        others = [] if alone else _crowd(people)
        return others + one, others + other

    return build


def _emptied(pair: Pair) -> Pair:
    """Return a pair whose second log holds nothing of the target: two logs of something may cost twice the claim.

    That the target is there is public, so one row stays, of a text that means nothing.
    """

    def build(people: int) -> tuple[list[Row], list[Row]]:
        one, other = pair.build(people)
        return one, [row for row in other if row[0] != _TARGET] + _asks(_NO_CONCEPT)

    return replace(pair, what=f"{pair.what}; in the second log, nothing", build=build)


_MANY: Final = [f"word{i:02}" for i in range(40)]

_ADDED: Final = (
    Pair("one more asker", "asks what is asked almost often enough", _added(_asks("tea")), "undecided"),
    Pair("one count", "asks what is published anyway", _added(_asks("tea")), "sure"),
    Pair("repeats", "asks one text 60 times", _added(_asks("tea", times=60)), "sure"),
    Pair("popular texts", "asks ten texts that are published anyway", _added(_asks(*POPULAR), texts=10), "sure", 10),
    Pair(
        "popular texts, undecided",
        "asks ten texts that are asked almost often enough",
        _added(_asks(*POPULAR), texts=10),
        "undecided",
        10,
    ),
    Pair(
        "one of ten texts",
        "asks one of ten texts that are published anyway",
        _added(_asks("tea"), texts=10),
        "sure",
        10,
    ),
    Pair("unique text", "asks what nobody else asks", _added(_asks(_UNIQUE))),
    Pair("many unique texts", "asks 40 texts that nobody else asks", _added(_asks(*_MANY))),
    Pair(
        "clicks in between", "has a row between two clicks of each other user, at the same second", _in_between, "sure"
    ),
    Pair("heavy user", "has 300 searches with two clicks each", _added(_two_clicks(300)), "sure"),
    Pair("no concept", "asks what means nothing", _added(_asks(_NO_CONCEPT))),
    Pair("new concept", "brings a concept that nobody else has", _added(_asks("violin", times=20))),
    Pair("id of another form", "has letters in the id, nobody else has", _other_form, "sure"),
    Pair("first in the file", "comes first, with many texts in one second", _added(_asks(*_MANY, step=0), first=True)),
)

_REPLACED: Final = (
    Pair(
        "another interest",
        "is alone, and asks another concept",
        _replaced(_asks("tea", times=300), _asks("violin", times=300), alone=True),
    ),
    Pair(
        "interest among others",
        "asks another concept, others ask too",
        _replaced(_asks("tea", times=300), _asks("violin", times=300)),
    ),
    Pair(
        "no concept",
        "is alone, and asks what means nothing",
        _replaced(_asks("tea", times=300), _asks(_NO_CONCEPT), alone=True),
    ),
    Pair("length", "asks once, or 300 times", _replaced(_asks("tea"), _asks("tea", times=300), alone=True)),
    Pair(
        "many concepts",
        "asks all concepts, or one",
        _replaced(_asks(*_CONCEPTS, times=75), _asks("tea", times=300), alone=True),
    ),
    Pair("unique text", "asks what nobody else asks", _replaced(_asks(_UNIQUE), _asks("tea"))),
    Pair("new concept", "brings a concept that nobody else has", _replaced(_asks("piano", times=20), _asks("tea"))),
    Pair(
        "clicks in between",
        "has a row between two clicks of each other user, at the same second",
        lambda people: _in_between(people, replace=True),
        "sure",
    ),
    Pair("heavy user", "has 300 searches with two clicks each", _replaced(_two_clicks(300), _asks("coffee"))),
    Pair(
        "same second",
        "asks everything in one second",
        _replaced(_asks(*_MANY, *_CONCEPTS, step=0), _asks(*_MANY, *_CONCEPTS, step=3600)),
    ),
)
