"""SRP, the semantics that remain: how many of a user's queries have a category that the published log has too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.categories import query_categories
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.categories import Resolver
    from querycloak.mapping.click_categories import ClickCategories
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["srp"]

LEVELS: Final = 5

Int32s = npt.NDArray[np.int32]


def srp(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    click_categories: ClickCategories | None = None,
    levels: int = LEVELS,
) -> list[Score]:
    """Measure SRP at the levels 1 .. `levels` of the directory (Erola and Castellà-Roca, eq. 3), in two readings.

    Of the query events of all users whose category reaches level l, it is the share that remains in the log published
    for the same user. The paper counts the "queries of each category that appears in the original log and in the
    centroid", which allows two counts:

    - "semantics that remain": all original queries whose category, cut to level l, is published for the user at all.
      One published query answers for any number of original ones, so a long published log of any group has nearly
      every category, and groups by likeness cannot be told from random ones;
    - "semantics that remain, one for one": each published query answers for one original query of its user at most, the
      intersection of two bags per user and level.

    A score is the mean over the levels that have a query: a directory of one level has nothing to lose at the others. A
    release has no URLs, so a query text has one category: the most frequent of its events in the log (ties: the first
    in the directory). Without a directory, the category is the first concept of the text. Labels that a release
    publishes in the place of queries are passed over. Without the release's truth, or without any query that has a
    category, there is no score.
    """
    if release.truth is None:
        return []
    progress.start("measuring the semantics that remain")
    if directory is None:
        tree, of_query = taxonomy, _first_concept(concepts, len(log.queries))
    else:
        tree, of_query = directory.taxonomy, _by_site(log, directory, resolver, click_categories)
    asked = of_query[log.query[log.event]]
    user = log.user[log.event]
    published = _of_text(release.log.queries, log.queries, of_query)[release.log.query]
    owner = release.truth.user[release.log.user]
    lenient: dict[str, float] = {}
    strict: dict[str, float] = {}
    for level in range(1, levels + 1):
        original = _count(user, _cut(asked, tree, level), len(tree))
        total = int(original[1].sum())
        if total == 0:
            continue
        remaining = _count(owner, _cut(published, tree, level), len(tree))
        at = np.searchsorted(remaining[0], original[0])
        there = np.append(remaining[0], -1)[at] == original[0]
        both = np.minimum(np.append(remaining[1], 0)[at], original[1])[there]
        lenient[f"level {level}"] = float(original[1][there].sum() / total)
        strict[f"level {level}"] = float(both.sum() / total)
    readings = {"semantics that remain": lenient, "semantics that remain, one for one": strict}
    return [
        Score(measure=name, value=float(np.mean(list(by_level.values()))), better="higher", details=by_level)
        for name, by_level in readings.items()
        if by_level
    ]


def _count(user: Int32s, category: Int32s, width: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count (user, category) pairs, as one number each; categories of -1 are passed over."""
    known = category >= 0
    keys, count = np.unique(user[known].astype(np.int64) * width + category[known], return_counts=True)
    return keys, count.astype(np.int64)


def _first_concept(concepts: ConceptLog, n_queries: int) -> Int32s:
    out = np.full(n_queries, NO_CODE, dtype=np.int32)
    known = concepts.known()
    out[known.query[::-1]] = known.concept[::-1]
    return out


def _by_site(
    log: QueryLog, directory: SiteDirectory, resolver: Resolver | None, click_categories: ClickCategories | None
) -> Int32s:
    """Return each query text the most frequent category of its events: int32[distinct queries]."""
    found = query_categories(log, directory, resolver, click_categories)
    listed = found.category != NO_CODE
    width = len(directory.taxonomy)
    pairs, count = np.unique(
        log.query[found.row[listed]].astype(np.int64) * width + found.category[listed], return_counts=True
    )
    order = np.lexsort((-pairs, count, pairs // width))  # the last of each query: most frequent, then first
    out = np.full(len(log.queries), NO_CODE, dtype=np.int32)
    out[pairs[order] // width] = pairs[order] % width
    return out


def _of_text(words: pl.Series, vocabulary: pl.Series, category: Int32s) -> Int32s:
    """Return the category of texts that are in the log's vocabulary: int32[len(words)], -1 for others."""
    import polars as pl

    there = pl.DataFrame({"text": vocabulary, "category": pl.Series(category)}).unique("text", keep="first")
    found = pl.DataFrame({"text": words}).join(there, on="text", how="left", maintain_order="left")
    return found["category"].fill_null(NO_CODE).to_numpy().astype(np.int32)


def _cut(category: Int32s, taxonomy: Taxonomy, level: int) -> Int32s:
    """Cut categories to a level: their ancestor at that depth, -1 where they do not reach it."""
    node = np.where((category >= 0) & (taxonomy.depth[category] >= level), category, NO_CODE).astype(np.int32)
    while True:
        deep = np.flatnonzero((node >= 0) & (taxonomy.depth[node] > level))
        if not len(deep):
            return node
        node[deep] = taxonomy.parent[node[deep]]
