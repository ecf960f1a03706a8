"""What one attack found: how often the attacker is right about people, and how often without the release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "AttackResult",
    "Baseline",
    "BaselineKind",
    "CannotAttackError",
    "NothingToAttackError",
    "Question",
    "Risk",
    "Unit",
]

Question = Literal["singling out", "linkability", "inference"]
"""The three questions of European regulators (Article 29 Working Party, Opinion 05/2014)."""

Risk = Literal["link", "claim", "membership", "membership at 1 %", "count"]
"""Which limit judges it: linking a person to a published id, claiming what a person asked, telling whether a person is
in the log (2 AUC - 1), the same as true positives at 1 % false positives; `count`: something that is counted, not
guessed, and has no limit of its own."""

Unit = Literal["person", "published id", "query", "record"]

BaselineKind = Literal["guessing", "another person", "people held out"]
"""Whom the attacker's rate is compared with: `guessing` among all candidates without the release; the same claims
scored against `another person` drawn at random; the same attacker on `people held out` of a further release."""


class CannotAttackError(Exception):
    """An attack does not fit what is at hand; the text says what is missing."""


class NothingToAttackError(CannotAttackError):
    """The release holds nothing that the attack is about: it is passed, not left out. The text says what is missing."""


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """How often the same attacker is right where the release tells nothing about the target."""

    kind: BaselineKind
    rate: float
    low: float
    high: float
    """95 % interval of the rate; the rate itself where it is known exactly"""
    targets: int
    """0 = known exactly"""


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """What one attack found. Made by `attacks.interval.result_of`."""

    attack: str
    """name in the catalog, and after a comma the variant"""
    question: Question
    risk: Risk
    knows: str
    """what the attacker knows, in a few words"""
    unit: Unit
    """what one target is"""
    rate: float
    """share of targets on which the attacker is right; the expected share where it guesses among equal scores"""
    low: float
    high: float
    """95 % interval of the rate"""
    baseline: Baseline
    lift: float
    """rate less that of the baseline: what the release adds"""
    lift_low: float
    lift_high: float
    """95 % interval of the lift"""
    bound: float | None
    """the bound that the release's statement claims for exactly this rate, if any"""
    targets: int
    details: dict[str, float] = field(default_factory=dict)

    @property
    def names_people(self) -> bool:
        """The attack says something about a person; False where it counts something else that is risky."""
        return self.risk != "count"

    @property
    def judged(self) -> float:
        """What limits look at: the upper end of the lift; the claimed bound where that is smaller.

        A bound below the whole interval of the rate is refuted by the attack itself, and does not count.
        """
        if self.bound is None or self.low > self.bound:
            return self.lift_high
        return min(self.lift_high, self.bound)

    def to_row(self) -> dict[str, object]:
        """Return every figure under its name, for a table."""
        return {
            "attack": self.attack,
            "question": self.question,
            "risk": self.risk,
            "knows": self.knows,
            "unit": self.unit,
            "targets": self.targets,
            "rate": float(self.rate),
            "low": float(self.low),
            "high": float(self.high),
            "compared_with": self.baseline.kind,
            "baseline": float(self.baseline.rate),
            "lift": float(self.lift),
            "lift_low": float(self.lift_low),
            "lift_high": float(self.lift_high),
            "bound": None if self.bound is None else float(self.bound),
            "judged": float(self.judged),
        }

    def to_cells(self) -> dict[str, str]:
        """Return what a reader wants to see first."""
        return {
            "attack": self.attack,
            "right": f"{self.rate:.1%}",
            "without": f"{self.baseline.rate:.1%}",
            "lift": f"{self.lift:+.1%}",
            "at most": f"{self.lift_high:.1%}",
            "bound": "none" if self.bound is None else f"{self.bound:.1%}",
            "of": f"{self.targets:,}",
            "unit": self.unit,
            "compared with": self.baseline.kind if self.names_people else "counted",
        }
