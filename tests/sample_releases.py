"""Releases whose right answers are known by construction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from querycloak.logs.query_log import QueryLog
from querycloak.releases.release import LogRelease, Release, Seal, Truth
from querycloak.releases.statement import PrivacyStatement


def statement(**parameters):
    return PrivacyStatement(
        method="by-hand",
        settings={},
        version="0",
        model="by hand",
        parameters=parameters,
        unit="user",
        covers=(),
        does_not_cover=("all",),
        randomness="none",
        new_ids=True,
        counts_in={},
        counts_out={},
        dropped={},
    )


def release_of(log: QueryLog, published: list[list[str]], truth: list[int], **parameters) -> LogRelease:
    """Publish the list published[i] for the user truth[i]."""
    users = [f"p{i:05d}" for i, queries in enumerate(published) for _ in queries]
    table = QueryLog.of(users, [q for queries in published for q in queries])
    table = QueryLog(table.user, pl.Series([f"p{i:05d}" for i in range(len(published))]), table.query, table.queries)
    return LogRelease(table, statement(**parameters), Truth(np.array(truth, dtype=np.int32)))


def sealed(release: Release) -> Release:
    """Pretend that the gate let a release through, to write what it never would."""
    return replace(release, seal=Seal.of(release.kind, release.log, release.statement))


def queries_of(log: QueryLog) -> list[list[str]]:
    out = [[] for _ in log.users]
    for u, q in zip(log.user.tolist(), log.query.tolist(), strict=True):
        out[u].append(log.queries[q])
    return out


def distinct_log(users: int = 40, queries: int = 12) -> QueryLog:
    """Every user has words of its own; nobody shares a query."""
    rows = [(f"u{u}", f"word{u} thing{u} {q}") for u in range(users) for q in range(queries)]
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows], times=list(range(len(rows))))
