"""One method with one choice of settings, and everything that was found out about its release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from querycloak.attacks.result import AttackResult  # noqa: TC001 - msgspec reads the types of fields
from querycloak.evaluation.exposure import Exposure  # noqa: TC001
from querycloak.evaluation.utility import Utility  # noqa: TC001
from querycloak.measures.score import Score  # noqa: TC001
from querycloak.releases.statement import PrivacyStatement  # noqa: TC001

if TYPE_CHECKING:
    from querycloak.evaluation.limits import Limits

__all__ = ["Run"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One method with one choice of settings. The parts about its release are empty where the method failed."""

    name: str
    method: str
    settings: dict[str, Any]
    statement: PrivacyStatement | None = None
    exposure: Exposure | None = None
    attacks: tuple[AttackResult, ...] = ()
    not_run: dict[str, str] = field(default_factory=dict)
    """attacks that fit and could not be run → what they lacked"""
    nothing: dict[str, str] = field(default_factory=dict)
    """attacks that found nothing to attack → what is not there"""
    utility: tuple[Utility, ...] = ()
    """what the release is good for, task by task"""
    scores: tuple[Score, ...] = ()
    """the papers' measures"""
    draws: tuple[tuple[Score, ...], ...] = ()
    """the same measures of further releases that differ from this one by their seed alone"""
    seconds: dict[str, float] = field(default_factory=dict)
    """how long each step took"""
    group_sizes: dict[int, int] = field(default_factory=dict)
    """number of published users whose log is shared by so many"""
    topics: dict[str, float] = field(default_factory=dict)
    """share of each topic after"""
    error: str | None = None
    """why it failed; None = it did not"""
    baseline: bool = False

    def worst(self, limits: Limits) -> AttackResult | None:
        """Return the result that is nearest to its limit, or farthest above it."""
        judged = [a for a in self.attacks if a.targets and limits.of(a.risk) is not None]
        return max(judged, key=limits.times, default=None)

    def task(self, name: str) -> Utility | None:
        """Find what was found for a task."""
        return next((u for u in self.utility if u.task == name), None)

    @property
    def published_nothing(self) -> bool:
        """The method came through and nothing passed its settings: no row, so nothing to attack and nothing to use."""
        return self.exposure is not None and self.exposure.rows == 0 and self.exposure.texts == 0

    @property
    def generalized(self) -> Score | None:
        """How far the release is generalized; None where its rows are no concepts."""
        return next((s for s in self.scores if s.measure == "generalization"), None)
