"""A whole log through a stream anonymizer in memory: for experiments, comparisons and the tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.durations import DAY, round_down
from querycloak.logs.query_log import MISSING_TIME, NO_CODE, QueryLog
from querycloak.methods.stream.delays import Delays
from querycloak.methods.stream.log_epochs import LogEpochs, age_cuts, present_times
from querycloak.methods.stream.stream_statement import (
    TOO_LONG,
    FlatSettings,
    NearestSettings,
    SelfAdjustingSettings,
    StreamSettings,
    stream_statement,
)
from querycloak.methods.stream.stream_texts import StreamTexts, changes_texts, nothing_left, published_kinds
from querycloak.progress import QUIET, Progress
from querycloak.releases.publish import Evidence, publish_stream
from querycloak.releases.release import Truth
from querycloak.texts.phrases import LABEL, NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from querycloak.logs.query_log import Codes, Times
    from querycloak.mapping.row_paths import PathsOf, RowPaths
    from querycloak.methods.stream.engine import Departures, StreamEngine
    from querycloak.randomness import Randomness
    from querycloak.releases.release import StreamRelease

__all__ = [
    "FlatSettings",
    "NearestSettings",
    "SelfAdjustingSettings",
    "StreamSettings",
    "fixed_depth",
    "flat",
    "flow_figures",
    "nearest",
    "self_adjusting",
    "stream_release",
]

BATCH = 1 << 16
DEPARTING = ("record", "user", "candidates", "delay")
Rows = npt.NDArray[np.int64]


def stream_release(
    log: QueryLog,
    settings: StreamSettings,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    method: str = "self-adjusting",
    paths: PathsOf,
) -> StreamRelease:
    """Let the rows of a log pass in their order; the release holds those that left, in the order in which they left.

    `paths` finds the category path of every row, given a separator. A row is a record, a further click on a query's
    results included, as in the paper.
    """
    import polars as pl

    engine = settings.engine(method, random.child("engine"))
    found = paths(settings.separator)
    classified = found.classified()
    known = np.flatnonzero(classified | (settings.unclassified == "keep"))
    publishable = _publishable(log, known, found, settings)
    entering = publishable.row
    node, user = found.nodes(engine.tree)[entering], log.user[entering]
    present, of_clock = (None, {}) if log.time is None else present_times(log.time[entering], settings)
    if present is None:
        _refuse_times(settings)
    progress.start(f"{method}: streaming", total=len(entering))
    parts: list[Departures] = []
    for begin, end, old in _batches(len(entering), settings, present):
        if old:
            parts.append(engine.expire(old))
        parts.append(engine.push_codes(user[begin:end], node[begin:end]))
        progress.advance(end - begin)
    empty = np.zeros(0, dtype=np.int64)
    left = {name: np.concatenate([empty, *(getattr(p, name) for p in parts)]) for name in DEPARTING}
    dropped = sum(len(p.dropped_record) for p in parts)
    time = None if log.time is None else log.time[entering[left["record"]]]
    period = np.zeros(len(left["record"]), dtype=np.int64)
    if settings.epoch is not None:
        epochs = LogEpochs.of(settings, present, len(entering))
        period = epochs.of_moments(left["record"] + left["delay"])
        left["delay"] = epochs.last(period) - left["record"]
        order = epochs.shuffled(period, random.child("epochs"))
        left, period = {name: values[order] for name, values in left.items()}, period[order]
        if time is not None and epochs.time is not None:
            time = np.where(time[order] == MISSING_TIME, MISSING_TIME, epochs.time[period])
    if time is not None and settings.time_grain is not None:
        time = round_down(time, settings.time_grain)
    if settings.ids == "day":
        assert time is not None
        period = time // DAY
    record, candidates = left["record"], left["candidates"]
    row, new_user = entering[record], left["user"].astype(np.int32)
    delays = Delays()
    delays.add(left["delay"])

    published, users = new_user, log.users
    stands_for = np.arange(len(log.users), dtype=np.int32)
    if settings.new_ids:
        named, new = _named(log, new_user, period if settings.ids in {"epoch", "day"} else None)
        originals = log.users.to_list()
        digits = all(u.isascii() and u.isdigit() for u in originals)
        wanted = len(originals) if settings.ids == "run" else len(named)
        ids = random.child("ids").identifiers(wanted, avoid=frozenset(originals), digits=digits)
        chosen = named.tolist() if settings.ids == "run" else range(len(named))
        stands_for, published = named, new
        users = pl.Series([ids[i] for i in chosen], dtype=pl.String)
    kept = replace(log.take(row), query=publishable.query[record], queries=publishable.queries, time=time)
    words: dict[str, Any] = {"users": users, "user": published}
    for code_name, name in (("query", "queries"), ("url", "urls"), ("category", "categories")):
        codes, texts = getattr(kept, code_name), getattr(kept, name)
        if codes is not None:  # a release carries no text that it does not publish
            used, inverse = np.unique(codes[codes != NO_CODE], return_inverse=True)
            new = np.full(len(codes), NO_CODE, dtype=np.int32)
            new[codes != NO_CODE] = inverse
            words |= {code_name: new, name: texts.gather(used)}
    table = replace(kept, **words, problems={})
    form = log.form
    statement = stream_statement(
        method,
        settings,
        random,
        counts_in={"rows": len(log), "users": len(np.unique(log.user))},
        counts_out={"rows": len(table), "users": len(np.unique(table.user))},
        dropped={
            "still waiting at the end": engine.waiting,
            TOO_LONG: dropped,
            "unclassified": len(log) - len(known),
            **publishable.dropped,
        },
        figures=flow_figures(
            engine,
            delays,
            int(candidates.min(initial=1 << 62)) if len(record) else 0,
        )
        | {"unclassified": int((~classified).sum()), **publishable.figures(record)}
        | (of_clock if settings.epoch_seconds is not None else {}),
        columns=tuple(c.name for c in form.columns) if form is not None else (),
        timed=time is not None,
    )
    truth = Truth(stands_for.astype(np.int32), log.user[row])
    return publish_stream(table, statement, truth, Evidence(log, public=publishable.labels, candidates=candidates))


def _refuse_times(settings: StreamSettings) -> None:
    """Refuse settings that need times, where a log has none."""
    needs = {
        "ids": settings.ids == "day",
        "epoch": settings.epoch_seconds is not None,
        "time_grain": settings.time_grain is not None,
        "max_age": settings.max_age is not None,
    }
    for name, is_needed in needs.items():
        if is_needed:
            raise ParameterError(f"StreamSettings.{name} is {getattr(settings, name)}, and the log has no times.")


def _batches(entering: int, settings: StreamSettings, present: Times | None) -> Iterator[tuple[int, int, int]]:
    """Yield begin and end of each batch, and before which running number records are too old when it begins."""
    cuts = dict.fromkeys(range(0, entering, BATCH), 0)
    if settings.max_age is not None and present is not None:
        cuts |= dict(age_cuts(present, settings.max_age))
    begins = sorted(cuts)
    for begin, end in pairwise([*begins, entering]):
        yield begin, end, cuts[begin]


def _named(log: QueryLog, user: Codes, period: Rows | None) -> tuple[Codes, Codes]:
    """Return the users who get an id each, once for each of their periods, and which of these each row has."""
    if period is None:
        named, code = np.unique(user, return_inverse=True)
        return named.astype(np.int32), code.astype(np.int32)
    _, which = np.unique(period, return_inverse=True)
    pairs, code = np.unique(which.astype(np.int64) * len(log.users) + user, return_inverse=True)
    return (pairs % max(len(log.users), 1)).astype(np.int32), code.astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Entering:
    """The rows that enter, each with the text that is published of it."""

    row: Rows
    query: npt.NDArray[np.int32]
    """int32[rows], into `queries`"""
    queries: pl.Series
    kind: npt.NDArray[np.int8] | None
    """int8[rows]: QUERY, PHRASE or LABEL; None = all texts are published as they are"""
    labels: frozenset[str]
    dropped: dict[str, int]
    phrases: int = 0
    full: bool = False

    def figures(self, record: Rows) -> dict[str, int]:
        """Return what was published of records that left, and how much was counted for it."""
        if self.kind is None:
            return {}
        counts = np.bincount(self.kind[record], minlength=3)
        return {**published_kinds(counts), "phrases counted": self.phrases, "phrases full": int(self.full)}


def _publishable(log: QueryLog, rows: Rows, found: RowPaths, settings: StreamSettings) -> _Entering:
    """Return the rows that may enter, in their order, with what is published of each."""
    import polars as pl

    rule = settings.rule
    if not changes_texts(rule):
        return _Entering(rows, log.query[rows], log.queries, None, frozenset(), {})
    texts = StreamTexts(rule, settings.max_phrases, load_wordnet)
    named = found.named_paths
    parts, kinds = [pl.Series([], dtype=pl.String)], [np.zeros(0, dtype=np.int8)]
    asking = rows[log.query[rows] != NO_CODE]
    for first in range(0, len(asking), BATCH):
        some = asking[first : first + BATCH]
        codes, at, query = np.unique(log.query[some], return_index=True, return_inverse=True)
        order = np.argsort(at)  # in the order in which they come: where room is short, the first have it
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order))
        path = np.where(found.classified()[some], found.code[some], -1).astype(np.int32)
        chosen = texts.take(log.queries.gather(codes[order]), rank[query], log.user[some], path, named)
        out = log.queries.gather(log.query[some])
        changed = np.flatnonzero(chosen.begin >= 0)
        parts.append(out.scatter(changed, chosen.texts(changed)))
        kinds.append(chosen.kind)
    kind = np.concatenate(kinds)
    enters = np.flatnonzero(kind != NOTHING)
    text = pl.concat(parts).gather(enters)
    queries = text.unique().sort()
    code = text.rank("dense").to_numpy().astype(np.int32) - np.int32(1)
    labels = frozenset(text.filter(pl.Series(kind[enters] == LABEL)).to_list())
    dropped = {nothing_left(rule): len(rows) - len(enters)}
    return _Entering(asking[enters], code, queries, kind[enters], labels, dropped, texts.people.phrases, texts.is_full)


self_adjusting = partial(stream_release, method="self-adjusting")
fixed_depth = partial(stream_release, method="fixed-depth")
flat = partial(stream_release, method="flat")
nearest = partial(stream_release, method="nearest")


def flow_figures(engine: StreamEngine, delays: Delays, fewest_candidates: int) -> dict[str, float]:
    """Return what an engine has counted, for the statement."""
    bags = engine.bag_sizes()
    levels = engine.waiting_per_level()
    return {
        **delays.figures(),
        "fewest candidates": fewest_candidates,
        "mean bag size": float(bags.mean()) if len(bags) else 0.0,
        "nodes": len(engine.tree),
        **{f"users waiting at level {'0 (unclassified)' if d == 0 else d}": n for d, n in enumerate(levels)},
    }
