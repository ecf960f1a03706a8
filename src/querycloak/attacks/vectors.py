"""Logs as vectors: TF-IDF over words, over grams of four letters, over whole queries, and over concepts.

A `Space` is one kind of feature. What is known and what is published share its columns, so that they can be compared:
counts are damped by 1 + log, rare features weigh more (inverse document frequency over the published logs), and rows
have length 1, so that the product of two rows is their cosine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.arrays.sparse import Sparse
from querycloak.attacks.grams import code_grams
from querycloak.attacks.matching import code_words

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["Space", "concept_space", "text_spaces"]

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

LOGS_AT_ONCE: Final = 4096
"""Published logs whose features are counted at once, to save memory."""


@dataclass(frozen=True, eq=False)
class Space:
    """One kind of feature, for the queries of a log and for published texts."""

    name: str
    asked: Ragged
    """row q = the features of query q of the log, with repeats"""
    shown: Ragged
    """row t = the features of published text t, with repeats"""
    width: int
    """how many columns there are"""
    idf: Float64s
    """float64[width]"""

    def known_rows(self, known: QueryLog, people: Codes) -> Sparse:
        """Return [people, width]: what is known of each person, one count for each query event."""
        index = np.full(len(known.users), -1, dtype=np.int64)
        index[people] = np.arange(len(people))
        rows = np.flatnonzero(known.event)
        rows = rows[index[known.user[rows]] >= 0]
        return self._weigh(_counts(index[known.user[rows]], known.query[rows], len(people), self.asked, self.width))

    def published_rows(self, published: QueryLog, first: int, end: int) -> Sparse:
        """Return [end - first, width]: the logs of the published users first .. end - 1."""
        rows = np.flatnonzero((published.user >= first) & (published.user < end))
        owner = published.user[rows] - first
        return self._weigh(_counts(owner, published.query[rows], end - first, self.shown, self.width))

    def text_rows(self, texts: npt.NDArray[np.integer[Any]]) -> Sparse:
        """Return [texts, width]: single published texts, by their codes."""
        return self._weigh(_counts(np.arange(len(texts)), texts, len(texts), self.shown, self.width))

    def _weigh(self, counts: Sparse) -> Sparse:
        """Turn counts into TF-IDF with rows of length 1; an empty row stays empty."""
        owner = counts.owner
        weight = self.idf[counts.column] * (1.0 + np.log(counts.value))
        length = np.sqrt(np.bincount(owner, weights=weight**2, minlength=counts.rows))
        # half the memory; a score needs no more digits
        return counts._replace(value=(weight / length[owner]).astype(np.float32))


def _counts(owner: npt.NDArray[Any], item: npt.NDArray[Any], rows: int, features: Ragged, width: int) -> Sparse:
    """Count the features of the items of each owner, [rows, width]; a product, since sorting takes longer.

    Features are laid out for the items that occur: those of all texts of a large log would take gigabytes.
    """
    items, code = np.unique(item, return_inverse=True)
    has = Sparse.of(owner, code, np.ones(len(item), dtype=np.float32), (rows, len(items)))
    return has.times(_matrix(features.take(items), width))


def _matrix(features: Ragged, width: int) -> Sparse:
    """Return how often each text has each feature, [texts, width]."""
    once = np.ones(len(features.values), dtype=np.float32)  # whole numbers, exact below 2^24
    return Sparse.of(features.owner, features.values, once, (features.rows, width))


def text_spaces(log: QueryLog, release: Release) -> list[Space]:
    """Return the spaces of words, grams of four letters, and whole queries."""
    published = release.log
    (asked, shown), size = code_words(log.queries, published.queries)
    out = [_space("words", asked, shown, size, published)]
    (asked, shown), size = code_grams(log.queries, published.queries)
    out.append(_space("grams", asked, shown, size, published))
    asked, shown, size = _whole(log.queries, published.queries)
    out.append(_space("whole queries", asked, shown, size, published))
    return out


def concept_space(
    log: QueryLog, concepts: ConceptLog, release: Release, release_concepts: ConceptLog, taxonomy: Taxonomy
) -> Space:
    """Return the space of concepts; where the release holds concepts, each also counts for its ancestors."""
    above = release.holds_concepts
    asked = _concepts_of_queries(concepts, len(log.queries), taxonomy, above=above)
    shown = _concepts_of_queries(release_concepts, len(release.log.queries), taxonomy, above=above)
    return _space("concepts", asked, shown, len(taxonomy), release.log)


def _space(name: str, asked: Ragged, shown: Ragged, width: int, published: QueryLog) -> Space:
    asked, shown = (Ragged(f.start, f.values.astype(np.int32, copy=False)) for f in (asked, shown))
    return Space(name, asked, shown, width, _idf(shown, width, published))


def _idf(shown: Ragged, width: int, published: QueryLog) -> Float64s:
    """float64[width]: log(1 + published logs / those that have the feature); one that nobody has counts as had by one.

    Whoever has a text has its features: the pairs (user, feature) are counted in blocks of users, to save memory.
    """
    users = len(published.users)
    spread = np.zeros(width, dtype=np.int64)
    for first in range(0, users, LOGS_AT_ONCE):
        rows = np.flatnonzero((published.user >= first) & (published.user < first + LOGS_AT_ONCE))
        counts = _counts(published.user[rows] - first, published.query[rows], LOGS_AT_ONCE, shown, width)
        spread += np.bincount(counts.column, minlength=width)
    return np.log(1.0 + max(users, 1) / np.maximum(spread, 1))


def _whole(asked: pl.Series, shown: pl.Series) -> tuple[Ragged, Ragged, int]:
    """Return each text as its only feature: equal texts have equal codes."""
    import polars as pl

    code = (pl.concat([asked.cast(pl.String), shown.cast(pl.String)]).rank("dense").cast(pl.Int64) - 1).to_numpy()
    ours, others = code[: len(asked)], code[len(asked) :]
    one_each = [Ragged(np.arange(len(c) + 1, dtype=np.int64), c) for c in (ours, others)]
    return one_each[0], one_each[1], int(code.max(initial=-1)) + 1


def _concepts_of_queries(concepts: ConceptLog, queries: int, taxonomy: Taxonomy, *, above: bool) -> Ragged:
    """Return the concepts of each query; with `above`, also their ancestors, as often as they are reached."""
    has = concepts.concept >= 0
    pairs = np.unique(concepts.query[has].astype(np.int64) * len(taxonomy) + concepts.concept[has])
    query, concept = np.divmod(pairs, len(taxonomy))
    if above:
        query, concept = _with_ancestors(query, concept, taxonomy)
    return Ragged.of(query, concept, queries)


def _with_ancestors(query: Int64s, concept: Int64s, taxonomy: Taxonomy) -> tuple[Int64s, Int64s]:
    """Add the ancestors of each concept, level by level."""
    queries, found = [query], [concept]
    while len(found[-1]):
        up = taxonomy.parent[found[-1]].astype(np.int64)
        kept = up >= 0
        queries.append(queries[-1][kept])
        found.append(up[kept])
    return np.concatenate(queries), np.concatenate(found)
