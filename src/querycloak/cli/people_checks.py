"""What a log must have for a differentially private release to mean anything: told before anything is spent.

These checks look at the number of people, so they are here, where the holder of the log reads the answer, and not in
the methods: what a method publishes must not depend on exact counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import UserError

if TYPE_CHECKING:
    from querycloak.catalog.entries import Method
    from querycloak.logs.query_log import QueryLog
    from querycloak.progress import Progress
    from querycloak.settings import Settings

__all__ = ["ENOUGH", "check_people", "check_people_count", "check_truth"]

ENOUGH: Final = 10_000
"""People times epsilon from which on an invented log is of use: 1,000 people need an epsilon of 10."""


def check_people(method: Method, given: dict[str, Any], log: QueryLog, progress: Progress) -> None:
    """Refuse a log of one person; warn of a delta with which a method may publish somebody's log and keep its word."""
    import numpy as np

    longest = int(np.bincount(log.user).max()) if len(log) else 0
    check_people_count(method, given, len(np.unique(log.user)), longest, progress)


def check_people_count(method: Method, given: dict[str, Any], people: int, longest: int, progress: Progress) -> None:
    """Do the same for a log of so many people, the longest of whose logs has so many rows."""
    from dataclasses import fields

    defaults = {field.name: field.default for field in fields(method.settings)}
    if "epsilon" not in defaults:
        return
    if people == 1:
        raise UserError(
            f"The log has one user, and {method.name} hides each user among others: there is nothing to publish. "
            "Check the column of users; nothing was spent."
        )
    _warn_of_few(method, given.get("epsilon", defaults["epsilon"]), people, progress)
    delta = given.get("delta", defaults.get("delta", 0.0))
    if people and 1 / people < delta < 1:
        progress.note(
            f"delta is {delta:g}, more than 1 / {people:,} people: to publish one random person's log would keep that "
            f"promise. Choose a delta far below {1 / people:.1g}."
        )
    _note_long_bound(given, longest, progress)


def _note_long_bound(given: dict[str, Any], longest: int, progress: Progress) -> None:
    """Say that nobody has as many queries as each may contribute.

    It is not refused: then a release would tell that somebody has as many. The note does not say how many the longest
    log has, since a bound that is read from the log is one more output of it, without noise.
    """
    whole = given.get("items", "queries") == "queries" and not given.get("clicks")
    names = ("per_user_queries", "per_user") if whole else ()  # of phrases a user has more than rows
    name = next((name for name in names if given.get(name) is not None), "")
    if longest and name and longest < given[name]:
        progress.note(
            f"--{name.replace('_', '-')} is {given[name]:,}, and nobody in the log has as many queries: that costs "
            "noise and buys nothing. Choose it by what is known without this log; read from it, it would tell of "
            "somebody in it."
        )


def check_truth(method: Method, settings: Settings) -> None:
    """Refuse to write the truth of what has none, while nothing is spent."""
    if not getattr(settings, "has_truth", True):
        raise UserError(f"{method.name} publishes no users here, so there is no truth to write: leave --truth out.")


def _warn_of_few(method: Method, epsilon: float, people: int, progress: Progress) -> None:
    """Say before the run where an invented log would hold next to nothing: noise hides what few people do."""
    if method.name == "synthetic-dp" and 0 < people * epsilon < ENOUGH:
        progress.note(
            f"{people:,} people are few for synthetic-dp at epsilon {epsilon:g}: noise will hide most of what they do, "
            f"and hardly a text will be published. From about {ENOUGH / epsilon:,.0f} people on, or with epsilon "
            f"{ENOUGH / people:.2g}, something useful comes out. (This is said to you alone: the number of people is "
            "not in the release.)"
        )
