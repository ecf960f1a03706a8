"""The privacy budget of one release: every ε, δ and rho of a mechanism is taken from it, and it never gives more.

A method makes one `Budget` of what its user asked for. A mechanism takes a `Share` of it and can use that once. A share
keeps its own kind of guarantee (`releases/account.py`); what all shares guarantee together is the tightest composition
(`releases/composition.py`), and a share that would bring it above what was asked for is refused. Sums are exact,
shares are rounded down. The gate compares the total with what the statement promises, and prints the account in it.

>>> budget = Budget(1.0, delta=1e-6)
>>> choose = budget.take("choosing queries", fraction=0.5, delta=1e-6)
>>> budget.take_rest("counts").use()
0.5
>>> choose.use()
0.5
>>> budget.total()
(1.0, 1e-06)
>>> budget.take("one more count", fraction=0.1)
Traceback (most recent call last):
...
querycloak.errors.GateError: The budget is spent: 'one more count' asks for more than is left; nothing is published.

**Gaussian noise.** `budget.rho` is the rho that (ε, δ) is worth. Where thresholds need a δ of their own, name it first,
so that both fit: `Budget(epsilon, delta, reserved_delta=delta / 2)`, then `take_rho` for noise and `take_delta` for
thresholds.

>>> budget = Budget(1.0, delta=1e-6, reserved_delta=5e-7)
>>> noise = [budget.take_rho(name, fraction=0.5) for name in ("weights", "counts")]
>>> threshold = budget.take_delta("threshold", delta=5e-7)
>>> [round(share.use(), 4) for share in noise]
[0.0115, 0.0115]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from querycloak.errors import GateError
from querycloak.releases.account import ADD_REMOVE, EMPTY, REPLACE, AccountLine, Relation
from querycloak.releases.composition import compose, largest_rho, rounded_down, rounded_up

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ADD_REMOVE", "EMPTY", "MOST_EPSILON", "REPLACE", "Budget", "Share"]

MOST_EPSILON = 1e9
"""An ε of this or more is refused: it bounds nothing, and is a mistake."""


@dataclass
class Share:
    """A part of a budget, for one mechanism, once."""

    line: AccountLine
    used: bool = False

    @property
    def purpose(self) -> str:
        """What the mechanism is for."""
        return self.line.purpose

    @property
    def epsilon(self) -> float:
        """ε of the share, to plan with; `use` is what a mechanism asks."""
        return self.line.epsilon

    @property
    def delta(self) -> float:
        """δ of the share."""
        return self.line.delta

    @property
    def rho(self) -> float:
        """The rho of the share, to plan with; `use` is what a mechanism asks."""
        return self.line.rho

    def use(self) -> float:
        """Return ε, rho or δ alone, whichever it has, for the mechanism that runs now.

        A second use is refused, since it would spend it again.
        """
        if self.used:
            raise GateError(f"The share of the budget for {self.purpose!r} was used twice; nothing is published.")
        self.used = True
        return self.line.epsilon or self.line.rho or self.line.delta


@dataclass
class Budget:
    """What a release may spend for each user."""

    epsilon: float
    delta: float = 0.0
    relation: Relation = ADD_REMOVE
    """which logs are neighbours; a share for another relation is refused"""
    reserved_delta: float = 0.0
    """the part of delta that `rho` leaves alone, for `take_delta` and `take(delta=…)`"""
    account: list[Share] = field(default_factory=list)
    closed: bool = False
    """the ledger was charged for the account as it is: nothing more can be taken"""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < MOST_EPSILON:
            raise GateError(f"A budget of epsilon {self.epsilon:g} bounds nothing; nothing is published.")
        if not 0 <= self.reserved_delta <= self.delta < 1:
            raise GateError(f"A budget of delta {self.delta:g} bounds nothing; nothing is published.")

    @cached_property
    def rho(self) -> float:
        """The whole rho that (ε, δ without the reserved part) is worth, by OpenDP; 0 where there is no δ for it."""
        return largest_rho(self.epsilon, rounded_down(Fraction(self.delta) - Fraction(self.reserved_delta)))

    @property
    def lines(self) -> tuple[AccountLine, ...]:
        """The account: all shares, used or not, in the order they were taken."""
        return tuple(share.line for share in self.account)

    def total(self) -> tuple[float, float]:
        """Return the tightest (ε, δ) that all shares guarantee together; never above what was asked for."""
        return compose(self.lines, self.delta)

    def take(
        self, purpose: str, *, fraction: float = 1.0, delta: float = 0.0, relation: Relation | None = None
    ) -> Share:
        """Take a fraction of the whole ε, rounded down, and some of δ; what is not left is refused."""
        epsilon = self._part(purpose, self.epsilon, fraction)
        if not epsilon:  # rounded down to nothing: `use` would return the delta
            raise self._overdrawn(purpose)
        return self._enter(purpose, relation, epsilon=epsilon, delta=_probability(purpose, delta))

    def take_rho(self, purpose: str, *, fraction: float = 1.0, relation: Relation | None = None) -> Share:
        """Take a fraction of the whole rho, rounded down, for Gaussian noise."""
        rho = self._part(purpose, self.rho, fraction)
        if not rho:
            raise self._overdrawn(purpose)
        return self._enter(purpose, relation, rho=rho)

    def take_delta(self, purpose: str, *, delta: float, relation: Relation | None = None) -> Share:
        """Take a δ alone: the probability that a threshold lets something pass that one user alone has."""
        if not _probability(purpose, delta):
            raise GateError(f"{purpose!r} asks for a delta of {delta:g}; a probability above 0 is expected.")
        return self._enter(purpose, relation, delta=delta)

    def take_rest(self, purpose: str) -> Share:
        """Take all of ε that is left, rounded down: fractions that add up to 1 on paper may not do so in binary."""
        if any(line.rho for line in self.lines):
            raise GateError(
                f"{purpose!r} asks for the rest of epsilon, and part of the budget is rho: take a fraction."
            )
        left = Fraction(self.epsilon) - sum((Fraction(line.epsilon) for line in self.lines), Fraction(0))
        if left <= 0:
            raise self._overdrawn(purpose)
        return self._enter(purpose, None, epsilon=rounded_down(left))

    def take_rest_rho(self, purpose: str) -> Share:
        """Take the largest rho, a hair less, that fits next to all that was taken and to the reserved δ."""
        epsilon = sum((Fraction(line.epsilon) for line in self.lines), Fraction(0))
        delta = sum((Fraction(line.delta) for line in self.lines), Fraction(0))
        taken = sum((Fraction(line.rho) for line in self.lines), Fraction(0))
        left = Fraction(self.epsilon) - epsilon, Fraction(self.delta) - max(delta, Fraction(self.reserved_delta))
        whole = largest_rho(rounded_down(left[0]), rounded_down(left[1])) if min(left) > 0 else 0.0
        if Fraction(whole) <= taken:
            raise self._overdrawn(purpose)
        return self._enter(purpose, None, rho=rounded_down(Fraction(whole) - taken))

    def take_draws(self, purpose: str, draws: npt.NDArray[np.integer[Any]], epsilon: npt.NDArray[np.float64]) -> Share:
        """Take what each user's draws cost: `draws` int[users] of them, each at `epsilon` float64[users].

        Users do not touch each other's rows, so the release costs what its most expensive user costs. The account is
        printed: the number of draws must be public under the budget's relation.
        """
        pairs = np.unique(np.stack([draws.astype(np.float64), epsilon], axis=1), axis=0)
        costs = [Fraction(int(n)) * Fraction(float(each)) for n, each in pairs.tolist()]
        most = max(costs, default=Fraction(0))
        if most > Fraction(self.epsilon):
            raise self._overdrawn(purpose)
        share = self._enter(purpose, None, epsilon=rounded_up(most))
        share.used = True
        return share

    def _part(self, purpose: str, whole: float, fraction: float) -> float:
        if not 0 < fraction <= 1:
            raise GateError(f"{purpose!r} asks for {fraction:g} of the budget; a fraction of 0 to 1 is expected.")
        return whole if fraction == 1 else rounded_down(Fraction(whole) * Fraction(fraction))

    def _enter(self, purpose: str, relation: Relation | None, **guarantee: float) -> Share:
        """Put a share into the account, unless all of it together would guarantee less than was asked for."""
        if self.closed:
            raise GateError(f"{purpose!r} is taken from the budget after the ledger was charged; nothing is published.")
        if relation not in {None, self.relation}:
            raise GateError(f"{purpose!r} is for the relation {relation}, the budget for {self.relation}.")
        line = AccountLine(purpose=purpose, relation=self.relation, **guarantee)
        epsilon, delta = compose((*self.lines, line), self.delta)
        if epsilon > self.epsilon or delta > self.delta or not math.isfinite(epsilon):
            raise self._overdrawn(purpose)
        share = Share(line)
        self.account.append(share)
        return share

    @staticmethod
    def _overdrawn(purpose: str) -> GateError:
        return GateError(f"The budget is spent: {purpose!r} asks for more than is left; nothing is published.")


def _probability(purpose: str, delta: float) -> float:
    if not 0 <= delta <= 1:
        raise GateError(f"{purpose!r} asks for a delta of {delta:g}; a probability is expected.")
    return delta
