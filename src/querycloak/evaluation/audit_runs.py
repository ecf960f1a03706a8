"""The runs of an audit: those on which an event is chosen, and those on which it is counted. No run is both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from querycloak.errors import UserError
from querycloak.evaluation.audit_events import NOTHING, Event, choose_event, lower_bound
from querycloak.evaluation.audit_features import Features, features_of, features_of_error
from querycloak.evaluation.audit_result import AuditedPair
from querycloak.evaluation.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.evaluation.audit_pairs import Pair, Sides
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.progress import Progress
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["AuditedMethod", "Candidate"]


@dataclass
class AuditedMethod:
    """The method as it is audited: runs it, and counts the runs."""

    name: str
    settings: dict[str, Any]
    taxonomy: Taxonomy
    seed: int | None
    mapping: str | None = None
    runs: int = 0
    _benches: dict[int, Workbench] = field(default_factory=dict)

    def statement(self, log: QueryLog) -> PrivacyStatement:
        """Run once, for what is claimed."""
        return self._bench(log).anonymize(self.name, seed=self.seed, **self.settings).statement

    def run(self, log: QueryLog, own: frozenset[str], number: int, part: str, progress: Progress) -> Iterator[Features]:
        """Run so many times: the figures of each release. That a log is refused is a figure too."""
        bench = self._bench(log)
        for i in range(number):
            seed = None if self.seed is None else _seed(self.seed, part, i)
            self.runs += 1
            try:
                release = bench.anonymize(self.name, seed=seed, **self.settings)
            except UserError as error:
                yield features_of_error(error)
            else:
                yield features_of(release, own)
            progress.advance(1)

    def _bench(self, log: QueryLog) -> Workbench:
        """Return the bench of a log: its concepts are the same in every run, and are found once."""
        if id(log) not in self._benches:
            self._benches[id(log)] = Workbench(log, self.taxonomy, mapping=self.mapping)
        return self._benches[id(log)]


@dataclass
class Candidate:
    """A pair with the event that was chosen for it."""

    method: AuditedMethod
    pair: Pair
    sides: Sides
    claim: float
    delta: float
    event: Event = NOTHING
    likely: int = 0
    """the side on which the event is more likely"""
    seen: tuple[list[Features], list[Features]] = field(default_factory=lambda: ([], []))
    """the runs on which the event was chosen, of both sides"""

    @cached_property
    def own(self) -> frozenset[str]:
        """Texts that are in one of the logs alone."""
        one, other = (frozenset(log.queries.to_list()) for log in self.sides)
        return one ^ other

    def rank(self) -> float:
        """Return by how much the chosen event promises to pass the claim."""
        return self.event.promise - self.claim

    def look(self, runs: int, progress: Progress) -> None:
        """Run both sides, and choose the event and the direction that tell them apart best in all that was seen."""
        part = f"{self.pair.name}, delta {self.delta:g}, from {len(self.seen[0])}"
        for i, log in enumerate(self.sides):
            self.seen[i].extend(self.method.run(log, self.own, runs, f"choosing {part}, side {i}", progress))
        if all(any(name.startswith("refused") for name in run) for side in self.seen for run in side):
            self.method.statement(self.sides.with_user)  # raises what all runs were refused with
        events = [choose_event(self.seen[i], self.seen[1 - i], delta=self.delta) for i in (0, 1)]
        self.likely = 0 if events[0].promise >= events[1].promise else 1
        self.event = events[self.likely]

    def measure(self, runs: int, error: float, progress: Progress) -> AuditedPair:
        """Count how often the chosen event happens in fresh runs."""
        hits = []
        for i in (self.likely, 1 - self.likely):
            part = f"measuring {self.pair.name}, delta {self.delta:g}, side {i}"
            figures = self.method.run(self.sides[i], self.own, runs, part, progress)
            hits.append(sum(self.event.holds(run) for run in figures))
        bound = lower_bound(hits[0], runs, hits[1], runs, delta=self.delta, error=error)
        return self.audited(runs=runs, hits=hits[0], other_hits=hits[1], bound=bound)

    def audited(self, **found: Any) -> AuditedPair:
        """Return what is told of the pair; `found` = what was measured."""
        return AuditedPair(
            pair=self.pair.name,
            what=self.pair.what,
            people=self.sides[0].users.n_unique() - 1,
            claim=self.claim,
            delta=self.delta,
            event=str(self.event),
            likely="first" if self.likely == 0 else "second",
            choosing=len(self.seen[0]),
            promise=max(0.0, self.event.promise),
            **found,
        )


def _seed(seed: int, part: str, run: int) -> int:
    """Return the seed of one run; that of no two runs of an audit is the same."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{part}/{run}".encode()).digest()[:6], "big")
