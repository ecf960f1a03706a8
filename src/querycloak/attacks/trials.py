"""Further releases that an attacker, or whoever keeps score, makes with the same method and settings.

The method and its settings are public: they are in the statement. Attacks import no methods, so what runs them comes as
an argument: `evaluation.trials` makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["HELD_OUT_SHARE", "Trial", "Trials"]

HELD_OUT_SHARE = 0.2
"""Share of the people held out for the baseline of person-level attacks."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A further release and what went into it. Codes of users and queries are those of the whole log."""

    log: QueryLog
    """the part of the log that went in"""
    release: Release
    """with its truth"""

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """bool[users of the whole log]: the person has at least one row in what went in."""
        there = np.zeros(len(self.log.users), dtype=np.bool_)
        there[self.log.user] = True
        return there


class Trials(Protocol):
    """Makes further releases, each once. Every method raises CannotAttackError where the method cannot be run again."""

    def without_held_out(self) -> Trial:
        """Return a release of the log without a fifth of the people."""

    def half_of_people(self, draw: int = 0) -> Trial:
        """Return a release of a random half of the people; each draw is another half and another release."""

    def later_half(self) -> Trial:
        """Return a release of what the attacker does not know: the other half of each person's log."""

    def of(self, log: QueryLog, name: str) -> Trial:
        """Return a release of any part of the log, as the attacker would make it from what he knows.

        `name` names the draw: the same name and log give the same release.
        """

    def blind(self) -> Trial:
        """Return what the method publishes where the log tells it nothing: what is still useful then is no merit.

        With a budget, the same log at a budget next to 0; else a log with as many events per person, whose queries are
        drawn at random, so that groups of users are random too.
        """

    def concepts_of(self, release: Release) -> ConceptLog:
        """Return the concepts of what a further release publishes."""

    def askers_of(self, trial: Trial) -> Askers:
        """Return who of the whole log asked each text of a further release."""
