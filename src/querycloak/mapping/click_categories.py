"""Categories of queries, learned from the log's own clicks: for queries whose site nobody clicked.

A query with a click on a listed site has that site's category. From these a ridge regression on the words' vectors
learns which words go with which category, and answers for the other queries, or abstains. It is **learned from the
log**: one person's rows change how another person's are read. So it is never used where differential privacy is
promised, the release's statement says so, and each person has one vote per query, however often it was asked.

>>> from querycloak.knowledge.directory import SiteDirectory
>>> from querycloak.knowledge.vectors import load_vectors
>>> from querycloak.logs.query_log import QueryLog
>>> things = {"guitar": "m", "violin": "m", "piano": "m", "hotel": "t", "flight": "t", "resort": "t"}
>>> asked = [f"{word} {thing}" for word in ("cheap", "best", "new", "old", "used", "nice") * 20 for thing in things]
>>> urls = [f"{things[text.split()[1]]}.example" for text in asked]
>>> log = QueryLog.of([f"user {i // 36}" for i in range(len(asked))], asked, urls=urls)
>>> sites = SiteDirectory.of(["m.example", "t.example"], ["Top/Music", "Top/Travel"])
>>> learned = learn_from_clicks(log, sites, load_vectors())
>>> [sites.taxonomy.label(c) if c >= 0 else None for c in learned.categories(["trumpet lessons", "xqzzt"])]
['Music', None]
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from querycloak.errors import InputError, ParameterError
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping._click_choices import Choice, Examples, decide, learn
from querycloak.mapping._ridge import directions
from querycloak.mapping.categories import query_categories
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.words import clauses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.knowledge.vectors import WordVectors
    from querycloak.logs.query_log import QueryLog

__all__ = ["NO_CLICKS", "ClickCategories", "Learned", "learn_from_clicks", "rows_of", "votes_of"]

PRECISION: Final = 0.6
"""Share of the answers to held-out queries that must be right."""
MOST_EXAMPLES: Final = 400_000
"""Pairs of text and category that are learned from; of more, those with the smallest digest of the text."""
NO_CLICKS: Final = "There is nothing to learn from: the log has no clicked URLs."
_FOLDS: Final = 5
_CHUNK: Final = 1 << 16

Int32s = npt.NDArray[np.int32]


class Learned(NamedTuple):
    """What was learned from, and how good it was on the fifth of the texts that was held out at first."""

    votes: int
    """(user, query) pairs with a category"""
    held_out: int
    """votes of texts that were held out and have a known word"""
    answered: float
    """share of these that got an answer"""
    right: float
    """share of the answers that agree with the click; the threshold was chosen by it"""

    @property
    def says(self) -> str:
        """What was learned, in one sentence."""
        if not self.answered:
            return f"Nothing could be learned from {self.votes:,} clicked queries: no answer was right often enough."
        return (
            f"Categories were learned from {self.votes:,} clicked queries: of those held out, {self.answered:.0%} got "
            f"one, and {self.right:.0%} of these agree with the click."
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClickCategories:
    """Finds the category of a text by its words. Made by `learn_from_clicks`."""

    taxonomy: Taxonomy
    """of the directory"""
    vectors: WordVectors
    learned: Learned
    _choice: Choice | None

    def __repr__(self) -> str:
        return f"ClickCategories({self.learned.votes:,} votes)"

    def categories(self, texts: Sequence[str] | pl.Series) -> Int32s:
        """Return a top category of the taxonomy for each text: int32[len(texts)], -1 = abstains."""
        out = np.full(len(texts), NO_CODE, dtype=np.int32)
        if self._choice is None:
            return out
        given = list(texts)
        for start in range(0, len(given), _CHUNK):
            x, known = rows_of(given[start : start + _CHUNK], self.vectors)
            at = start + np.flatnonzero(known)
            out[at] = decide(x[known], self._choice)
        return out


def learn_from_clicks(
    log: QueryLog, directory: SiteDirectory, vectors: WordVectors, *, precision: float = PRECISION
) -> ClickCategories:
    """Learn which words go with which top category, from the query events with a click on a listed site.

    An answer is given where its score is at least a threshold: the smallest at which `precision` of the answers to
    held-out votes agree with the click. Held out is a fifth of the texts, by a digest of each; in the end all texts are
    learned from. Where no threshold is good enough, no answer is ever given.
    """
    if not 0.0 < precision <= 1.0:
        raise ParameterError.of("precision", "a number above 0 and at most 1", precision)
    if log.url is None:
        raise InputError(NO_CLICKS)
    told, votes = _examples(log, directory, vectors)
    found = learn(told, precision)
    answer = np.full(len(told.x), NO_CODE, dtype=np.int32) if found is None else decide(told.x, found.of_part)
    given = told.held & (answer != NO_CODE)
    asked, answered = int(told.votes[told.held].sum()), int(told.votes[given].sum())
    right = int(told.votes[given & (answer == told.category)].sum())
    figures = Learned(votes, asked, answered / max(1, asked), right / max(1, answered))
    return ClickCategories(directory.taxonomy, vectors, figures, None if found is None else found.of_all)


def votes_of(log: QueryLog, directory: SiteDirectory) -> pl.DataFrame:
    """Return query, top category and votes: one vote per user and query, for what the user clicked most often."""
    found = query_categories(log, directory)
    listed = (found.category != NO_CODE) & (directory.taxonomy.depth[found.category] > 0)
    row, top = found.row[listed], directory.taxonomy.ancestor_at_depth(1)[found.category[listed]]
    clicked = pl.DataFrame({"user": log.user[row], "query": log.query[row], "category": top})
    return (
        clicked.group_by("user", "query", "category")
        .len("times")
        .sort("user", "query", "times", "category", descending=[False, False, True, False])
        .unique(["user", "query"], keep="first")
        .group_by("query", "category")
        .len("votes")
        .with_columns(pl.col("votes").cast(pl.Int64))
        .sort("query", "category")
    )


def _examples(log: QueryLog, directory: SiteDirectory, vectors: WordVectors) -> tuple[Examples, int]:
    """Return the texts with a known word, and the votes for all texts."""
    votes = votes_of(log, directory)
    total = int(votes["votes"].sum())
    texts = log.queries.gather(votes["query"]).to_list()
    mark = np.fromiter(
        (int.from_bytes(blake2b(t.encode(), digest_size=7).digest()) for t in texts), np.int64, len(texts)
    )
    if len(texts) > MOST_EXAMPLES:
        kept = np.sort(np.argsort(mark, kind="stable")[:MOST_EXAMPLES])
        votes, texts, mark = votes[kept], [texts[i] for i in kept.tolist()], mark[kept]
    x, known = rows_of(texts, vectors)
    held = mark % _FOLDS == 0
    category = votes["category"].to_numpy()
    return Examples(x[known], votes["votes"].to_numpy()[known], category[known], held[known]), total


def rows_of(texts: Sequence[str], vectors: WordVectors) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the direction of each text's known words, and whether it has any: whole numbers[n, d + 1], bool[n]."""
    words = [[row for row in map(vectors.words.get, _words(text)) if row is not None] for text in texts]
    size = np.fromiter(map(len, words), np.int64, len(words))
    flat = np.fromiter((row for found in words for row in found), np.int64, int(size.sum()))
    sums = np.zeros((len(texts), vectors.matrix.shape[1]), dtype=np.int64)
    has = np.flatnonzero(size)
    if len(has):
        start = (np.cumsum(size) - size)[has]
        sums[has] = np.add.reduceat(vectors.matrix[flat].astype(np.int64), start, axis=0)
    return directions(sums), np.asarray(np.count_nonzero(sums, axis=1) > 0)


def _words(text: str) -> Iterator[str]:
    return (word for clause in clauses(text) for word in clause if word not in STOP_WORDS)
