"""Record linkage: who knows the whole log links each published user to the original with most queries in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.attacks._linkage_kernels import link
from querycloak.attacks.interval import result_of
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import polars as pl

    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["record_linkage"]


def record_linkage(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all attacks are called alike
    progress: Progress = QUIET,
) -> AttackResult:
    """Link every published user to original users by the number of queries in common (Batet et al. 2013, eq. 10).

    G is the set of original users at the maximum, all of them where nothing is in common; the chance of a right link is
    1 / |G| if the right user is in G, else 0. Queries are compared as texts, with multiplicity; the further clicks of a
    query event do not count again.

    In a release where groups of at least k users share their bag, all members of a group have the same G, so their
    chances add up to at most 1: the rate cannot pass 1 / k.
    """
    assert release.truth is not None
    progress.start("attack: record linkage")
    events = np.flatnonzero(log.event)
    start, query, count = _bags(release.log.user, release.log.query, len(release.log.users))
    user_start, asked, times = _bags(log.user[events], log.query[events], len(log.users))
    asker = np.repeat(np.arange(len(log.users), dtype=np.int32), np.diff(user_start))
    order = np.argsort(asked, kind="stable")
    post_start = np.searchsorted(asked[order], np.arange(len(log.queries) + 1)).astype(np.int64)
    code = _codes_in(release.log.queries, log.queries)[query]
    keep = code >= 0
    kept = np.concatenate([[0], np.cumsum(keep)])[start]
    most, linked, right = link(
        kept, code[keep], count[keep], post_start, asker[order], times[order], release.truth.user, len(log.users)
    )
    chance = np.where(right, 1.0 / np.maximum(linked, 1), 0.0)
    details = {
        "mean queries in common with the linked": float(most.mean()) if len(most) else 0.0,
        "mean users linked": float(linked.mean()) if len(linked) else 0.0,
    }
    return result_of("record linkage", chance, release, guess=1 / max(len(log.users), 1), details=details)


def _bags(
    user: npt.NDArray[np.int32], query: npt.NDArray[np.int32], n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Count the queries of each user: start int64[n + 1], query, count."""
    width = int(query.max(initial=0)) + 1
    pairs, count = np.unique(user.astype(np.int64) * width + query, return_counts=True)
    start = np.searchsorted(pairs, np.arange(n + 1, dtype=np.int64) * width)
    return start.astype(np.int64), (pairs % width).astype(np.int32), count.astype(np.int64)


def _codes_in(words: pl.Series, vocabulary: pl.Series) -> npt.NDArray[np.int32]:
    """Find texts in another vocabulary: int32[len(words)], -1 where it is not there."""
    import polars as pl

    there = pl.DataFrame({"text": vocabulary}).with_row_index("code").unique("text", keep="first")
    found = pl.DataFrame({"text": words}).join(there, on="text", how="left", maintain_order="left")
    return found["code"].cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int32)
