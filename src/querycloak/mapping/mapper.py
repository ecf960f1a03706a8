"""From queries to concepts: the pipeline, once per distinct query, in memory and over all cores."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import UnknownNameError
from querycloak.mapping.lexicon import Lexicon
from querycloak.mapping.modes import MODES, Mode
from querycloak.mapping.phrases import in_context, noun_phrases
from querycloak.mapping.trace import ClauseTrace, Trace
from querycloak.mapping.words import clauses
from querycloak.progress import QUIET
from querycloak.records import NO_CODE, ConceptLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.lexicon import Word
    from querycloak.progress import Progress
    from querycloak.records import QueryLog

__all__ = ["Mapper", "QueryConcepts", "map_log"]

DEFAULT_MODE: Final[Mode] = "segments"
_QUERIES_KEPT: Final = 1_000_000
"""Queries remembered at most; then the memory starts anew."""
_BLOCK: Final = 20_000
"""Queries between two words of progress."""


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
        """Give the concepts of one query, by its code."""
        found: list[int] = self.concept[self.start[query] : self.start[query + 1]].tolist()
        return found

    def mapped(self) -> npt.NDArray[np.bool_]:
        """bool[n]: whether a query has any concept."""
        return np.logical_or.reduceat(self.concept != NO_CODE, self.start[:-1]) if len(self) else np.zeros(0, np.bool_)


class Mapper:
    """Maps queries to the concepts of a taxonomy.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> labels = [["entity"], ["sport"], ["water sport"], ["place"], ["Mediterranean"]]
    >>> mapper = Mapper(Taxonomy.from_parents([-1, 0, 1, 0, 3], labels))
    >>> [mapper.taxonomy.label(c) for c in mapper.concepts("Exciting water sports in the Mediterranean")]
    ['water sport', 'Mediterranean']
    """

    def __init__(self, taxonomy: Taxonomy, mode: str = DEFAULT_MODE, *, weight: npt.NDArray[Any] | None = None) -> None:
        """Read the labels of the taxonomy; `weight`, one number per concept, chooses among equal labels."""
        if mode not in MODES:
            raise UnknownNameError.of("mapping mode", mode, MODES)
        self.taxonomy = taxonomy
        self.mode = mode
        self.lexicon = Lexicon(taxonomy, weight)
        self._known: dict[str, tuple[int, ...]] = {}

    def __repr__(self) -> str:
        return f"Mapper({self.taxonomy!r}, {self.mode})"

    def concepts(self, text: str) -> tuple[int, ...]:
        """Give the concepts of a query, one per unit, -1 where a unit has none; at least one."""
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= _QUERIES_KEPT:
                self._known.clear()
            found = self._known[text] = map_text(text, self.lexicon, self.mode)
        return found

    def map_query(self, text: str) -> Trace:
        """Map a query and keep every step."""
        read = _read(text, self.lexicon)
        find = MODES[self.mode]
        done = [
            ClauseTrace(tuple(words), classes, tuple(phrases), tuple(find(words, classes, phrases, self.lexicon)))
            for words, classes, phrases in read
        ]
        return Trace(text, self.mode, tuple(done), self.taxonomy, self.lexicon)

    def explain(self, text: str) -> list[tuple[str, list[str]]]:
        """Give the steps of a query's mapping: (title, lines)."""
        return self.map_query(text).explain()

    def map_queries(
        self, queries: pl.Series | Sequence[str], workers: int | None = None, progress: Progress = QUIET
    ) -> QueryConcepts:
        """Map distinct queries, in the order given. `workers` is the number of processes (default: as it pays)."""
        from querycloak.mapping.parallel import map_in_processes, workers_for

        texts = list(queries)
        progress.start("mapping queries to concepts", len(texts))
        new = [text for text in texts if text not in self._known]
        count = workers_for(len(new), workers)
        if count > 1:
            found = map_in_processes(new, self.lexicon, self.mode, count, progress)
            if found is not None:
                return _pack(_merge(texts, self._known, new, found))
        done: list[tuple[int, ...]] = []
        for block in range(0, len(texts), _BLOCK):
            part = texts[block : block + _BLOCK]
            done += map(self.concepts, part)
            progress.advance(len(part))
        return _pack(done)


def map_log(log: QueryLog, mapper: Mapper, progress: Progress = QUIET) -> ConceptLog:
    """Give the concepts of every query event of a log: one row per (event, unit), in the order of the log."""
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
    )


def map_text(text: str, lexicon: Lexicon, mode: str) -> tuple[int, ...]:
    """Give the concepts of a query's units."""
    find = MODES[mode]
    units = [
        unit.concept
        for words, classes, phrases in _read(text, lexicon)
        for unit in find(words, classes, phrases, lexicon)
    ]
    return tuple(units) or (NO_CODE,)


def _read(text: str, lexicon: Lexicon) -> list[tuple[list[Word], str, list[tuple[int, int]]]]:
    """Give the clauses of a query: words, their classes, and the noun phrases.

    A query without a noun phrase has one all the same, its last word that is no stop word and no number: people search
    for "swim" and "sexy" too.
    """
    word = lexicon.word
    out = []
    for clause in clauses(text):
        words = [word(w) for w in clause]
        classes = in_context("".join([w.letter for w in words]))
        out.append((words, classes, noun_phrases(classes)))
    if not any(phrases for _, _, phrases in out):
        for c in range(len(out) - 1, -1, -1):
            words, classes, _ = out[c]
            for i in range(len(words) - 1, -1, -1):
                if not words[i].stop and classes[i] != "c":
                    out[c] = (words, classes[:i] + "n" + classes[i + 1 :], [(i, i + 1)])
                    return out
    return out


def _merge(
    texts: list[str], known: dict[str, tuple[int, ...]], new: list[str], found: list[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    if len(new) == len(texts):
        return found
    fresh = dict(zip(new, found, strict=True))
    return [known.get(text) or fresh[text] for text in texts]


def _pack(units: Iterable[tuple[int, ...]]) -> QueryConcepts:
    units = list(units)
    count = np.fromiter(map(len, units), np.int64, len(units))
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    concept = np.fromiter(chain.from_iterable(units), np.int32, int(start[-1]))
    return QueryConcepts(start, concept)
