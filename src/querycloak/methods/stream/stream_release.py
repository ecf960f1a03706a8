"""A whole log through a stream anonymizer in memory: for experiments, comparisons and the tests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.methods.stream.stream_statement import (
    FlatSettings,
    SelfAdjustingSettings,
    StreamSettings,
    stream_statement,
)
from querycloak.methods.stream.sweeping import PERSONAL, AskedEnough, is_personal, rare_name
from querycloak.progress import QUIET, Progress
from querycloak.releases.publish import Evidence, publish_stream
from querycloak.releases.release import Truth

if TYPE_CHECKING:
    from querycloak.mapping.row_paths import PathsOf
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
    entering, swept = _sweep(log, known, settings)
    node, user = found.nodes(engine.tree)[entering], log.user[entering]
    progress.start(f"{method}: streaming", total=len(entering))
    parts: list[Departures] = []
    for first in range(0, len(entering), BATCH):
        parts.append(engine.push_codes(user[first : first + BATCH], node[first : first + BATCH]))
        progress.advance(min(BATCH, len(entering) - first))
    empty = np.zeros(0, dtype=np.int64)
    row = entering[np.concatenate([empty, *(p.record for p in parts)])]
    new_user = np.concatenate([empty, *(p.user for p in parts)]).astype(np.int32)
    delay = np.concatenate([empty, *(p.delay for p in parts)])
    candidates = np.concatenate([empty, *(p.candidates for p in parts)])

    published, users = new_user, log.users
    stands_for = np.arange(len(log.users), dtype=np.int32)
    if settings.ids == "new":
        originals = log.users.to_list()
        digits = all(u.isascii() and u.isdigit() for u in originals)
        ids = random.child("ids").identifiers(len(originals), avoid=frozenset(originals), digits=digits)
        stands_for, code = np.unique(new_user, return_inverse=True)
        users, published = pl.Series([ids[u] for u in stands_for.tolist()], dtype=pl.String), code.astype(np.int32)
    kept = log.take(row)
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
            **swept,
        },
        figures=flow_figures(
            engine,
            float(delay.mean()) if len(delay) else 0.0,
            int(candidates.min(initial=1 << 62)) if len(delay) else 0,
        )
        | {"unclassified": int((~classified).sum())},
        columns=tuple(c.name for c in form.columns) if form is not None else (),
    )
    truth = Truth(stands_for.astype(np.int32), log.user[row])
    return publish_stream(table, statement, truth, Evidence(log, candidates=candidates))


def _sweep(log: QueryLog, rows: Rows, settings: StreamSettings) -> tuple[Rows, dict[str, int]]:
    """Return the rows that may enter, in their order, and how many may not."""
    swept: dict[str, int] = {}
    if settings.identifiers:
        personal = is_personal(log.queries.to_list())[log.query[rows]]
        swept[PERSONAL] = int(personal.sum())
        rows = rows[~personal]
    if settings.min_query_users > 1:
        enough = AskedEnough(settings.min_query_users).tell(log.query[rows], log.user[rows])
        swept[rare_name(settings.min_query_users)] = int((~enough).sum())
        rows = rows[enough]
    return rows, swept


self_adjusting = partial(stream_release, method="self-adjusting")
fixed_depth = partial(stream_release, method="fixed-depth")
flat = partial(stream_release, method="flat")


def flow_figures(engine: StreamEngine, mean_delay: float, fewest_candidates: int) -> dict[str, float]:
    """Return what an engine has counted, for the statement."""
    bags = engine.bag_sizes()
    levels = engine.waiting_per_level()
    return {
        "mean delay": mean_delay,
        "fewest candidates": fewest_candidates,
        "mean bag size": float(bags.mean()) if len(bags) else 0.0,
        "nodes": len(engine.tree),
        **{f"users waiting at level {'0 (unclassified)' if d == 0 else d}": n for d, n in enumerate(levels)},
    }
