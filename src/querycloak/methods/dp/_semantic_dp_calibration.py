"""How steep the weights of the exponential mechanism may be: as steep as the worst case of the domain allows.

The paper's weights are exp(-ε_q/2 · loss), loss = (max_sim - sim) / (max_sim - min_sim). The factor 1/2 pays for a
change of the total of all weights that hardly happens, so the true loss is about half of ε_q. Here the weights are
exp(-rate · loss) with the rate between ε_q/2 and ε_q at which the worst case, computed for the domain, is ε_q.

**Why no ratio exceeds exp(ε_q).** Write w = exp(-λ·d(c, o)) with d in [0, 1], Z(c) for the sum of w over the domain,
P(o|c) = w / Z(c), and P(o|none) = 1/n for a user without a concept. L(λ) is the largest ln P(o|c) - ln P(o|c') over
all inputs c, c' (`none` is one of them) and outcomes o.

1. `worst_losses` computes L at an anchor λ over all inputs and outcomes. Its floating-point error is below 10^-12:
   sums of a few hundred positive terms, two divisions, one logarithm.
2. Between anchors a < b: for each triple, f(λ) = ln P(o|c) - ln P(o|c') has f'' = Var(d|c') - Var(d|c), as (ln Z)'' is
   the variance of d under P(·|c). A number in [0, 1] has a variance of at most 1/4, so |f''| <= 1/4, and f is at most
   its chord plus (λ - a)(b - λ)/8. The largest of all chords is at most the chord of the largest:

       L(λ) <= L(a) + (L(b) - L(a)) · (λ - a)/(b - a) + (λ - a)(b - λ)/8.

   The first anchor is 0, where L = 0. Anchors are k²/20: then the last term is at most λ/160. L(λ) is at least λ (of
   the pair with d = 1, each is an outcome that the other makes rare; one of both ratios is at least exp(λ)).
3. Weights are whole numbers W. For λ <= 40, W / (2^62 · w) is between 1 - 2^-46 and 1 + 2^-46 + exp(λ) · 2^-61
   (`weigh`: the error of exp, of its argument, the factor 1 + 2^-48, rounding up). Each ln P moves by at most the
   logarithm of that range, and L by at most twice as much: `_rounding` is more.
4. The rate is the largest λ that 2 and 3 allow, or ε_q/2 where that is more: for a tiny ε_q, whose weights 62 bits
   cannot tell apart well, and for ε_q beyond the last anchor. ε_q/2 needs no calibration: all weights are between 2^62
   · exp(-ε_q/2) and 2^62, so both factors of P(o|c) / P(o|c') = W/W' · ΣW'/ΣW are at most exp(ε_q/2).

For nsqc all totals are equal, ΣW' = ΣW, and W/W' <= exp(λ): the rate is ε_q.

Everything here is made of the taxonomy, the topics and ε_q, never of a log.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._semantic_dp_kernels import Cells, Tables, weigh
from querycloak.methods.dp._semantic_dp_loss_kernels import worst_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LARGEST_CALIBRATED", "Calibration"]

Float64s = npt.NDArray[np.float64]

_LAST: Final = 28
"""The last anchor is 39.2: above 40, rounding to whole numbers would count for more than 1 %."""
LARGEST_CALIBRATED: Final = 39.0
"""Up to this ε_q the true loss is at least 0.98 of it, whatever the domain: L(λ) >= λ, and the last anchor is above."""
_ANCHOR_ERROR: Final = 1e-12
_BISECTIONS: Final = 60


def anchor(k: int) -> float:
    """Return the k-th rate at which the worst case is computed."""
    return k * k / 20


def _rounding(rate: float) -> float:
    """Return by how much whole-number weights may raise the loss (step 3)."""
    return 2.0**-43 + math.exp(rate) * 2.0**-59


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """The worst case of each domain of a mechanism."""

    cells: Cells
    loss: Float64s
    """float64[shared + 1, union + 1], 1 - sim (equation 5) by number of shared ancestors and of all ancestors"""
    spread: Float64s
    """float64[domains], the largest loss of two concepts of the domain; losses are divided by it"""
    size: npt.NDArray[np.int64]
    """int64[domains], concepts of each"""
    equal_totals: bool
    """all inputs have the same total weight: nsqc"""
    as_in_paper: bool = False
    """the rate is ε_q/2 in every domain: equation 3 as it is, to compare with the paper's figures"""
    _known: dict[int, Float64s] = field(default_factory=dict, init=False)
    """anchor → float64[domains], its worst case"""

    def rate(self, epsilon: float, domain: int) -> float:
        """Return the rate of the weights for one ε_q and domain, by its number."""
        if self.as_in_paper:
            return epsilon / 2
        if self.equal_totals:
            return epsilon
        low, high = int(math.sqrt(10 * min(epsilon, 100.0))), int(math.sqrt(20 * min(epsilon, 100.0)))
        low, high = min(low, _LAST - 1), min(high, _LAST - 1)  # anchor(low) <= ε/2 <= rate <= ε < anchor(high + 1)
        while low < high:
            middle = (low + high + 1) // 2
            if self._worst(middle, domain) <= epsilon:
                low = middle
            else:
                high = middle - 1
        return max(self._between(low, epsilon, domain), epsilon / 2)

    def tables(self, epsilon: Sequence[float], domain: Sequence[int]) -> Tables:
        """Return the whole-number weights of each pair (ε_q, domain)."""
        weights = np.empty((len(epsilon), *self.loss.shape), dtype=np.uint64)
        far = np.empty(len(epsilon), dtype=np.uint64)
        one = np.ones((1, 1))
        for i, (e, d) in enumerate(zip(epsilon, domain, strict=True)):
            rate = self.rate(e, d)
            weights[i] = weigh(self.loss, rate, float(self.spread[d]))
            far[i] = weigh(one, rate, 1.0)[0, 0]
        return Tables(weights, far)

    def _worst(self, k: int, domain: int) -> float:
        """Return L at an anchor."""
        if k == 0:
            return 0.0
        if k not in self._known:
            losses = np.minimum(1.0, self.loss[None] / self.spread[:, None, None])
            weights = np.exp(-anchor(k) * losses)
            self._known[k] = worst_losses(self.cells, weights, math.exp(-anchor(k)), self.size) + _ANCHOR_ERROR
        return float(self._known[k][domain])

    def _between(self, k: int, epsilon: float, domain: int) -> float:
        """Return the largest rate between two anchors whose bound is at most ε_q; 0 where there is none."""
        a, b = anchor(k), anchor(k + 1)
        at_a, at_b = self._worst(k, domain), self._worst(k + 1, domain)

        def fits(rate: float) -> bool:
            chord = at_a + (at_b - at_a) * (rate - a) / (b - a)
            bound = chord + (rate - a) * (b - rate) / 8 + _rounding(rate)
            return bound * (1 + 2.0**-48) <= epsilon  # the bound itself is computed in floating point

        if fits(b):
            return b
        if not fits(a):
            return 0.0
        fit, too_much = a, b
        for _ in range(_BISECTIONS):
            middle = (fit + too_much) / 2
            fit, too_much = (middle, too_much) if fits(middle) else (fit, middle)
        return fit
