"""Rule `entities`: a query is split into entities, and each of them must be asked by enough people.

An entity is a run of words in which a detector finds an identifier or the name of a person, brought to a standard form,
and for the rest a single word. "call jane miller 555-010-1234" is the word *call*, a name and a phone number, each
judged by itself. Detectors tell of a text whether it holds something, not where: the shortest runs that hold something
are the spans, the left one first, and spans do not overlap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.methods.policy.draft import Draft, Help, counted_people, in_last_days
from querycloak.methods.policy.rule import Rule
from querycloak.methods.policy.rule_identifiers import ALL, holds_kind
from querycloak.settings import setting
from querycloak.texts.compared import compared
from querycloak.texts.identifiers import KINDS
from querycloak.texts.names import find_names, folded_name

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["Entities", "Pieces", "judge_entities", "pieces_of"]

LONGEST_SPAN: Final = 8
"""Words of the longest span: a house number, a street of several words, and what kind of street it is."""
_NO_LETTER: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Entities(Rule):
    """Settings of `entities`."""

    name: ClassVar[str] = "entities"
    required: ClassVar[tuple[str, ...]] = ("people",)

    people: int = setting(1, "so many people must have asked each word", minimum=1)
    span_people: int | None = setting(
        None, "so many people must have asked each name, number or address", minimum=1, shown="as many as for words"
    )
    days: int | None = setting(None, "in so many days before the end of the log", minimum=1, shown="the whole log")
    kinds: tuple[str, ...] = setting((ALL,), "kinds of identifiers that are one entity")
    names: bool = setting(True, "the name of a person is one entity")
    rare: str = setting(
        "drop",
        "a query with an entity that fewer asked: drop = is left out, cut = loses the entity",
        choices=("drop", "cut"),
    )

    def allowed(self, name: str) -> tuple[str, ...] | None:
        """Return the kinds that there are."""
        return (ALL, *KINDS) if name == "kinds" else None


class _Split(NamedTuple):
    """The entities of each distinct query."""

    entity: Ragged
    """int64, codes of entities, in the order of the query"""
    texts: Ragged
    """object, what each entity is in the query, as it is compared"""
    is_span: npt.NDArray[np.bool_]
    """bool[entities]"""


def judge_entities(draft: Draft, rule: Entities, given: Help) -> Draft:
    """Leave out, or cut, queries with an entity that too few people asked."""
    import polars as pl

    split = _split(draft.table.queries, rule, given.taxonomy)
    entities = len(split.is_span)
    counts = in_last_days(draft, rule.days)
    asked = split.entity.take(draft.table.query[counts])
    people = counted_people(asked.values, draft.table.user[counts][asked.owner], entities)
    least = np.where(split.is_span, rule.people if rule.span_people is None else rule.span_people, rule.people)
    enough = (people >= least)[split.entity.values]  # bool, one for each entity of each query
    good = np.bincount(split.entity.owner[enough], minlength=split.entity.rows)
    whole = good == split.entity.lengths
    if rule.rare == "drop":
        return draft.keep(whole[draft.table.query], "entities: a part that too few people asked")
    kept = draft.keep((good > 0)[draft.table.query], "entities: no part that enough people asked")
    rest = Ragged.of(split.texts.owner[enough], split.texts.values[enough], split.entity.rows)
    words = [
        text if is_whole else " ".join(parts)
        for text, is_whole, parts in zip(draft.table.queries.to_list(), whole.tolist(), rest.to_lists(), strict=True)
    ]
    cut = int((~whole[kept.table.query]).sum())
    shown = kept.with_texts(pl.Series(words, dtype=pl.String), cut=cut > 0)
    return shown.count("entities: rows cut to what enough people asked", cut)


def _split(queries: pl.Series, rule: Entities, taxonomy: Taxonomy) -> _Split:
    """Split each distinct query into spans and words, each with a code."""
    found = pieces_of(queries, rule, taxonomy)
    code: dict[tuple[bool, str], int] = {}
    entity = [code.setdefault(key, len(code)) for key in zip(found.is_span, found.key, strict=True)]
    start = Ragged.positions(np.array(found.owner, dtype=np.int64), len(queries)).start
    of = Ragged(start, np.array(entity, dtype=np.int64))
    is_span = np.array([span for span, _ in code], dtype=np.bool_)
    return _Split(of, Ragged(start, np.array(found.shown, dtype=object)), is_span)


class Pieces(NamedTuple):
    """The entities of texts, one after the other; each of these lists has one entry per entity."""

    owner: list[int]
    """which text, ascending"""
    is_span: list[bool]
    """a detector found it; else it is a single word"""
    key: list[str]
    """what it is compared by"""
    shown: list[str]
    """what it is in the text"""


def pieces_of(queries: pl.Series, rule: Entities, taxonomy: Taxonomy) -> Pieces:
    """Split each text into spans and words."""
    texts = [text.split(" ") for text in compared(queries).to_list()]
    marks = _spans(texts, _found(queries, rule, taxonomy), rule, taxonomy)
    out = Pieces([], [], [], [])
    for q, words in enumerate(texts):
        at = 0
        for begin, end in [*marks.get(q, ()), (len(words), len(words))]:
            for word in words[at:begin]:
                _add(out, q, word, word, is_span=False)
            if begin < end:
                span = " ".join(words[begin:end])
                _add(out, q, standard_form(span), span, is_span=True)
            at = end
    return out


def _add(out: Pieces, owner: int, key: str, shown: str, *, is_span: bool) -> None:
    out.owner.append(owner)
    out.is_span.append(is_span)
    out.key.append(key)
    out.shown.append(shown)


def standard_form(span: str) -> str:
    """Return a span without what tells how it was typed.

    >>> standard_form("(555) 010-1234") == standard_form("555.010.1234")
    True
    """
    return _NO_LETTER.sub("", folded_name(span))


def _found(texts: pl.Series, rule: Entities, taxonomy: Taxonomy) -> npt.NDArray[np.bool_]:
    """bool[texts]: a detector finds something."""
    found = holds_kind(texts, rule.kinds)
    if rule.names:
        rest = np.flatnonzero(~found)
        found[rest] = find_names(texts.gather(rest), taxonomy)
    return found


def _spans(
    texts: list[list[str]], found: npt.NDArray[np.bool_], rule: Entities, taxonomy: Taxonomy
) -> dict[int, list[tuple[int, int]]]:
    """Return the spans of the texts in which something was found: (first word, word after the last), ascending.

    All runs of one length are looked at together: one call of the detectors for each length.
    """
    import polars as pl

    marks: dict[int, list[tuple[int, int]]] = {int(q): [] for q in np.flatnonzero(found)}
    for length in range(1, LONGEST_SPAN + 1):
        runs = [
            (q, at)
            for q, taken in marks.items()
            for at in range(len(texts[q]) - length + 1)
            if _is_free(taken, at, at + length)
        ]
        if not runs:
            continue
        words = pl.Series([" ".join(texts[q][at : at + length]) for q, at in runs], dtype=pl.String)
        hit = _found(words, rule, taxonomy)
        for (q, at), is_span in zip(runs, hit.tolist(), strict=True):
            if is_span and _is_free(marks[q], at, at + length):
                marks[q].append((at, at + length))
    return {q: sorted(spans) for q, spans in marks.items()}


def _is_free(taken: list[tuple[int, int]], first: int, last: int) -> bool:
    """Tell whether no span has a word of first .. last - 1."""
    return all(end <= first or last <= begin for begin, end in taken)
