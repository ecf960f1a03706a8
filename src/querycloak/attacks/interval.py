"""The result of an attack, with the 95 % intervals of its rate (Wilson's) and of its lift (Newcombe's)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from querycloak.attacks.result import AttackResult, Baseline, BaselineKind, Question, Risk, Unit
from querycloak.statistics import wilson

if TYPE_CHECKING:
    from querycloak.attacks.published_ids import PublishedIds
    from querycloak.releases.release import Release

__all__ = [
    "NOTHING",
    "About",
    "baseline_of",
    "difference",
    "guessing",
    "link_result",
    "mean_guess",
    "rated_result",
    "result_of",
]

Float64s = npt.NDArray[np.float64]
Interval = tuple[float, float, float]
"""value, and the ends of its interval"""


def guessing(candidates: int) -> Baseline:
    """Return the baseline of an attacker who names one of so many candidates blindly."""
    rate = 1.0 / max(candidates, 1)
    return Baseline(kind="guessing", rate=rate, low=rate, high=rate, targets=0)


def mean_guess(chance: Float64s, weight: Float64s | None = None) -> Baseline:
    """Return the baseline of blind guesses, from chance: float64[targets], known exactly for each target."""
    rate = float(np.average(chance, weights=weight)) if len(chance) else 0.0
    return Baseline(kind="guessing", rate=rate, low=rate, high=rate, targets=0)


NOTHING: Final = Baseline(kind="guessing", rate=0.0, low=0.0, high=0.0, targets=0)
"""The baseline of what is counted, not guessed."""


def baseline_of(kind: BaselineKind, success: Float64s) -> Baseline:
    """Return the baseline from success: float64[targets], the chance of being right where the release cannot help."""
    rate = float(success.mean()) if len(success) else 0.0
    low, high = wilson(rate, len(success))
    return Baseline(kind=kind, rate=rate, low=low, high=high, targets=len(success))


def difference(rate: Interval, baseline: Interval) -> Interval:
    """Return rate - baseline with its 95 % interval, each given as (value, low, high).

    Newcombe (1998), method 10: the two score intervals are combined by their squared half-widths. It takes the two as
    independent; where both come from the same targets, they rise together, and the interval is too wide.
    """
    (p, p_low, p_high), (q, q_low, q_high) = rate, baseline
    lift = p - q
    return lift, lift - math.hypot(p - p_low, q_high - q), lift + math.hypot(p_high - p, q - q_low)


class About(TypedDict):
    """What every result says of its attack; the fields are those of AttackResult."""

    question: Question
    risk: Risk
    knows: str
    unit: Unit
    baseline: Baseline
    bounded: NotRequired[bool]
    """the bound of the release's statement is about exactly this rate: naming a person's published id"""
    details: NotRequired[dict[str, float]]


def result_of(attack: str, success: Float64s, release: Release, **about: Unpack[About]) -> AttackResult:
    """Return the result of an attack from success: float64[targets], the chance of being right on each target."""
    targets = len(success)
    rate = float(success.mean()) if targets else 0.0
    return rated_result(attack, (rate, *wilson(rate, targets)), targets, release, **about)


def link_result(
    attack: str,
    chance: Float64s,
    release: Release,
    knows: str,
    owner: PublishedIds,
    *,
    question: Question = "linkability",
    details: dict[str, float] | None = None,
) -> AttackResult:
    """Return the result of an attacker who names a published id of each person; chance: float64[people].

    owner: the right ids of each. Who guesses blindly is right with the person's share of all published ids.
    """
    return result_of(
        attack,
        chance,
        release,
        question=question,
        risk="link",
        knows=knows,
        unit="published id",
        baseline=_guessed_id(owner, len(release.log.users)),
        bounded=True,
        details=details or {},
    )


def _guessed_id(owner: PublishedIds, published: int) -> Baseline:
    """Return the baseline of an attacker who names one of all published ids blindly."""
    own = float(owner.counts.mean()) if len(owner) else 1.0
    return mean_guess(np.array([own / max(published, 1)]))


def rated_result(attack: str, rate: Interval, targets: int, release: Release, **about: Unpack[About]) -> AttackResult:
    """Return the result of an attack whose rate is no mean over its targets, given as (value, low, high)."""
    baseline = about["baseline"]
    lift, lift_low, lift_high = difference(rate, (baseline.rate, baseline.low, baseline.high))
    return AttackResult(
        attack=attack,
        question=about["question"],
        risk=about["risk"],
        knows=about["knows"],
        unit=about["unit"],
        rate=rate[0],
        low=rate[1],
        high=rate[2],
        baseline=baseline,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        bound=release.statement.bound if about.get("bounded", False) else None,
        targets=targets,
        details=about.get("details", {}),
    )
