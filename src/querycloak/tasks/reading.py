"""What all tasks read of a release: its query events in order, with texts and topics coded as those of the log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.concept_topics import concept_topics
from querycloak.logs.query_log import MISSING_TIME, NO_CODE

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.concept_topics import ConceptTopics
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release
    from querycloak.tasks.resampling import Resampling

__all__ = ["SESSION_SECONDS", "Reading", "TextCodes", "distinct", "people_per_text", "read"]

SESSION_SECONDS: Final = 30 * 60
"""Two queries of a person are asked together if there is no more than this between them."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


class TextCodes:
    """Codes of the log's distinct texts, case and spaces at their ends apart."""

    def __init__(self, queries: pl.Series) -> None:
        import polars as pl

        known = _normal(queries).unique(maintain_order=True)
        self._known = pl.DataFrame({"text": known, "code": np.arange(len(known), dtype=np.int64)})

    def __len__(self) -> int:
        return len(self._known)

    def of(self, queries: pl.Series) -> tuple[Int32s, int]:
        """Return int32[queries], the code of each text, and how many codes there are; new texts follow the known."""
        import polars as pl

        texts = pl.DataFrame({"text": _normal(queries)})
        new = texts.unique(maintain_order=True).join(self._known, on="text", how="anti", maintain_order="left")
        more = new.with_columns(code=pl.Series(len(self) + np.arange(len(new), dtype=np.int64)))
        code = texts.join(pl.concat([self._known, more]), on="text", how="left", maintain_order="left")["code"]
        return code.to_numpy().astype(np.int32), len(self) + len(new)


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """Query events of a release, ordered by published id, then by time where there is one, then by row."""

    id: Int32s
    """int32[n], published id; all 0 where there are none"""
    text: Int32s
    """int32[n], by `TextCodes`"""
    texts: int
    """how many codes of texts there are"""
    weight: Float64s
    """float64[n], how many query events it stands for; above 0"""
    asker: Int32s
    """int32[n], the person who asked as far as the truth says, -1 = unknown"""
    person: Int32s
    """int32[n], the person that the id stands for, -1 = unknown"""
    time: Int64s | None
    """int64[n], seconds, MISSING_TIME where missing; None = there are none"""
    topic_event: Int64s
    """int64[m], index of an event, ascending: one entry per unit of a query with a known topic"""
    topic: Int32s
    """int32[m], a finer topic of `topics`"""
    topics: ConceptTopics
    block: Int64s
    """int64[n], block of people that the event is resampled with: that of its asker"""
    draws: Float64s
    """float64[1 + RESAMPLES, blocks]"""
    has_users: bool
    has_truth: bool

    @cached_property
    def following(self) -> tuple[Int64s, Int64s]:
        """(before, after): the events next to each other under one id, of different text, in one session.

        Where there are times, no more than 30 minutes may be between them; else neighbours are taken as they come.
        """
        near = (self.id[1:] == self.id[:-1]) & (self.text[1:] != self.text[:-1])
        if self.time is not None:
            early, late = self.time[:-1], self.time[1:]
            known = (early != MISSING_TIME) & (late != MISSING_TIME)
            near &= known & (np.where(known, late, 0) - np.where(known, early, 0) <= SESSION_SECONDS)
        before = np.flatnonzero(near)
        return before, before + 1


def read(
    release: Release, concepts: ConceptLog, codes: TextCodes, taxonomy: Taxonomy, resampling: Resampling
) -> Reading:
    """Read a release; `concepts` are those of its rows."""
    log = release.log
    weight = _weights(release)
    # A table of counts has no users: rows of one query with several URLs are no clicks of one event.
    event_row = log.event_row if release.has_users else np.arange(len(log))
    rows = np.flatnonzero((event_row == np.arange(len(log))) & (weight > 0))
    has_time = log.time is not None and bool((log.time[rows] != MISSING_TIME).any())
    order = (rows, log.time[rows], log.user[rows]) if has_time and log.time is not None else (rows, log.user[rows])
    rows = rows[np.lexsort(order)]
    text, texts = codes.of(log.queries)
    unknown = np.full(len(rows), NO_CODE, dtype=np.int32)
    truth = release.truth if release.has_users else None
    person = unknown if truth is None else truth.user[log.user[rows]]
    asker = person if truth is None or truth.asker is None else truth.asker[rows]
    index = np.full(len(log), -1, dtype=np.int64)  # event of each row
    index[rows] = np.arange(len(rows))
    known = concepts.known()
    event = index[event_row[known.row]] if len(known) else np.zeros(0, dtype=np.int64)
    topics = concept_topics(taxonomy)
    by_event = np.argsort(event, kind="stable")
    by_event = by_event[event[by_event] >= 0]
    block, draws = _blocks(release, log.user[rows], asker, resampling)
    return Reading(
        id=log.user[rows],
        text=text[log.query[rows]],
        texts=texts,
        weight=weight[rows],
        asker=asker,
        person=person,
        time=log.time[rows] if has_time and log.time is not None else None,
        topic_event=event[by_event],
        topic=topics.counted[known.concept[by_event]],
        topics=topics,
        block=block,
        draws=draws,
        has_users=release.has_users,
        has_truth=truth is not None,
    )


def distinct(values: Int64s) -> Int64s:
    """Return the distinct values, ascending: as np.unique, which hashes and is slower where most differ."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def people_per_text(reading: Reading, kept: npt.NDArray[np.bool_] | None = None) -> Float64s:
    """float64[texts]: how many ids asked each text, in the events that are kept: bool[n]; without ids, its counts."""
    if not reading.has_users:
        return np.bincount(reading.text, weights=reading.weight, minlength=reading.texts).astype(np.float64)
    ids, texts = (reading.id, reading.text) if kept is None else (reading.id[kept], reading.text[kept])
    pairs = distinct(ids.astype(np.int64) * reading.texts + texts)
    return np.bincount(pairs % reading.texts, minlength=reading.texts).astype(np.float64)


def _blocks(release: Release, ids: Int32s, asker: Int32s, resampling: Resampling) -> tuple[Int64s, Float64s]:
    """Return int64[n], the block of each event, and the draws of the blocks."""
    block, draws = resampling
    if not release.has_users:  # nobody can be drawn from a table of counts: it stays, and the log is resampled
        return np.zeros(len(ids), dtype=np.int64), np.ones((len(draws), 1))
    if release.truth is None:  # people and ids are resampled apart; each resample of ids is that of another of people
        return ids.astype(np.int64) % draws.shape[1], np.concatenate([draws[:1], np.roll(draws[1:], 1, axis=0)])
    return np.where(asker == NO_CODE, 0, block[asker]).astype(np.int64), draws


def _weights(release: Release) -> Float64s:
    """float64[rows]: how many query events a row stands for; histograms of users have a column of counts, too."""
    extra = release.log.extra
    if extra is None or "count" not in extra.columns or not extra["count"].dtype.is_numeric():
        return release.row_weights()
    return np.asarray(np.maximum(extra["count"].to_numpy(), 0), dtype=np.float64)


def _normal(queries: pl.Series) -> pl.Series:
    return queries.str.strip_chars().str.to_lowercase()
