"""What a release may cost people before we advise against it: every limit is an option with a default."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.names import match_name
from querycloak.tasks.task import TASKS

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult, Risk

__all__ = ["LIMITS", "Limits", "check_tasks"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that a release may cost. Lifts are judged by the upper end of their 95 % interval.

    >>> Limits(link=0.05, epsilon=3).link
    0.05
    >>> Limits(link=5)
    Traceback (most recent call last):
    ...
    querycloak.errors.ParameterError: the limit link must be a number from 0 to 1, got 5.
    """

    link: float = 0.2
    """lift of linking a person to a published id"""
    claim: float = 0.1
    """lift of a claim about what a person asked"""
    membership: float = 0.1
    """2 AUC - 1 of telling whether a person is in the log"""
    membership_at_1: float = 0.05
    """true positives of the same at 1 % false positives"""
    own_texts: float = 0.0
    """share of the published rows whose text one person alone asked"""
    identifiers: float = 0.0
    """share of the published rows that hold an identifier, such as a phone number"""
    epsilon: float = 10.0
    """budget of a person under differential privacy"""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            most = math.inf if field.name == "epsilon" else 1.0
            if not 0 <= value <= most:
                expected = "a number of at least 0" if field.name == "epsilon" else "a number from 0 to 1"
                raise ParameterError.of(f"the limit {field.name}", expected, value)

    def of(self, risk: Risk) -> float | None:
        """Return the limit of a kind of risk; None where it has none."""
        return {
            "link": self.link,
            "claim": self.claim,
            "membership": self.membership,
            "membership at 1 %": self.membership_at_1,
            "count": None,
        }[risk]

    def times(self, result: AttackResult) -> float:
        """Return a result as a multiple of its limit: 1 = at the limit. A result without a limit has 0."""
        limit = self.of(result.risk)
        if limit:
            return result.judged / limit
        return math.inf if limit == 0 and result.judged > 0 else 0.0

    def keeps(self, result: AttackResult) -> bool:
        """Tell whether a result is within its limit. Nobody to attack is nothing to judge."""
        limit = self.of(result.risk)
        return limit is None or result.targets == 0 or result.judged <= limit


LIMITS: Final = Limits()


def check_tasks(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tasks named, or refuse an unknown one with the nearest."""
    found = []
    for name in names:
        meant = match_name(name, TASKS)
        if meant is None:
            raise UnknownNameError.of("task", name, TASKS)
        found.append(meant)
    return tuple(dict.fromkeys(found))
