"""Runs the method of a release again, on parts of its log: for baselines, and for attackers who run it themselves.

Settings that leave a trace outside the release are left out: a ledger is neither read nor spent. What a trial publishes
stays in memory.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.trials import HELD_OUT_SHARE, Trial
from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.errors import UserError
from querycloak.randomness import Randomness
from querycloak.tasks.original import blind_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.attacks.halves import Halves
    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["LEAVE_TRACES", "NOT_RERUN", "MethodTrials", "NoTrials"]

NOT_RERUN: Final = "the method is not run again (--no-rerun)"
BLIND_EPSILON: Final = 1e-9
"""A budget that buys nothing."""
LEAVE_TRACES: Final = ("ledger", "ledger_log")
"""Settings that would change a file, and what goes with them."""


class NoTrials:
    """Stands where the method is not to be run again: every attack that needs it says why it was not run."""

    def __init__(self, why: str) -> None:
        self.why = why

    def _refuse(self, *_: object) -> NoReturn:
        raise CannotAttackError(self.why)

    without_held_out = half_of_people = later_half = of = blind = concepts_of = askers_of = _refuse


class MethodTrials:
    """Runs one method with one choice of settings again."""

    def __init__(self, bench: Workbench, statement: PrivacyStatement, halves: Halves, seed: int | None) -> None:
        self._bench, self._halves, self._seed = bench, halves, 0 if seed is None else seed
        self._method = statement.method
        self._settings = {k: v for k, v in statement.settings.items() if k not in LEAVE_TRACES}
        self._made: dict[str, Trial | str] = {}

    @cached_property
    def _order(self) -> Any:
        """int64[people]: the people of the log in random order; the same for all trials of one log and seed."""
        people = np.unique(self._bench.log.user)
        return people[Randomness(self._seed).child("people held out").permutation(len(people))]

    def without_held_out(self) -> Trial:
        """Return a release of the log without a fifth of the people."""
        inside = self._order[round(HELD_OUT_SHARE * len(self._order)) :]
        return self._once("held out", lambda: self._part("held out", lambda: self._people(inside)))

    def half_of_people(self, draw: int = 0) -> Trial:
        """Return a release of a random half of the people; of further draws nothing is kept."""
        if draw == 0:
            half = self._order[: len(self._order) // 2]
            return self._once("half of the people", lambda: self._part("half", lambda: self._people(half)))
        name = f"half of the people, draw {draw}"
        order = Randomness(self._seed).child(name).permutation(len(self._order))
        trial = self._once(name, lambda: self._people(self._order[order[: len(order) // 2]]))
        del self._made[name]
        return trial

    def later_half(self) -> Trial:
        """Return a release of the half of each person's log that the attacker does not know."""
        return self._once("later half", lambda: self._halves.other)

    def of(self, log: QueryLog, name: str) -> Trial:
        """Return a release of any part of the log, as the attacker would make it from what he knows."""
        return self._once(f"attacker: {name}", lambda: log)

    def blind(self) -> Trial:
        """Return what the method publishes where the log tells it nothing."""
        random = Randomness(self._seed).child("blind")
        if "epsilon" in self._settings:
            return self._once("blind", lambda: self._bench.log, {**self._settings, "epsilon": BLIND_EPSILON})
        return self._once("blind", lambda: self._part("blind", lambda: blind_log(self._bench.log, random)))

    def concepts_of(self, release: Release) -> ConceptLog:
        """Return the concepts of what a further release publishes."""
        return self._bench.concepts_of(release)

    def askers_of(self, trial: Trial) -> Askers:
        """Return who of the whole log asked each text of a further release."""
        return self._bench.askers_of(trial.release)

    def _people(self, inside: Any) -> QueryLog:
        """Return the rows of some people."""
        keep = np.zeros(len(self._bench.log.users), dtype=np.bool_)
        keep[inside] = True
        return self._bench.log.take(keep[self._bench.log.user])

    def _part(self, name: str, make: Callable[[], QueryLog]) -> QueryLog:
        """Return a part of the log that all methods on the bench share: some remember what they found out about it."""
        key = (self._seed, name)
        if key not in self._bench.parts:
            self._bench.parts[key] = make()
        return self._bench.parts[key]

    def _once(self, name: str, part: Callable[[], QueryLog], settings: dict[str, Any] | None = None) -> Trial:
        """Make a trial, or say again why it cannot be made."""
        if name not in self._made:
            self._made[name] = self._run(part(), name, self._settings if settings is None else settings)
        made = self._made[name]
        if isinstance(made, str):
            raise CannotAttackError(made)
        return made

    def _run(self, log: QueryLog, name: str, settings: dict[str, Any]) -> Trial | str:
        if self._method not in METHODS and self._method not in STREAM_METHODS:
            return f"the method {self._method!r} is not installed here, so it cannot be run again"
        if len(log) == 0:
            return "a part of the log that the method would be run on is empty"
        try:
            bench = self._bench.part(log)
            seed = int(Randomness(self._seed).child(f"trial/{name}").integers(1 << 62, 1)[0])
            release = bench.anonymize(self._method, seed=seed, **settings)
        except UserError as error:
            return f"the method refuses a part of the log: {error}"
        return Trial(log, release)
