"""From queries to concepts: the whole pipeline, once per distinct query, on all cores where that pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.errors import ParameterError
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.concept_log import ConceptLog
from querycloak.mapping.lexicon import Lexicon
from querycloak.mapping.modes import DEFAULT_MAPPING, check_mapping
from querycloak.mapping.parallel import LEAST_BULK, map_blocks, pack_block, workers_for
from querycloak.mapping.reading import concepts_in, reader_of
from querycloak.mapping.trace import ClauseTrace, Trace
from querycloak.progress import QUIET
from querycloak.workers import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.parallel import Block
    from querycloak.progress import Progress

__all__ = ["Mapper", "QueryConcepts", "map_log"]

_QUERIES_KEPT: Final = 100_000
"""Queries remembered one by one at most; then all are forgotten."""
_LARGE: Final = 20_000
"""Queries of the smallest column that is looked up in the largest one before."""
_BLOCK: Final = 20_000
"""Queries mapped between two reports of progress."""


@dataclass(frozen=True, eq=False)
class QueryConcepts:
    """The concepts of distinct queries: those of query q are concept[start[q] : start[q + 1]], at least one."""

    start: npt.NDArray[np.int64]
    """int64[n + 1]"""
    concept: npt.NDArray[np.int32]
    """int32[m], -1 = a unit that has no concept"""

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, query: int) -> list[int]:
        """Return the concepts of one query, by its code."""
        found: list[int] = self.concept[self.start[query] : self.start[query + 1]].tolist()
        return found

    def mapped(self) -> npt.NDArray[np.bool_]:
        """Return whether each query has any concept: bool[n]."""
        return np.logical_or.reduceat(self.concept != NO_CODE, self.start[:-1]) if len(self) else np.zeros(0, np.bool_)


class Mapper:
    """Maps queries to the concepts of a taxonomy.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> labels = [["entity"], ["sport"], ["water sport"], ["place"], ["Mediterranean"]]
    >>> mapper = Mapper(Taxonomy.from_parents([-1, 0, 1, 0, 3], labels))
    >>> [mapper.taxonomy.label(c) for c in mapper.concepts("Exciting water sports in the Mediterranean")]
    ['water sport', 'Mediterranean']
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        mapping: str = DEFAULT_MAPPING,
        *,
        weight: npt.NDArray[Any] | None = None,
        directory: SiteDirectory | None = None,
    ) -> None:
        """Read the labels of the taxonomy.

        `weight` is one number per concept that chooses among equal labels. With a `directory` of sites in this
        taxonomy, a query that is the address of a listed site has the site's category as its concept, and `weight` is
        by default the number of sites.
        """
        if directory is not None and directory.taxonomy is not taxonomy:
            raise ParameterError("The directory's categories are not those of the taxonomy: pass directory.taxonomy.")
        self.taxonomy = taxonomy
        self.directory = directory
        if weight is None and directory is not None:
            weight = directory.site_count
        lexicon = None if weight is None else Lexicon(taxonomy, weight)
        self.reader = reader_of(taxonomy, check_mapping(mapping), lexicon)
        self.mapping = self.reader.mapping
        """how queries are read: `segments` in the place of layers that do not know the taxonomy"""
        self._known: dict[str, tuple[int, ...]] = {}
        self._last: tuple[pl.Series, QueryConcepts] | None = None
        self._largest: tuple[pl.Series, QueryConcepts] | None = None

    @property
    def lexicon(self) -> Lexicon:
        """The labels that words are looked up in."""
        return self.reader.lexicon

    def __repr__(self) -> str:
        return f"Mapper({self.taxonomy!r}, {self.mapping})"

    def concepts(self, text: str) -> tuple[int, ...]:
        """Return the concepts of a query, one per unit, -1 where a unit has none; at least one."""
        category = self._category(text)
        return self._by_words(text) if category == NO_CODE else (category,)

    def _by_words(self, text: str) -> tuple[int, ...]:
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= _QUERIES_KEPT:
                self._known.clear()
            found = self._known[text] = self._read(text)
        return found

    def _read(self, text: str) -> tuple[int, ...]:
        return concepts_in(self.reader.read(text))

    def map_query(self, text: str) -> Trace:
        """Map a query and keep every step."""
        done = [
            ClauseTrace(tuple(clause.words), clause.classes, tuple(clause.phrases), tuple(units))
            for clause, units in self.reader.read(text)
        ]
        return Trace(text, self.mapping, tuple(done), self.taxonomy, self.reader.lexicon, self._category(text))

    def explain(self, text: str) -> list[tuple[str, list[str]]]:
        """Return the steps of a query's mapping: (title, lines)."""
        return self.map_query(text).explain()

    def map_queries(
        self, queries: pl.Series | Sequence[str], workers: int | None = None, progress: Progress = QUIET
    ) -> QueryConcepts:
        """Map distinct queries, in the order given. `workers` is the number of processes (default: as many as pay).

        The result of the last call is kept: mapping the queries of the same log again costs nothing.
        """
        import polars as pl

        if self._last is not None and self._last[0] is queries and len(queries) == len(self._last[1]):
            return self._last[1]
        series = queries if isinstance(queries, pl.Series) else pl.Series(queries, dtype=pl.String)
        by_words = (
            self._map(series, workers, progress) if len(series) < _LARGE else self._map_new(series, workers, progress)
        )
        found = self._look_up_sites(series, by_words)
        self._last = (series, found)
        return found

    def _map_new(self, queries: pl.Series, workers: int | None, progress: Progress) -> QueryConcepts:
        """Map many queries: those of the largest column before, which may be the log of this release, are looked up."""
        import polars as pl

        before, known = self._largest or (queries.clear(), QueryConcepts(np.zeros(1, np.int64), np.zeros(0, np.int32)))
        there = pl.DataFrame({"text": before}).with_row_index("index").unique("text")
        index = pl.DataFrame({"text": queries}).join(there, on="text", how="left", maintain_order="left")["index"]
        new = index.is_null()
        mapped = self._map(queries.filter(new), workers, progress)
        both = Ragged(
            np.concatenate([known.start, mapped.start[1:] + known.start[-1]]),
            np.concatenate([known.concept, mapped.concept]),
        )
        at = index.fill_null(0).to_numpy().astype(np.int64)
        at[new.to_numpy()] = len(known) + np.arange(len(mapped))
        rows = both.take(at)
        found = QueryConcepts(rows.start, rows.values)
        if len(queries) > len(before):
            self._largest = (queries, found)
        return found

    def _map(self, queries: pl.Series, workers: int | None, progress: Progress) -> QueryConcepts:
        """Map queries by their words."""
        progress.start("mapping queries to concepts", len(queries))
        count = workers_for(len(queries), workers, bulk=self.reader.reads_bulk)
        blocks = self._in_processes(queries, count, progress) if count > 1 and len(queries) else None
        return _join(self._in_blocks(queries, progress) if blocks is None else blocks)

    def _in_blocks(self, queries: pl.Series, progress: Progress) -> Iterator[Block]:
        """Map in this process; few queries are remembered one by one, many only as the last result."""
        bulk = self.reader.bulk if len(queries) >= LEAST_BULK else None
        if bulk is not None:
            for start in range(0, len(queries), _BLOCK):
                yield bulk.read(queries[start : start + _BLOCK])
                progress.advance(min(_BLOCK, len(queries) - start))
            return
        one = self.concepts if len(queries) <= _QUERIES_KEPT else self._read
        for start in range(0, len(queries), _BLOCK):
            texts = queries[start : start + _BLOCK].to_list()
            yield pack_block([one(text) for text in texts])
            progress.advance(len(texts))

    def _in_processes(self, queries: pl.Series, count: int, progress: Progress) -> list[Block] | None:
        """Map in other processes; return None where they cannot be started."""
        blocks = []
        try:
            for block in map_blocks(self.reader, count, queries, _BLOCK):
                blocks.append(block)
                progress.advance(len(block[0]))
        except WorkerError:
            progress.note("Mapping continues in one process: no others could be started.")
            progress.start("mapping queries to concepts", len(queries))
            return None
        return blocks

    def _category(self, text: str) -> int:
        """Return the category of a query that is the address of a listed site, or -1."""
        if self.directory is None:
            return NO_CODE
        from querycloak.mapping.sites import categorise, site_of_query

        site = site_of_query(text)
        return NO_CODE if site is None else int(categorise([site.site], self.directory)[0])

    def _look_up_sites(self, queries: pl.Series, found: QueryConcepts) -> QueryConcepts:
        """Replace the concepts of queries that are addresses of listed sites by the site's category."""
        if self.directory is None:
            return found
        from querycloak.mapping.sites import categorise, site_of_query

        sites = {i: site.site for i, text in enumerate(queries) if (site := site_of_query(text)) is not None}
        category = np.full(len(found), NO_CODE, np.int32)
        category[list(sites)] = categorise(list(sites.values()), self.directory)
        listed = category != NO_CODE
        count = np.where(listed, 1, np.diff(found.start))
        first = np.zeros(len(found.concept), np.bool_)
        first[found.start[:-1]] = True
        owner = np.repeat(np.arange(len(found)), np.diff(found.start))
        keep = ~listed[owner] | first
        concept = np.where(listed[owner], category[owner], found.concept)[keep]
        return QueryConcepts(np.concatenate([np.zeros(1, np.int64), np.cumsum(count)]), concept)


def map_log(log: QueryLog, mapper: Mapper, progress: Progress = QUIET) -> ConceptLog:
    """Return the concepts of every query event of a log: one row per (event, unit), in the order of the log."""
    found = mapper.map_queries(log.queries, progress=progress)
    row = np.flatnonzero(log.event).astype(np.int64)
    query = log.query[row]
    first = found.start[query]
    count = found.start[query + 1] - first
    event = np.repeat(np.arange(len(row)), count)
    within = np.arange(len(event)) - np.repeat(np.cumsum(count) - count, count)
    return ConceptLog(
        row=row[event],
        user=log.user[row[event]],
        query=query[event],
        concept=found.concept[first[event] + within],
        mapping=mapper.mapping,
    )


def _join(blocks: Iterable[Block]) -> QueryConcepts:
    parts = list(blocks)
    count = np.concatenate([np.zeros(1, np.int64), *(count for count, _ in parts)])
    return QueryConcepts(np.cumsum(count), np.concatenate([np.zeros(0, np.int32), *(found for _, found in parts)]))
