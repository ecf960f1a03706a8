"""Choosing and counting queries with discrete Laplace noise (Korolova, Kenthapadi, Mishra, Ntoulas 2009).

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
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp._noise import add_noise, scale_for

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share

__all__ = ["choose_queries", "count_queries", "first_queries", "rule_of_choice", "threshold"]

Int64s = npt.NDArray[np.int64]


def threshold(d: int, scale: float, delta: float) -> int:
    """Return K, at least d: a query is chosen where count + noise reaches it. Makes d · a^(K - d) / (1 + a) <= δ."""
    a = math.exp(-1 / scale)
    exact = d + scale * (math.log(d / delta) - math.log1p(a))
    return max(d, math.ceil(exact * (1 + 2.0**-48)))


def first_queries(log: QueryLog, d: int) -> Int64s:
    """int64[distinct queries]: how often each is among the first d query events of a user, over all users."""
    most = np.full(len(log.users), d, dtype=np.int64)
    counted = take_fitting(log.user, (log.event & (log.query >= 0)).astype(np.int64), most)
    return np.bincount(log.query[counted], minlength=len(log.queries)).astype(np.int64)


def choose_queries(counts: Int64s, d: int, share: Share, random: Randomness) -> tuple[Int64s, dict[str, float]]:
    """Choose queries by noisy counts, with an ε and a δ: their codes, ascending, and the rule."""
    asked = np.flatnonzero(counts)  # int64[candidates], codes of queries
    scale = scale_for(d, share.epsilon)
    least = threshold(d, scale, share.delta)
    noisy = add_noise(counts[asked], sensitivity=d, epsilon=share.use(), random=random.child("choice"))
    return asked[noisy >= least], rule_of_choice(least, scale)


def rule_of_choice(least: int, scale: float) -> dict[str, float]:
    """Return what the choice did, for the statement."""
    return {"threshold": float(least), "noise scale of the choice": scale}


def count_queries(counts: Int64s, chosen: Int64s, d: int, share: Share, random: Randomness) -> Int64s:
    """int64[chosen]: the counts of chosen queries, with noise."""
    return add_noise(counts[chosen], sensitivity=d, epsilon=share.use(), random=random.child("counts"))
