"""The last step: which rows a group publishes, and which text each of them is. The same for all five methods.

**Rows.** A group of `size` users that asked n query events publishes round(n / size) rows, each made from one event of
a member. Events are put in the order of what they are about, and they are taken at equal distances, from a random first
one on: each event is taken with the same chance, none twice, and every topic keeps its share of the rows to within one
row. Events of which nothing may be published are passed over first, so that others fill their rows.

**Texts.** An event is about one of its concepts, drawn at random. Its text is the first of these that there is:

1. its query, where m people asked it whole
2. a query or a phrase of the log about the same or something near, that m people share, by how often it was asked
3. the label of the concept, or of an ancestor, that the queries of m people mean

Near are the concepts below the same ancestor NEAR levels up, none above depth LEAST_DEPTH. A phrase is about a concept
if at least half of the events with this phrase are, and if it does not mean something else where it is read alone.

A query without a concept is a concept of its own: its text is the query or its phrase. Where a query has concepts and
no text is about one of them, nothing of it is published: "free" says nothing about somebody who looked for free seeds.

Every text is one that at least m people share; `Entries.row` says from which event of the log it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import row_starts
from querycloak.logs.query_log import NO_CODE
from querycloak.texts.phrases import LABEL, LEAST_DEPTH, NOTHING, PHRASE, QUERY, as_label, clear_name

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.randomness import Randomness
    from querycloak.texts.phrases import SharedTexts

__all__ = ["Asked", "Entries", "draw_entries", "own_concepts", "take_evenly"]

Ints = npt.NDArray[np.integer[Any]]
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NEAR: Final = 3
"""Levels of the taxonomy: texts about anything below the ancestor so far up may stand for a query."""


@dataclass(frozen=True, eq=False)
class Asked:
    """The query events of the grouped users, and what they are about."""

    row: Int64s
    """int64[n], first row of each event in the log"""
    query: Ints
    """int[n], code of the text"""
    group: Ints
    """int[n], group of the user"""
    unit_event: Int64s
    """int64[units], index of an event; one entry per (event, concept)"""
    unit_concept: Int64s
    """int64[units]"""


@dataclass(frozen=True, eq=False)
class Entries:
    """What the groups publish."""

    group: Int64s
    """int64[m]"""
    text: Int64s
    """int64[m], into `words`"""
    kind: npt.NDArray[np.int8]
    """int8[m]: QUERY, PHRASE or LABEL"""
    row: Int64s
    """int64[m], the row of the log that the text is from"""
    words: pl.Series
    """vocabulary"""


def draw_entries(asked: Asked, size: Int64s, shared: SharedTexts, taxonomy: Taxonomy, random: Randomness) -> Entries:
    """Draw the rows that each group publishes; `size` is int64[groups]."""
    text, kind = shared.text[asked.query], shared.kind[asked.query]
    fit = (kind[asked.unit_event] == QUERY) | _phrase_is_about(asked, text, kind, shared.words, taxonomy)
    near = _near(taxonomy)
    has_text = np.zeros(len(taxonomy), dtype=np.bool_)  # of the ancestors that stand for what is near
    has_text[near[asked.unit_concept[fit]]] = True

    possible = np.flatnonzero(has_text[near[asked.unit_concept]] | (shared.label[asked.unit_concept] >= 0))
    drawn = _one_of_equal(asked.unit_event[possible], np.arange(len(text)), random.child("concepts"))
    about = np.full(len(text), NO_CODE, dtype=np.int64)
    about[drawn >= 0] = asked.unit_concept[possible[drawn[drawn >= 0]]]

    may = kind != NOTHING
    may[asked.unit_event] = False  # of a query with concepts, only a text about one of them
    may |= about >= 0
    own, _ = own_concepts(asked.query, about, shared, len(taxonomy))
    taken = take_evenly(asked.group, own, text, may, size, random)

    about, source = about[taken], taken.copy()  # source: the event whose text is published
    replaced = (about >= 0) & (kind[taken] != QUERY)
    rest = np.flatnonzero(replaced & has_text[near[about]])
    one = _one_of_equal(near[asked.unit_concept[fit]], near[about[rest]], random.child("texts"))
    source[rest] = asked.unit_event[fit][one]
    named = np.where(replaced & ~has_text[near[about]], shared.label[about], NO_CODE)
    words, text, kind = _with_labels(shared, text[source], kind[source], named, taxonomy)
    return Entries(asked.group[taken].astype(np.int64), text, kind, asked.row[source], words)


def take_evenly(group: Ints, about: Int64s, text: Int64s, may: Bools, size: Int64s, random: Randomness) -> Int64s:
    """Take round(events / size) events of each group, of those that may be published: indexes, group after group.

    Where fewer may be published than are to be taken, all are. With a events that may be taken, n to take, and a
    random whole number r below a, event (i a + r) // n is taken for i = 0 .. n - 1: exact, and the same chance for all.
    """
    index = np.flatnonzero(may)
    available = np.bincount(group[index], minlength=len(size))
    asked = np.bincount(group, minlength=len(size))
    target = np.minimum((2 * asked + size) // (2 * size), available)
    ties = random.child("order").words(len(index))
    order = index[np.lexsort((ties, text[index], about[index], group[index]))]
    shift = (random.child("first").uniform(len(size)) * available).astype(np.int64)
    owner = np.repeat(np.arange(len(size)), target)
    nth = np.arange(len(owner)) - row_starts(target)[owner]
    slot = (nth * available[owner] + shift[owner]) // target[owner]
    return np.asarray(order[row_starts(available)[owner] + slot], dtype=np.int64)


def own_concepts(query: Ints, about: Int64s, shared: SharedTexts, first: int) -> tuple[Int64s, int]:
    """Make the queries that are about nothing (-1) concepts of their own: int64[events], and how many there are.

    Queries with the same shared text are about the same; a query that has none is about itself. They are numbered from
    `first`, after the concepts.
    """
    out = about.copy()
    none = np.flatnonzero(about < 0)
    text = shared.text[query[none]]
    key = np.where(text >= 0, text, len(shared.words) + query[none].astype(np.int64))
    known, code = np.unique(key, return_inverse=True)
    out[none] = first + code
    return out, len(known)


def _near(taxonomy: Taxonomy) -> Int64s:
    """int64[taxonomy]: the ancestor that stands for all concepts near each, at most NEAR levels up."""
    out = np.arange(len(taxonomy))
    for _ in range(NEAR):
        above = taxonomy.parent[out]
        out = np.where(taxonomy.depth[out] > LEAST_DEPTH, above, out)
    return out


def _phrase_is_about(
    asked: Asked, text: Int64s, kind: npt.NDArray[np.int8], words: pl.Series, taxonomy: Taxonomy
) -> Bools:
    """bool[units]: what is published of the unit's event is a phrase about the unit's concept.

    Of the events that have this text, at least half have the concept; and if the text is a label, its first sense is of
    the same topic: people ask for a "bad cold", and "bad" alone is no disease.
    """
    width = len(words)
    of_unit = text[asked.unit_event]
    phrase = kind[asked.unit_event] == PHRASE
    pair = asked.unit_concept * width + of_unit
    once, _ = np.unique(np.stack([pair[phrase], asked.unit_event[phrase]]), axis=1)  # a concept may be twice in it
    pairs, events = np.unique(once, return_counts=True)
    total = np.bincount(text[kind == PHRASE], minlength=width)
    alone = np.array([taxonomy.first_sense.get(word.lower(), NO_CODE) for word in words.to_list()], dtype=np.int64)
    topic = taxonomy.ancestor_at_depth(LEAST_DEPTH - 1)
    out = np.zeros(len(pair), dtype=np.bool_)
    often = 2 * events[np.searchsorted(pairs, pair[phrase])] >= total[of_unit[phrase]]
    meant = alone[of_unit[phrase]]
    out[phrase] = often & ((meant < 0) | (topic[meant] == topic[asked.unit_concept[phrase]]))
    return out


def _with_labels(
    shared: SharedTexts, text: Int64s, kind: npt.NDArray[np.int8], named: Int64s, taxonomy: Taxonomy
) -> tuple[pl.Series, Int64s, npt.NDArray[np.int8]]:
    """Put labels in place of some texts; `named` is int64[n], concepts, -1 = the text stays."""
    import polars as pl

    which = np.flatnonzero(named >= 0)
    concepts, code = np.unique(named[which], return_inverse=True)
    labels = pl.Series(
        [as_label(clear_name(taxonomy, c) or taxonomy.label(c)) for c in concepts.tolist()], dtype=pl.String
    )
    words = pl.concat([shared.words, labels])  # a label may be among the words, or come twice: one text has one code
    first = words.to_frame("text").with_row_index("code").select(pl.col("code").min().over("text")).to_series()
    new_text, new_kind = text.copy(), kind.copy()
    new_text[which] = first.to_numpy().astype(np.int64)[len(shared.words) + code]
    new_kind[which] = LABEL
    return words, new_text, new_kind


def _one_of_equal(keys: Int64s, wanted: Int64s, random: Randomness) -> Int64s:
    """Draw, for each wanted key, one of the indexes at which it is, all alike: int64[wanted]; -1: none."""
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], wanted)
    many = np.searchsorted(keys[order], wanted, side="right") - first
    pick = first + (random.uniform(len(wanted)) * many).astype(np.int64)
    out = np.full(len(wanted), -1, dtype=np.int64)
    out[many > 0] = order[pick[many > 0]]
    return out
