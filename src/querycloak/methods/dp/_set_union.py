"""User-level set union: which items (queries, phrases, clicks) are published, without a list of items known before.

Weighted Gaussian (Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin 2020): a user keeps at most d distinct items and
gives them weights of l2-norm 1 at most; Gaussian noise goes on the sums; what is at or above a threshold is published.
DP-SIPS (Swanberg, Desfontaines, Haney 2023): the same in several rounds; what was found is taken out of the users' sets
before the next round, so that their weight goes where it is still needed. One round is the weighted Gaussian.

**What is protected: a user.** Neighbours are logs D, D' of which D' has one user more. Each round is δ-approximately
rho-zero-concentrated private (Bun and Steinke 2016, section 8), for what it takes of the budget:

1. *What one user changes.* By `_contribution.py`, the sums of D' are those of D plus one vector v >= 0 of whole
   numbers, with l2-norm at most `unit` and at most d entries above 0: what a user keeps, and with which weights,
   follows from the user's own items, the costs of items, which are public, and what earlier rounds published. (Where a
   user's items are drawn at random: the same random order on both sides. Divergences are quasi-convex, so mixing over
   the orders costs nothing.)
2. *Items that D looks at*, those with a sum of at least `floor` in D. D' looks at them too, since v >= 0. Let R be what
   D' publishes of them. Both add independent discrete Gaussian noise of deviation s to vectors of whole numbers that
   differ by at most `unit` in l2. The Rényi divergence of order a of two discrete Gaussians k apart is at most
   a · k² / (2s²) (Canonne, Kamath and Steinke 2020) and adds up over coordinates, so that of the noisy vectors is at
   most a · unit² / (2s²) <= a · rho, both ways. Thresholds are post-processing.
3. *Items that D does not look at.* D' publishes none of them but with probability δ (`_set_union_threshold.py`).
   Their noise is independent of that of step 2, so what D' publishes, given that it publishes none of them, has the
   distribution of R. That is the definition of δ-approximate rho-zCDP, with everything as the event on the side of D.

Rounds compose adaptively: rho and δ add up (Bun and Steinke, Lemma 8.2), which is what the budget does. In (ε, δ) it is
(ε, δ(ε)) of all rho, and the δ of all thresholds on top. One way, P(D' in S) <= P(R in S) + δ. The other way, for S
without items of step 3, P(D in S) <= e^ε P(R in S) + δ(ε) and P(R in S) · (1 - δ) <= P(D' in S): where
e^ε P(R in S) <= 1 the missing part is at most δ, and else the bound e^ε P(D' in S) + δ(ε) + δ is above 1.

**Departures.** Gopi et al. take the deviation from the analytic Gaussian mechanism. That theorem is about continuous
noise; for discrete noise in several dimensions the zero-concentrated bound is proved, and it composes with the counts.
It costs 7 % of deviation at ε = 1. `floor` is ours: discrete Gaussian noise is drawn exactly, 65,000 numbers a second,
and nine of ten items belong to one user; leaving out what is below 1/16 of a deviation raises the threshold by as much
(1 %). Weights by cost are ours too: a short query is more likely to be a frequent one, which is public knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._contribution import add_up, keep_cheapest, weigh
from querycloak.methods.dp._noise import add_gaussian, gaussian_scale
from querycloak.methods.dp._set_union_threshold import threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.methods.dp._contribution import Contributions
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share

__all__ = ["FLOOR", "MOST_ITEMS", "UNIT", "Round", "Rule", "fine_unit", "set_union"]

Int64s = npt.NDArray[np.int64]

UNIT: Final = 1 << 20
"""A weight of 1 in whole numbers."""
FLOOR: Final = 1 / 16
"""Deviations of noise below which the sum of an item is not looked at."""
MOST_ITEMS: Final = 1 << 22
"""Of a user; more would not fit the whole numbers of `weigh`, and no user asks so much."""
_WIDEST: Final = 2.0**38
"""Of a deviation: thresholds of many of them still fit."""


class Round(NamedTuple):
    """What one round takes of the budget."""

    noise: Share
    """with a rho"""
    threshold: Share
    """with a δ"""


class Rule(NamedTuple):
    """What a round did, for the statement; nothing of it depends on the log."""

    deviation: float
    """of the noise, in users"""
    threshold: float
    """in users"""


def set_union(
    some: Contributions, cost: Int64s, d: int, rounds: Sequence[Round], random: Randomness
) -> tuple[Int64s, list[Rule]]:
    """Choose items: their codes, ascending, and the rules of all rounds. cost: int64[items], from 1, public."""
    found = np.zeros(some.items, dtype=np.bool_)
    rules: list[Rule] = []
    most = min(d, MOST_ITEMS)
    for i, share in enumerate(rounds):
        rho = share.noise.use()
        unit = fine_unit(UNIT, rho)
        left = some.take(~found[some.item])
        kept = keep_cheapest(left, cost, most, random.child(f"kept {i}"))
        sums = add_up(kept, weigh(kept, cost, unit))
        scale = gaussian_scale(unit, rho)
        floor = max(1, int(scale * FLOOR))
        least = threshold(most, scale, share.threshold.use(), unit=unit, floor=floor)
        looked_at = np.flatnonzero(sums >= floor)
        noisy = add_gaussian(sums[looked_at], sensitivity=unit, rho=rho, random=random.child(f"choice {i}"))
        found[looked_at[noisy >= least]] = True
        rules.append(Rule(scale / unit, least / unit))
    return np.flatnonzero(found), rules


def fine_unit(unit: int, rho: float) -> int:
    """Return `unit`, or a power of two less where rho is so small that noise in such units would not fit 64 bits."""
    while unit > 1 and gaussian_scale(1.0, rho) * unit > _WIDEST:
        unit //= 2
    return unit
