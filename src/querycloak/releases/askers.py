"""Askers: who of the original log asked a published text.

A text counts as asked by everybody who asked it as a whole query; if nobody did, by everybody with a query that holds
its words one after the other; if there is none, and it is a label of the taxonomy, by everybody with a query that means
it: whose concept is at or below one of the concepts of the label. Items of a generalized release are looked up by their
path; an item whose text is no label of its path is a text like others. Texts are compared in lower case, without spaces
at the ends, runs of spaces as one. What is in none of these ways a text of the log is looked up in other spelling, and
by words that one person alone asked (`_respelled.py`).

**Public knowledge.** A method with a pure epsilon cannot take a text from the log: whether the text is published at all
would tell that somebody asked it. What it publishes that is a label of the taxonomy, or several joined by spaces, is
drawn from the taxonomy, with noise. That it happens to be the query of one person says nothing about that person, so it
is marked `public`, and is not looked up as a whole query. A method with a delta above 0 does publish queries of the
log, and gets no such mark.

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
from querycloak.releases._askers_kernels import count_people, find_runs
from querycloak.releases._meanings import Meanings
from querycloak.releases._respelled import find_respelled

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["ASKED", "HELD", "MEANT", "NOBODY", "UNKNOWN", "Askers", "compared", "find_askers"]

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
        asked_by = _users_of(log)
        users = asked_by.take(queries.values)
        text = np.repeat(queries.owner, asked_by.lengths[queries.values])
        return CountedRows.of(text, users.values, queries.rows).uncounted


def find_askers(log: QueryLog, release: Release, *, concepts: ConceptLog, taxonomy: Taxonomy) -> Askers:
    """Find the queries of the original log behind every text of a release; `concepts` are those of the log."""
    texts = compared(release.log.queries)
    n = len(texts)
    meanings = Meanings(concepts, taxonomy)
    public = np.zeros(n, dtype=np.bool_)
    labelled: dict[int, npt.NDArray[np.int32]] = {}  # text → queries that mean it
    pure = _is_pure(release)
    if pure:
        joined = release.statement.settings.get("rebuild", "label") == "label"  # else words of the log are among them
        labelled = meanings.of_texts(texts, np.arange(n), joined=joined)
        public[list(labelled)] = True
    if release.holds_concepts:
        labelled = meanings.of_items(release, texts)
    users_of = _users_of(log)
    queries, how = _of_queries(log, texts, labelled, meanings, users_of)
    people = count_people(queries, users_of, len(log.users))
    return Askers(queries, people, how.astype(np.int8), public)


def compared(texts: pl.Series) -> pl.Series:
    """Return texts as they are compared: lower case, no spaces at the ends, runs of spaces as one.

    >>> import polars as pl
    >>> compared(pl.Series(["  Green   TEA "])).to_list()
    ['green tea']
    """
    return texts.str.to_lowercase().str.replace_all(r"[\s\x1c-\x1f]+", " ").str.strip_chars(" ")


def _is_pure(release: Release) -> bool:
    """Tell whether a release states differential privacy without a delta."""
    parameters = release.statement.parameters
    return "epsilon" in parameters and not parameters.get("delta", 0.0)


def _of_queries(
    log: QueryLog, texts: pl.Series, labelled: dict[int, npt.NDArray[np.int32]], meanings: Meanings, users_of: Ragged
) -> tuple[Ragged, npt.NDArray[np.int64]]:
    """Find the queries of each text, and how: what is `labelled`, whole queries, runs of words, labels, respelled."""
    n = len(texts)
    how = np.full(n, NOBODY, dtype=np.int64)
    how[list(labelled)] = MEANT
    open_texts = np.flatnonzero(how == NOBODY)
    code = np.unique(log.query[log.query != NO_CODE])  # a vocabulary may hold more than was asked
    queries = compared(log.queries.gather(code))

    whole = _equal(queries, texts.gather(open_texts))
    how[open_texts[whole.lengths > 0]] = ASKED
    held_texts = open_texts[whole.lengths == 0]
    held = _holding(queries, texts.gather(held_texts))
    how[held_texts[held.lengths > 0]] = HELD
    rest = held_texts[held.lengths == 0]
    labelled = {**labelled, **meanings.of_texts(texts, rest, joined=False)}
    how[[t for t in labelled if len(labelled[t])]] = MEANT
    how[[t for t in labelled if not len(labelled[t])]] = NOBODY
    unread = np.array([t for t in rest.tolist() if t not in labelled], dtype=np.int64)
    respelled = find_respelled(queries, texts.gather(unread), users_of.take(code))
    how[unread[respelled.same]] = ASKED
    how[unread[respelled.held]] = HELD
    how[unread[respelled.unknown]] = UNKNOWN

    meant = _rows_of(labelled, n)
    owner = np.concatenate([open_texts[whole.owner], held_texts[held.owner], meant.owner, unread[respelled.owner]])
    value = np.concatenate([code[whole.values], code[held.values], meant.values, code[respelled.query]])
    return Ragged.of(owner, value.astype(np.int32), n), how


def _rows_of(labelled: dict[int, npt.NDArray[np.int32]], n: int) -> Ragged:
    """Lay the queries of some texts out as rows for all n of them."""
    lengths = np.zeros(n, dtype=np.int64)
    for text, found in labelled.items():
        lengths[text] = len(found)
    values = [labelled[text] for text in sorted(labelled)]
    return Ragged(row_starts(lengths), np.concatenate(values) if values else np.zeros(0, dtype=np.int32))


def _equal(queries: pl.Series, texts: pl.Series) -> Ragged:
    """Return, for each text, the indexes of the queries that are equal to it."""
    import polars as pl

    both = pl.concat([queries, texts])
    code = (both.rank("dense").cast(pl.Int64) - 1).to_numpy()
    n = len(queries)
    return Ragged.positions(code[:n], int(code.max(initial=-1)) + 1).take(code[n:])


def _holding(queries: pl.Series, texts: pl.Series) -> Ragged:
    """Return, for each text, the indexes of the queries that hold its words one after the other."""
    import polars as pl

    both = pl.concat([queries, texts])
    split = both.str.split(" ")
    lengths = np.where((both == "").to_numpy(), 0, split.list.len().to_numpy()).astype(np.int64)
    flat = split.explode()
    code = (flat.filter(flat != "").rank("dense").cast(pl.Int64) - 1).to_numpy().astype(np.int32)
    start = row_starts(lengths)
    middle = start[len(queries)]
    words = Ragged(start[: len(queries) + 1], code[:middle])
    asked = Ragged(start[len(queries) :] - middle, code[middle:])
    occurrences = Ragged.positions(words.values, int(code.max(initial=-1)) + 1)
    owner = words.owner.astype(np.int32)
    count = find_runs(asked, words, owner, occurrences, np.zeros(0, dtype=np.int32))
    found = np.zeros(int(count.sum()), dtype=np.int32)
    find_runs(asked, words, owner, occurrences, found)
    return Ragged(row_starts(count), found)


def _users_of(log: QueryLog) -> Ragged:
    """Return the distinct users of each query of the log."""
    asked = log.query != NO_CODE
    return CountedRows.of(log.query[asked], log.user[asked], len(log.queries)).uncounted
