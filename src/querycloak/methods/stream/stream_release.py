"""A whole log through a stream anonymizer in memory: for experiments, comparisons and the tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.methods.stream.delays import Delays
from querycloak.methods.stream.stream_statement import (
    FlatSettings,
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
    import polars as pl

    from querycloak.mapping.row_paths import PathsOf, RowPaths
    from querycloak.methods.stream.engine import Departures, StreamEngine
    from querycloak.randomness import Randomness
    from querycloak.releases.release import StreamRelease

__all__ = [
    "FlatSettings",
    "SelfAdjustingSettings",
    "StreamSettings",
    "fixed_depth",
    "flat",
    "flow_figures",
    "self_adjusting",
    "stream_release",
]

BATCH = 1 << 16
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
    progress.start(f"{method}: streaming", total=len(entering))
    parts: list[Departures] = []
    for first in range(0, len(entering), BATCH):
        parts.append(engine.push_codes(user[first : first + BATCH], node[first : first + BATCH]))
        progress.advance(min(BATCH, len(entering) - first))
    empty = np.zeros(0, dtype=np.int64)
    record = np.concatenate([empty, *(p.record for p in parts)])
    row = entering[record]
    new_user = np.concatenate([empty, *(p.user for p in parts)]).astype(np.int32)
    delay = np.concatenate([empty, *(p.delay for p in parts)])
    candidates = np.concatenate([empty, *(p.candidates for p in parts)])
    delays = Delays()
    delays.add(delay)

    published, users = new_user, log.users
    stands_for = np.arange(len(log.users), dtype=np.int32)
    if settings.ids == "new":
        originals = log.users.to_list()
        digits = all(u.isascii() and u.isdigit() for u in originals)
        ids = random.child("ids").identifiers(len(originals), avoid=frozenset(originals), digits=digits)
        stands_for, code = np.unique(new_user, return_inverse=True)
        users, published = pl.Series([ids[u] for u in stands_for.tolist()], dtype=pl.String), code.astype(np.int32)
    kept = replace(log.take(row), query=publishable.query[record], queries=publishable.queries)
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
            "unclassified": len(log) - len(known),
            **publishable.dropped,
        },
        figures=flow_figures(
            engine,
            delays,
            int(candidates.min(initial=1 << 62)) if len(delay) else 0,
        )
        | {"unclassified": int((~classified).sum()), **publishable.figures(record)},
        columns=tuple(c.name for c in form.columns) if form is not None else (),
    )
    truth = Truth(stands_for.astype(np.int32), log.user[row])
    return publish_stream(table, statement, truth, Evidence(log, public=publishable.labels, candidates=candidates))


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
