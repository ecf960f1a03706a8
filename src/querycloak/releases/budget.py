"""The privacy budget of one release: every ε and δ that a mechanism uses is taken from it, and it never gives more.

A method makes one `Budget` of what its user asked for. A mechanism takes a `Share` of it and can use that once. The sum
is kept in fractions, so that no rounding hides an overdraft; shares are rounded down. The gate compares the account
with what the statement promises.

>>> budget = Budget(1.0, delta=1e-6)
>>> choose = budget.take("choosing queries", fraction=0.5, delta=1e-6)
>>> budget.take_rest("counts").use()
0.5
>>> choose.use()
0.5
>>> budget.take("one more count", fraction=0.1)
Traceback (most recent call last):
...
querycloak.errors.GateError: The budget is spent: 'one more count' asks for more than is left; nothing is published.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from querycloak.errors import GateError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Budget", "Share"]


@dataclass
class Share:
    """A part of a budget, for one mechanism, once."""

    purpose: str
    epsilon: float
    delta: float = 0.0
    used: bool = False

    def use(self) -> float:
        """Return ε for the mechanism that runs now; a second use is refused, since it would spend it again."""
        if self.used:
            raise GateError(f"The share of the budget for {self.purpose!r} was used twice; nothing is published.")
        self.used = True
        return self.epsilon


@dataclass
class Budget:
    """What a release may spend for each user (basic composition: shares add up)."""

    epsilon: float
    delta: float = 0.0
    account: list[Share] = field(default_factory=list)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """ε and δ of all shares, used or not."""
        epsilon = sum((Fraction(share.epsilon) for share in self.account), Fraction(0))
        return epsilon, sum((Fraction(share.delta) for share in self.account), Fraction(0))

    def take(self, purpose: str, *, fraction: float = 1.0, delta: float = 0.0) -> Share:
        """Take a fraction of the whole ε, rounded down, and some of δ; what is not left is refused."""
        if not 0 < fraction <= 1:
            raise GateError(f"{purpose!r} asks for {fraction:g} of the budget; a fraction of 0 to 1 is expected.")
        if not 0 <= delta <= 1:
            raise GateError(f"{purpose!r} asks for a delta of {delta:g}; a probability is expected.")
        epsilon = self.epsilon if fraction == 1 else _rounded_down(Fraction(self.epsilon) * Fraction(fraction))
        return self._enter(Share(purpose, epsilon, delta))

    def take_rest(self, purpose: str) -> Share:
        """Take all of ε that is left, rounded down: fractions that add up to 1 on paper may not do so in binary."""
        left = Fraction(self.epsilon) - self.spent[0]
        if left <= 0:
            raise self._overdrawn(purpose)
        return self._enter(Share(purpose, _rounded_down(left)))

    def take_draws(self, purpose: str, draws: npt.NDArray[np.integer[Any]], epsilon: npt.NDArray[np.float64]) -> Share:
        """Take what each user's draws cost: `draws` int[users] of them, each at `epsilon` float64[users].

        Users do not touch each other's rows, so the release costs what its most expensive user costs.
        """
        pairs = np.unique(np.stack([draws.astype(np.float64), epsilon], axis=1), axis=0)
        costs = [Fraction(int(n)) * Fraction(float(each)) for n, each in pairs.tolist()]
        most = max(costs, default=Fraction(0))
        if most > Fraction(self.epsilon):
            raise self._overdrawn(purpose)
        return self._enter(Share(purpose, _rounded_up(most), used=True))

    def _enter(self, share: Share) -> Share:
        epsilon, delta = self.spent
        if epsilon + Fraction(share.epsilon) > Fraction(self.epsilon) or delta + Fraction(share.delta) > Fraction(
            self.delta
        ):
            raise self._overdrawn(share.purpose)
        self.account.append(share)
        return share

    @staticmethod
    def _overdrawn(purpose: str) -> GateError:
        return GateError(f"The budget is spent: {purpose!r} asks for more than is left; nothing is published.")


def _rounded_down(exact: Fraction) -> float:
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, 0.0)


def _rounded_up(exact: Fraction) -> float:
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
