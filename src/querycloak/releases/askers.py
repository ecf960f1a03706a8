"""Askers: who of the original log asked a published text.

A text counts as asked by everybody who asked it as a whole query; if nobody did, by everybody with a query that holds
its words one after the other; if there is none, and it is a label of the taxonomy, by everybody with a query that means
it: whose concept is at or below one of the concepts of the label. Items of a generalized release are looked up by their
path; an item whose text is no label of its path is a text like others. Texts are compared in lower case, without spaces
at the ends, runs of spaces as one. What is in none of these ways a text of the log is looked up in other spelling, and
by words that one person alone asked (`_respelled.py`).

**Parts of queries.** A release whose statement says that texts may be parts of queries publishes phrases, and labels in
brackets. There a text counts as asked by everybody who asked it whole or holds its words one after the other: of whom
of them a row is, nobody can tell. A label in brackets counts as asked by everybody who means it, or typed it so.

**Public knowledge.** A method with a pure epsilon cannot take a text from the log: whether the text is published at all
would tell that somebody asked it. What it publishes that is a label of the taxonomy, or several joined by spaces, is
drawn from the taxonomy, with noise. That it happens to be the query of one person says nothing about that person, so it
is marked `public`, and is not looked up as a whole query. A method with a delta above 0 does publish queries of the
log, and gets no such mark. Where its ids are invented, a label of the taxonomy, or a number, in braces at the end of a
text was drawn, whatever was asked; it is left out before the text is looked up, as a part of queries, and a text that
was nothing else is `public`.

>>> from querycloak.arrays.ragged import Ragged
>>> askers = Askers(Ragged.of_lists([[0], []], np.int32), np.array([1, 0]), np.array([0, 3]), np.zeros(2, np.bool_))
>>> askers.own.tolist()
[True, False]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.arrays.ragged import CountedRows, Ragged, row_starts
from querycloak.logs.query_log import NO_CODE
from querycloak.releases._askers_kernels import count_people
from querycloak.releases._holders import equal_queries, holding_queries, users_of_queries
from querycloak.releases._meanings import Meanings
from querycloak.releases._respelled import find_respelled
from querycloak.texts.compared import compared

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["ASKED", "HELD", "MEANT", "NOBODY", "UNKNOWN", "Askers", "find_askers"]

ASKED: Final = 0
"""The text is a whole query of the log."""
HELD: Final = 1
"""The text is a phrase inside queries of the log."""
MEANT: Final = 2
"""The text is a label of a concept, and queries of the log mean it."""
NOBODY: Final = 3
"""No query of the log is the text, holds it or means it."""
UNKNOWN: Final = 4
"""Like NOBODY, and the text holds words that no query of the log holds: nobody can tell what is behind it."""


@dataclass(frozen=True, eq=False)
class Askers:
    """For each text of a release, the original queries behind it and how many people asked them."""

    queries: Ragged
    """one row per text of `release.log.queries`: codes (into `log.queries`), ascending, of the original queries that
    are the text, hold it, or mean it"""
    people: npt.NDArray[np.int64]
    """int64[texts]: |A(t)|, how many distinct users of the log asked one of them"""
    how: npt.NDArray[np.int8]
    """int8[texts]: ASKED, HELD, MEANT, NOBODY or UNKNOWN"""
    public: npt.NDArray[np.bool_]
    """bool[texts]: drawn from public knowledge under differential privacy: noise names everybody and nobody"""

    @property
    def own(self) -> npt.NDArray[np.bool_]:
        """bool[texts]: exactly one person of the log asked it, and it is not from public knowledge."""
        return np.asarray((self.people == 1) & ~self.public)

    def of_own_texts(self, log: QueryLog) -> npt.NDArray[np.int64]:
        """int64[texts]: the one person who asked each own text, -1 for other texts."""
        asked = log.query != NO_CODE
        someone = np.full(len(log.queries), NO_CODE, dtype=np.int64)  # of an own text there is just one
        someone[log.query[asked]] = log.user[asked]
        out = np.full(len(self.people), NO_CODE, dtype=np.int64)
        out[self.own] = someone[self.queries.values[self.queries.start[:-1][self.own]]]
        return out

    def users(self, log: QueryLog, texts: npt.NDArray[np.integer[Any]] | None = None) -> Ragged:
        """Return the people of the log who asked each text, ascending; of all texts, or of those named, in order."""
        queries = self.queries if texts is None else self.queries.take(texts)
        asked_by = users_of_queries(log)
        users = asked_by.take(queries.values)
        text = np.repeat(queries.owner, asked_by.lengths[queries.values])
        return CountedRows.of(text, users.values, queries.rows).uncounted


def find_askers(log: QueryLog, release: Release, *, concepts: ConceptLog, taxonomy: Taxonomy) -> Askers:
    """Find the queries of the original log behind every text of a release; `concepts` are those of the log."""
    texts = compared(release.log.queries)
    n = len(texts)
    meanings = Meanings(concepts, taxonomy)
    public = np.zeros(n, dtype=np.bool_)
    invented = release.statement.ids == "invented"
    if invented:
        texts = _without_drawn(texts, taxonomy)
        public = (texts == "").to_numpy()
    labelled: dict[int, npt.NDArray[np.int32]] = {}  # text → queries that mean it
    pure = _is_pure(release)
    if pure:
        joined = release.statement.settings.get("rebuild", "label") == "label"  # else words of the log are among them
        labelled = meanings.of_texts(texts, np.arange(n), joined=joined)
        public[list(labelled)] = True
    if release.holds_concepts:
        labelled = meanings.of_items(release, texts)
    parts = release.statement.parts
    if parts:
        labelled = _bracketed(log, texts, meanings)
    users_of = users_of_queries(log)
    queries, how = _of_queries(log, texts, labelled, meanings, users_of, parts=parts or invented)
    people = count_people(queries, users_of, len(log.users))
    return Askers(queries, people, how.astype(np.int8), public)


def _without_drawn(texts: pl.Series, taxonomy: Taxonomy) -> pl.Series:
    """Leave out what an invented text has in braces at its end, if that is a label of the taxonomy or -number."""
    import polars as pl

    labels = compared(pl.Series([label for some in taxonomy.labels for label in some], dtype=pl.String)).unique()
    drawn = texts.str.extract(r"\{([^{}]+)\}$")
    is_drawn = drawn.is_in(labels.implode()) | drawn.str.contains(r"^-\d{1,6}$")
    left = texts.str.replace(r" ?\{[^{}]+\}$", "")
    return pl.select(pl.when(is_drawn.fill_null(value=False)).then(left).otherwise(texts)).to_series()


def _bracketed(log: QueryLog, texts: pl.Series, meanings: Meanings) -> dict[int, npt.NDArray[np.int32]]:
    """Return the queries of the texts that are labels in brackets: those that mean the label, and that are the text."""
    found = meanings.of_bracketed(texts)
    which = np.array(sorted(found), dtype=np.int64)
    code = np.unique(log.query[log.query != NO_CODE])
    typed = equal_queries(compared(log.queries.gather(code)), texts.gather(which))
    return {t: np.union1d(found[t], code[typed.row(i)]) for i, t in enumerate(which.tolist())}


def _is_pure(release: Release) -> bool:
    """Tell whether a release states differential privacy without a delta."""
    parameters = release.statement.parameters
    return "epsilon" in parameters and not parameters.get("delta", 0.0)


def _of_queries(
    log: QueryLog,
    texts: pl.Series,
    labelled: dict[int, npt.NDArray[np.int32]],
    meanings: Meanings,
    users_of: Ragged,
    *,
    parts: bool,
) -> tuple[Ragged, npt.NDArray[np.int64]]:
    """Find the queries of each text, and how: what is `labelled`, whole queries, runs of words, labels, respelled.

    With `parts`, queries that hold a text are behind it also where others are the text.
    """
    n = len(texts)
    how = np.full(n, NOBODY, dtype=np.int64)
    how[list(labelled)] = MEANT
    open_texts = np.flatnonzero(how == NOBODY)
    code = np.unique(log.query[log.query != NO_CODE])  # a vocabulary may hold more than was asked
    queries = compared(log.queries.gather(code))

    whole = equal_queries(queries, texts.gather(open_texts))
    how[open_texts[whole.lengths > 0]] = ASKED
    held_texts = open_texts if parts else open_texts[whole.lengths == 0]
    held = holding_queries(queries, texts.gather(held_texts))
    only_whole = np.ones(len(whole.values), dtype=np.bool_)
    if parts:  # a query that is the text holds it, too, but where the text is empty
        only_whole = held.lengths[whole.owner] == 0
    how[held_texts[(held.lengths > 0) & (how[held_texts] == NOBODY)]] = HELD
    rest = held_texts[(held.lengths == 0) & (how[held_texts] == NOBODY)]
    labelled = {**labelled, **meanings.of_texts(texts, rest, joined=False)}
    how[[t for t in labelled if len(labelled[t])]] = MEANT
    how[[t for t in labelled if not len(labelled[t])]] = NOBODY
    unread = np.array([t for t in rest.tolist() if t not in labelled], dtype=np.int64)
    respelled = find_respelled(queries, texts.gather(unread), users_of.take(code))
    how[unread[respelled.same]] = ASKED
    how[unread[respelled.held]] = HELD
    how[unread[respelled.unknown]] = UNKNOWN

    meant = _rows_of(labelled, n)
    asked_whole = open_texts[whole.owner[only_whole]], code[whole.values[only_whole]]
    owner = np.concatenate([asked_whole[0], held_texts[held.owner], meant.owner, unread[respelled.owner]])
    value = np.concatenate([asked_whole[1], code[held.values], meant.values, code[respelled.query]])
    return Ragged.of(owner, value.astype(np.int32), n), how


def _rows_of(labelled: dict[int, npt.NDArray[np.int32]], n: int) -> Ragged:
    """Lay the queries of some texts out as rows for all n of them."""
    lengths = np.zeros(n, dtype=np.int64)
    for text, found in labelled.items():
        lengths[text] = len(found)
    values = [labelled[text] for text in sorted(labelled)]
    return Ragged(row_starts(lengths), np.concatenate(values) if values else np.zeros(0, dtype=np.int32))
