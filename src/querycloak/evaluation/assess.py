"""Everything that can be found out about one release: exposure, attacks, what it is good for, the papers' measures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from querycloak.attacks.result import CannotAttackError
from querycloak.evaluation.run import Run
from querycloak.evaluation.trials import NOT_RERUN, NoTrials
from querycloak.evaluation.utility import utilities
from querycloak.knowledge.concept_topics import concept_topics
from querycloak.measures.topics import shown_shares, topic_shares
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.classes import class_sizes
from querycloak.tasks.original import as_release, blind_log
from querycloak.tasks.suite import prepare, score_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import numpy.typing as npt

    from querycloak.attacks.trials import Trials
    from querycloak.evaluation.utility import Utility
    from querycloak.evaluation.workbench import Workbench
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.progress import Progress
    from querycloak.releases.release import Release
    from querycloak.tasks.suite import TaskData
    from querycloak.tasks.task import TaskScore

__all__ = ["Assessor", "Steps"]

TOPICS_SHOWN: Final = 12


class Steps:
    """Notes how long each step took: `with steps("attack"): ...`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._step, self._start = "", 0.0

    def __call__(self, step: str) -> Self:
        """Name the step that begins."""
        self._step = step
        return self

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds[self._step] = time.perf_counter() - self._start


@dataclass(frozen=True)
class Assessor:
    """A log on the bench, and what its releases are judged against: made once."""

    bench: Workbench
    seed: int = 0
    progress: Progress = QUIET

    @cached_property
    def _data(self) -> TaskData:
        """What the tasks are judged on."""
        self.progress.start("tasks: preparing")
        bench = self.bench
        return prepare(bench.log, bench.concepts, bench.taxonomy, Randomness(self.seed).child("tasks"))

    @cached_property
    def _original(self) -> list[TaskScore]:
        """What the original log itself reaches."""
        return self._tasks(as_release(self.bench.log))

    @cached_property
    def topics(self) -> dict[str, float]:
        """The largest topics of the log, by name, and their shares; what is in none comes last."""
        shares = self._shown(self.bench.concepts)
        none = concept_topics(self.bench.taxonomy).none
        largest = [t for t in np.argsort(-shares, kind="stable").tolist() if t != none][:TOPICS_SHOWN]
        shown = largest if none < 0 else [*largest, none]
        return {self._topic_names[t]: float(shares[t]) for t in shown if shares[t] > 0}

    def _shown(self, concepts: ConceptLog) -> npt.NDArray[np.float64]:
        return shown_shares(topic_shares(concepts, self.bench.taxonomy), self.bench.taxonomy)

    @property
    def _topic_names(self) -> tuple[str, ...]:
        return concept_topics(self.bench.taxonomy).names

    def trials(self, release: Release, *, rerun: bool) -> Trials:
        """Return what runs the method of a release again; without `rerun`, what says that it is not."""
        return self.bench.trials(release, self.seed) if rerun else NoTrials(NOT_RERUN)

    def run(
        self,
        release: Release,
        *,
        name: str,
        settings: dict[str, Any] | None = None,
        baseline: bool = False,
        rerun: bool = True,
        also: Sequence[Release] = (),
        steps: Steps | None = None,
    ) -> Run:
        """Find out everything about a release. Without its truth, what needs it is left out, and that is said."""
        steps = Steps() if steps is None else steps
        statement, bench = release.statement, self.bench
        trials = self.trials(release, rerun=rerun)
        self.progress.start(f"{name}: exposure")
        with steps("exposure"):
            exposed = bench.exposure_of(release)
        with steps("attack"):
            attacked = bench.try_attacks(release, seed=self.seed, also=also, trials=trials)
        self.progress.start(f"{name}: tasks")
        with steps("tasks"):
            useful = self.utility(release, trials)
        self.progress.start(f"{name}: measure")
        with steps("measure"):
            scores = bench.measure(release, seed=self.seed)
            after = dict(zip(self._topic_names, self._shown(bench.concepts_of(release)), strict=True))
        return Run(
            name=name,
            method=statement.method,
            settings=statement.settings if settings is None else settings,
            statement=statement,
            exposure=exposed,
            attacks=tuple(attacked.results),
            not_run=attacked.not_run,
            nothing=attacked.nothing,
            utility=useful,
            scores=tuple(scores),
            seconds=steps.seconds,
            group_sizes=_group_sizes(release),
            topics={topic: float(after[topic]) for topic in self.topics},
            baseline=baseline,
        )

    def utility(self, release: Release, trials: Trials) -> tuple[Utility, ...]:
        """Return what a release is good for, between the original log and the blind run of its method."""
        try:
            blind = self._tasks(trials.blind().release)
        except CannotAttackError:
            blind = self._blind_log
        return utilities(self._tasks(release), self._original, blind)

    @cached_property
    def _blind_log(self) -> list[TaskScore]:
        """What a log reaches that tells nothing: where the method cannot be run again."""
        return self._tasks(as_release(blind_log(self.bench.log, Randomness(self.seed).child("blind"))))

    def _tasks(self, release: Release) -> list[TaskScore]:
        return score_tasks(self._data, release, self.bench.concepts_of(release))


def _group_sizes(release: Release) -> dict[int, int]:
    """Count the published users by how many share their log."""
    if not release.holds_user_logs:
        return {}
    size, users = np.unique(class_sizes(release.log), return_counts=True)
    return dict(zip(size.tolist(), users.tolist(), strict=True))
