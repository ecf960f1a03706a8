"""What a comparison found: runs with their attacks and tasks, and the limits they are judged by."""

from __future__ import annotations

from dataclasses import dataclass

from querycloak.evaluation.advice import Advice, advise
from querycloak.evaluation.command_words import CommandWords  # noqa: TC001 - msgspec reads the types of fields
from querycloak.evaluation.limits import LIMITS, Limits
from querycloak.evaluation.run import Run  # noqa: TC001
from querycloak.mapping.modes import DEFAULT_MAPPING

__all__ = ["Comparison"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All runs on one log."""

    version: str
    log: dict[str, int]
    """counts of the log"""
    seed: int
    limits: Limits = LIMITS
    tasks: tuple[str, ...]
    """what the release is for, as the user named it"""
    repeat: str
    """the command that repeats it"""
    command: CommandWords | None = None
    """its parts, for the commands that make and judge a real release; None where it was made from Python"""
    mapping: str = DEFAULT_MAPPING
    """how queries were read, for methods, attacks and measures alike"""
    topics: dict[str, float]
    """share of each topic in the log"""
    runs: tuple[Run, ...]

    @property
    def advice(self) -> Advice:
        """Which run to publish, or that none will do, and why."""
        return advise(self.runs, self.limits, self.tasks)
