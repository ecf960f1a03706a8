"""Runs to come, and how they are run: one after the other, or by several processes at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from querycloak import workers
from querycloak.catalog import method
from querycloak.errors import ParameterError, UserError
from querycloak.evaluation.assess import Assessor, Steps
from querycloak.evaluation.comparison_files import run_from_json, run_to_json
from querycloak.evaluation.room import processes_that_fit
from querycloak.evaluation.run import Run
from querycloak.evaluation.trials import LEAVE_TRACES
from querycloak.evaluation.workbench import Workbench
from querycloak.randomness import Randomness
from querycloak.workers import WorkerError, Workers, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from querycloak.logs.query_log import QueryLog
    from querycloak.measures.score import Score
    from querycloak.progress import Progress

__all__ = ["Plan", "plan_runs", "processes_for", "run_plans"]

BASELINE: Final = ("sweep", {"as_in_paper": True})
"""A log with nothing but new ids: the row that every report keeps, to show what pseudonyms are worth."""
MOST_DRAWS: Final = 100
WORTH_A_PROCESS: Final = 100_000
"""Rows times runs that one further process should have at least: starting one takes some seconds."""


@dataclass(frozen=True)
class Plan:
    """One run to come."""

    name: str
    method: str
    settings: dict[str, Any]
    baseline: bool = False
    draws: int = 1
    """releases whose measures are taken; all else is found out about the first"""


def plan_runs(methods: Sequence[str], grid: Mapping[str, Sequence[Any]], draws: int = 1) -> list[Plan]:
    """Cross each method with the values of those settings that it has; a setting that none has is refused.

    Each is released `draws` times, for the spread of the papers' measures.

    >>> [plan.name for plan in plan_runs(["sweep"], {"min_query_users": [2, 3]})]
    ['pseudonyms only', 'sweep min_query_users=2', 'sweep min_query_users=3']
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or not 1 <= draws <= MOST_DRAWS:
        raise ParameterError.of("draws", f"an integer from 1 to {MOST_DRAWS}", draws)
    plans = [Plan("pseudonyms only", *BASELINE, baseline=True, draws=draws)]
    known: set[str] = set()
    for name in methods:
        entry = method(name)
        settings = entry.settings
        mine = [f.name for f in fields(settings) if f.name in grid and f.name not in entry.given]
        known.update(mine)
        for values in itertools.product(*(grid[field] for field in mine)):
            chosen = dict(zip(mine, values, strict=True))
            checked = settings.from_json({**entry.given, **chosen})
            text = " ".join(f"{field}={value}" for field, value in chosen.items())
            # As the settings hold them: the rules of a file, not its name, say whether a run was done before.
            kept = {field: getattr(checked, field) for field in (*entry.given, *chosen)}
            shown = name if entry.given else entry.name
            plans.append(Plan(f"{shown} {text}".strip(), entry.name, kept, draws=draws))
    stray = sorted(set(grid) - known)
    if stray:
        raise ParameterError(f"None of the methods {', '.join(methods)} has a setting {stray[0]!r}.")
    return plans


def run_plans(
    assessor: Assessor, plans: Sequence[Plan], progress: Progress, processes: int | None = None
) -> Iterator[Run]:
    """Yield the run of each plan, in order. Several processes give the same runs, in less time.

    `processes`: None = as many as there are cores and as fit into memory, where log and number of plans make them
    worth it.
    """
    if processes is None:
        processes = processes_for(assessor.bench.log, len(plans))
    done = 0
    if processes > 1:
        try:
            for found in _by_workers(assessor, plans, processes):
                done += 1
                yield found
        except WorkerError:
            progress.note("The comparison continues in one process: another one could not be started, or ended.")
    for plan in plans[done:]:
        yield _run(plan, assessor)


def processes_for(log: QueryLog, plans: int) -> int:
    """Return how many processes pay for so many plans: at least 1."""
    return max(1, processes_that_fit(log, min(cores(), plans, len(log) * plans // WORTH_A_PROCESS)))


def _run(plan: Plan, assessor: Assessor) -> Run:
    """Run one plan; a method that fails makes a run that says why."""
    steps = Steps()
    head: dict[str, Any] = {"name": plan.name, "settings": plan.settings, "baseline": plan.baseline}
    try:
        assessor.progress.start(f"{plan.name}: anonymize")
        with steps("anonymize"):
            release = assessor.bench.anonymize(plan.method, seed=assessor.seed, **plan.settings)
        run = assessor.run(release, steps=steps, **head)
        if plan.draws == 1:
            return run
        with steps("draws"):
            draws = _draws(plan, assessor)
        return replace(run, draws=draws, seconds=steps.seconds)
    except UserError as error:
        return Run(method=plan.method, error=str(error), **head)
    except Exception as error:
        return Run(method=plan.method, error=f"broke with {type(error).__name__}; this is a bug of the method", **head)


def _draws(plan: Plan, assessor: Assessor) -> tuple[tuple[Score, ...], ...]:
    """Release the log again, each time with another seed, and take the papers' measures."""
    settings = {name: value for name, value in plan.settings.items() if name not in LEAVE_TRACES}
    found = []
    for draw in range(2, plan.draws + 1):
        assessor.progress.start(f"{plan.name}: draw {draw}")
        seed = int(Randomness(assessor.seed).child(f"draw/{draw}").integers(1 << 62, 1)[0])
        release = assessor.bench.anonymize(plan.method, seed=seed, **settings)
        found.append(tuple(assessor.bench.measure(release, seed=assessor.seed)))
    return tuple(found)


def _by_workers(assessor: Assessor, plans: Sequence[Plan], processes: int) -> Iterator[Run]:
    """Run plans by several processes."""
    bench = assessor.bench
    knowledge = (bench.knowledge, bench.directory, bench.resolver)
    setup = (bench.log, knowledge, bench.reading, bench.concepts, assessor.seed)
    with Workers("querycloak.evaluation.plans:serve", setup, processes) as pool:
        for texts in pool.map(_shared_out(plans, processes)):
            for text in texts:
                run = run_from_json(text)
                if run is None:
                    raise WorkerError
                yield run


def _shared_out(plans: Sequence[Plan], processes: int) -> list[list[Plan]]:
    """Cut plans into tasks: those of one method together, since it may remember what it found out about the log.

    No task has more than its share of the plans, else one process would work long after the others.
    """
    share = -(-len(plans) // processes)
    groups = [list(group) for _, group in itertools.groupby(plans, key=lambda plan: plan.method)]
    tasks = [group[at : at + share] for group in groups for at in range(0, len(group), share)]
    return tasks if len(tasks) >= processes else [[plan] for plan in plans]


def serve() -> None:
    """Run as a worker that runs plans."""
    workers.serve(_answers)


def _answers(setup: tuple[Any, ...]) -> Callable[[list[Plan]], list[bytes]]:
    log, knowledge, reading, concepts, seed = setup
    bench = Workbench(log, *knowledge, **reading)
    bench.__dict__["concepts"] = concepts  # as the cached property would keep it: mapped once, by the first process
    assessor = Assessor(bench, seed)
    return lambda plans: [run_to_json(_run(plan, assessor)) for plan in plans]
