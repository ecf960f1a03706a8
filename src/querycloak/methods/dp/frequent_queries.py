"""Noisy counts of frequent queries (Korolova, Kenthapadi, Mishra, Ntoulas 2009): a table, differentially private.

Keep the first d queries of each user; count each query; choose it if count + noise(b) >= K; publish it with
count + noise(b'), a fresh draw.

**What is protected: a user.** Neighbours are logs of which one has one user more. The proof, for the noise that runs
(discrete Laplace, P(x) ∝ exp(-|x| / b)):

1. A user changes counts by at most d in sum. Choosing among the queries that both logs hold is therefore d/b-private,
   publishing their counts d/b'-private. With b = d/ε₁ and b' = d/ε₂ both together are (ε₁ + ε₂)-private.
2. Queries that only this user asked have counts c₁ + c₂ + … <= d in one log and are absent from the other. One of them
   is chosen with probability at most Σ a^(K - cᵢ) / (1 + a), a = exp(-1/b), which is at most d · a^(K - d) / (1 + a).
   `threshold` makes this at most δ.
3. So for any set S of outcomes, P(S | with) <= exp(ε) · P(S | without) + δ by leaving out the outcomes of step 2, and
   P(S | without) <= exp(ε) · P(S | with) + δ, because with probability 1 - δ none of those queries is chosen.

Departures from the publication's formula b = d/ε, K = d · (1 - ln(2δ/d) / ε):

- The formula spends ε on choosing alone; the counts cost d/b' more. Here ε is the whole budget and is divided between
  both (`count_share`).
- Noise is whole-numbered. Its tail is 1/(1 + a) instead of 1/2, so K has (1 + a)δ in place of 2δ and is rounded up:
  never below the published K for the same b.

The filtered log (`output_form="log"`) publishes all rows whose query was chosen, as they were. It is not
differentially private, and its statement says so; no budget goes to counts then, and b and K are the published ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.logs.query_log import QueryLog
from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp._noise import add_noise, check_library, describe_noise, scale_for
from querycloak.progress import QUIET, Progress
from querycloak.releases.budget import Budget
from querycloak.releases.publish import Evidence, publish_counts, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.settings import Settings, setting

if TYPE_CHECKING:
    import polars as pl

    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["FrequentQueries", "frequent_queries", "threshold"]


@dataclass(frozen=True)
class FrequentQueries(Settings):
    """Settings of `frequent-queries`."""

    epsilon: float = setting(math.log(10), "budget of each user, for choosing queries and for their counts", above=0)
    delta: float = setting(1e-5, "probability that a query of one user alone is published", above=0, below=1)
    per_user: int = setting(1, "count only the first so many queries of each user", minimum=1)
    count_share: float = setting(0.5, "share of epsilon that goes to the published counts", above=0, below=1)
    output_form: str = setting(
        "table",
        "table = queries with noisy counts; log = the rows of the log whose query was chosen: no guarantee",
        choices=("table", "log"),
    )


def threshold(d: int, scale: float, delta: float) -> int:
    """Return K, at least d: a query is chosen where count + noise reaches it. Makes d · a^(K - d) / (1 + a) <= δ."""
    a = math.exp(-1 / scale)
    exact = d + scale * (math.log(d / delta) - math.log1p(a))
    return max(d, math.ceil(exact * (1 + 2.0**-48)))


def frequent_queries(
    log: QueryLog, settings: FrequentQueries, random: Randomness, progress: Progress = QUIET
) -> Release:
    """Publish the queries that many users asked."""
    if random.seed is None:
        check_library()
    event = log.event
    progress.start("counting", total=len(log))
    most = np.full(len(log.users), settings.per_user, dtype=np.int64)
    counted = take_fitting(log.user, event.astype(np.int64), most)
    counts = np.bincount(log.query[counted], minlength=len(log.queries)).astype(np.int64)
    asked = np.flatnonzero(counts).astype(np.int32)  # int32[candidates], codes of queries
    progress.advance(len(log))

    table = settings.output_form == "table"
    budget = Budget(float(settings.epsilon), float(settings.delta))
    share = 1 - settings.count_share if table else 1.0
    to_choose = budget.take("choosing queries", fraction=share, delta=float(settings.delta))
    scale = scale_for(settings.per_user, to_choose.epsilon)
    least = threshold(settings.per_user, scale, settings.delta)
    progress.start("choosing queries", total=len(asked))
    noisy = add_noise(
        counts[asked], sensitivity=settings.per_user, epsilon=to_choose.use(), random=random.child("choice")
    )
    chosen = asked[noisy >= least]
    progress.advance(len(asked))

    if table:
        to_count = budget.take_rest("counts of the chosen")
        shown = add_noise(
            counts[chosen], sensitivity=settings.per_user, epsilon=to_count.use(), random=random.child("counts")
        )
        published, truth, kept = _table(log, chosen, shown), None, np.isin(log.query, chosen) & counted
    else:
        kept = event & np.isin(log.query, chosen)
        published, truth, *_ = under_new_ids(log, log.user[kept], log.query[kept], random)
    dropped = {
        "further clicks of a query": int((~event).sum()),
        **({"beyond the first queries of a user": int((event & ~counted).sum())} if table else {}),
        "query not frequent enough": int(((counted if table else event) & ~kept).sum()),
    }
    if table:  # exact counts would be one more output, without noise: they are told, not written
        told = ", ".join(f"{n:,} {reason}" for reason, n in dropped.items())
        progress.note(f"{len(log):,} rows in; left out: {told} (not in the statement: these counts are exact)")
    statement = PrivacyStatement(
        method="frequent-queries",
        settings=settings.to_json(),
        version=__version__,
        model=_model(settings) if table else "none",
        parameters={
            "epsilon": float(settings.epsilon),
            "delta": float(settings.delta),
            "threshold": float(least),
            "noise scale of the choice": scale,
        }
        if table
        else {},
        unit="user" if table else "none",
        covers=_covers(settings) if table else (),
        does_not_cover=_does_not_cover(table),
        assumptions=("one person is one user of the log", "the settings were chosen without looking at the log"),
        randomness=describe_noise(random),
        new_ids=True,
        counts_in={} if table else count_in(log),
        counts_out={"rows": len(published)} if table else count_out(published),
        dropped={} if table else dropped,
        figures={} if table else {"threshold": float(least), "noise scale of the choice": scale},
    )
    if table:
        return publish_counts(published, statement, Evidence(log, budget=budget))
    return publish_log(published, statement, truth, Evidence(log))


def _table(log: QueryLog, chosen: npt.NDArray[np.int32], shown: npt.NDArray[np.int64]) -> QueryLog:
    """Make the published table: the largest count first, equal counts by text, so that its order tells nothing."""
    import polars as pl

    frame = pl.DataFrame({"query": log.queries.gather(chosen), "count": shown})
    frame = frame.sort(["count", "query"], descending=[True, False])
    return QueryLog(
        user=np.zeros(len(frame), dtype=np.int32),
        users=_nobody(len(frame)),
        query=np.arange(len(frame), dtype=np.int32),
        queries=frame["query"],
        extra=frame.select("count"),
        form=log.form,
    )


def _nobody(rows: int) -> pl.Series:
    """Return the vocabulary of users of a table that has none."""
    import polars as pl

    return pl.Series(["all"] if rows else [], dtype=pl.String)


def _model(settings: FrequentQueries) -> str:
    budget = f"epsilon {settings.epsilon:g}, delta {settings.delta:g}"
    return f"(epsilon, delta)-differential privacy of each user, {budget}"


def _covers(settings: FrequentQueries) -> tuple[str, ...]:
    promise = (
        f"without any one user, any table would have been as likely, up to a factor of exp({settings.epsilon:g}) and "
        f"an exception of probability {settings.delta:g}"
    )
    return (promise,)


def _does_not_cover(table: bool) -> tuple[str, ...]:
    if not table:
        noisy = "only the choice of queries is noisy, rows and their number per user are published as they were"
        return (
            f"the log is not differentially private: {noisy}",
            "all chosen queries of a user stay under one id",
            "queries are published verbatim",
        )
    return (
        "published queries are verbatim: a secret that many users share is published",
        "further releases of the same users add up",
    )
