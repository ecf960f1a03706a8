"""What a comparison found: runs with their attacks and measures, the frontier, and the recommendation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from querycloak.attacks.result import AttackResult  # noqa: TC001 - msgspec reads the types of fields
from querycloak.measures.score import Score  # noqa: TC001
from querycloak.releases.statement import PrivacyStatement  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UTILITY", "Comparison", "Run", "frontier", "recommend"]

UTILITY: Final = "topic divergence"
"""The measure that stands for utility in the risk-utility picture: it fits every kind of release."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One method with one choice of settings."""

    name: str
    method: str
    settings: dict[str, Any]
    statement: PrivacyStatement | None = None
    attacks: tuple[AttackResult, ...] = ()
    scores: tuple[Score, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    """how long each step took"""
    group_sizes: dict[int, int] = field(default_factory=dict)
    """number of published users whose log is shared by so many"""
    topics: dict[str, float] = field(default_factory=dict)
    """share of each topic after"""
    error: str | None = None
    """why it failed; None = it did not"""
    baseline: bool = False

    @property
    def risk(self) -> float | None:
        """Rate of the worst attack that names users."""
        rates = [a.rate for a in self.attacks if a.names_people]
        return max(rates) if rates else None

    @property
    def worst(self) -> AttackResult | None:
        """The worst attack that names users."""
        return max((a for a in self.attacks if a.names_people), key=lambda a: a.rate, default=None)

    @property
    def utility(self) -> float | None:
        """1 less the divergence of topics: 1 = the topics are as they were."""
        found = [s.value for s in self.scores if s.measure == UTILITY]
        return 1.0 - found[0] if found else None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All runs on one log."""

    version: str
    log: dict[str, int]
    """counts of the log"""
    seed: int
    max_risk: float
    repeat: str
    """the command that repeats it"""
    topics: dict[str, float]
    """share of each topic in the log"""
    runs: tuple[Run, ...]


def frontier(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that no other beats on both risk and utility, by rising risk.

    >>> from querycloak.attacks.result import Baseline
    >>> def run(name, rate, loss):
    ...     blind = Baseline(kind="guessing", rate=0, low=0, high=0, targets=0)
    ...     attack = AttackResult(attack="a", question="linkability", risk="link", knows="", unit="person", rate=rate,
    ...         low=0, high=1, baseline=blind, lift=rate, lift_low=0, lift_high=1, bound=None, targets=1)
    ...     score = Score(measure=UTILITY, value=loss, better="lower")
    ...     return Run(name=name, method="m", settings={}, attacks=(attack,), scores=(score,))
    >>> [r.name for r in frontier([run("a", 0.1, 0.5), run("b", 0.2, 0.6), run("c", 0.3, 0.1)])]
    ['a', 'c']
    """
    placed = [(r.risk, -r.utility, i, r) for i, r in enumerate(runs) if r.risk is not None and r.utility is not None]
    out: list[Run] = []
    best = float("-inf")
    for _, minus_utility, _, run in sorted(placed, key=lambda p: p[:3]):
        if -minus_utility > best:
            best = -minus_utility
            out.append(run)
    return out


def recommend(runs: Sequence[Run], max_risk: float) -> Run | None:
    """Return the run with the best utility whose worst attack is at most the given risk; the lower risk among equals.

    Runs are equal to a tenth of a percent. The baseline is never recommended, nor a release that keeps nothing.
    """
    fits = [r for r in runs if r.risk is not None and r.utility and r.risk <= max_risk and not r.baseline]
    return max(fits, key=lambda r: (round(r.utility or 0.0, 3), -(r.risk or 0.0)), default=None)
