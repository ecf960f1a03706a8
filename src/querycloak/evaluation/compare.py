"""Methods side by side on one log: each is run, attacked and measured; after an interruption, done runs stay done."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak._version import __version__
from querycloak.catalog import method
from querycloak.errors import OutputError, UserError
from querycloak.evaluation.assess import Assessor
from querycloak.evaluation.comparison import Comparison
from querycloak.evaluation.comparison_files import comparison_csv, comparison_json, run_from_json, run_to_json
from querycloak.evaluation.estimates import Remaining, in_words, runs_seconds
from querycloak.evaluation.learning import refuse_learning
from querycloak.evaluation.limits import LIMITS, Limits, check_tasks
from querycloak.evaluation.plans import Plan, plan_runs, processes_for, run_plans
from querycloak.evaluation.room import check_room
from querycloak.logs.atomic import write_text
from querycloak.logs.content_digest import content_digest
from querycloak.mapping.modes import check_mapping, stated_mapping
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from querycloak.evaluation.command_words import CommandWords
    from querycloak.evaluation.run import Run
    from querycloak.evaluation.workbench import Workbench

__all__ = ["Plan", "compare", "make_store", "plan_runs"]

DEFAULT_TASKS: Final = ("popularity", "topics")
"""What a release is taken to be for where nobody says: every kind of release can do these."""


def compare(
    bench: Workbench,
    plans: Sequence[Plan],
    output: Path | None = None,
    *,
    seed: int = 1,
    limits: Limits = LIMITS,
    tasks: tuple[str, ...] = DEFAULT_TASKS,
    repeat: str = "",
    command: CommandWords | None = None,
    knowledge: str = "",
    processes: int | None = None,
    safe_csv: bool = True,
    progress: Progress = QUIET,
) -> Comparison:
    """Run all plans; where there is a directory `output`, write `results.json` and `results.csv` into it.

    Each release is attacked and judged as `evaluation.assess` says; the method is run again on parts of the log for
    baselines and blind runs. `tasks` are what the release is for. Each finished run is kept in `output/runs`, by a
    digest of the log, `knowledge` (any text that tells one taxonomy or directory from another), the mapping, the
    method, its settings, the number of draws, the seed and the version: the same command goes on where it stopped.
    Limits and tasks are no part of that: what was found can be judged again by others. `processes`: None = as many as
    pay.
    """
    log = bench.log
    if len(log) == 0:
        raise UserError("The log is empty: there is nothing to compare.")
    if len(np.unique(log.user)) < 2:
        raise UserError("The log has one user: there is nobody to hide among.")
    tasks = check_tasks(tasks)
    check_room(log)
    for plan in plans if bench.learn_from_clicks else ():
        refuse_learning(plan.method, private=method(plan.method).is_private)
    store = None if output is None else make_store(output, "runs")
    assessor = Assessor(bench, seed, progress)
    mark = content_digest(log).hex() + knowledge
    paths = [None if store is None else store / f"{_key(mark, plan, seed, bench)}.json" for plan in plans]
    runs = [None if p is None or not p.exists() else run_from_json(p.read_bytes()) for p in paths]
    for number, run in enumerate(runs, 1):
        if run is not None:
            progress.note(f"[{number}/{len(plans)}] {run.name}: done before")
    left = [i for i, run in enumerate(runs) if run is None]
    remaining = Remaining(runs_seconds([plans[i] for i in left], len(log)))
    if left and remaining.total is not None:
        share = processes_for(log, len(left)) if processes is None else processes
        progress.note(f"{len(left)} runs: {in_words(remaining.total / share)} if this machine has nothing else to do")
    progress.start("comparing", total=len(left))
    found_runs = run_plans(assessor, [plans[i] for i in left], progress, processes)
    for done, (i, run) in enumerate(zip(left, found_runs, strict=True), 1):
        time_left = remaining.after(done) if done < len(left) else None
        progress.note(
            f"[{i + 1}/{len(plans)}] {run.name}: {sum(run.seconds.values()):.1f} s{_failed(run)}"
            + ("" if time_left is None else f"; {in_words(time_left)} left")
        )
        runs[i] = run
        path = paths[i]
        if path is not None:
            write_text(path, run_to_json(run).decode())
    found = Comparison(
        version=__version__,
        log={"rows": len(log), "users": len(np.unique(log.user)), "distinct queries": len(np.unique(log.query))},
        seed=seed,
        limits=limits,
        tasks=tasks,
        repeat=repeat,
        command=command,
        mapping=stated_mapping(bench.concepts.mapping),
        topics=assessor.topics,
        runs=tuple(run for run in runs if run is not None),
    )
    if output is not None:
        write_text(output / "results.json", comparison_json(found))
        write_text(output / "results.csv", comparison_csv(found, safe=safe_csv))
    return found


def _failed(run: Run) -> str:
    return "" if run.error is None else f", failed: {run.error}"


def make_store(output: Path, name: str) -> Path:
    """Make the directory of what is finished, inside that of the output."""
    store = output / name
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{output} is not a directory and cannot be made one; choose another.") from None
    return store


def _key(mark: str, plan: Plan, seed: int, bench: Workbench) -> str:
    knowledge: list[object] = [bench.taxonomy.name, len(bench.taxonomy), stated_mapping(check_mapping(bench.mapping))]
    knowledge += ["learned from clicks"] if bench.learn_from_clicks else []
    knowledge.append(bench.category_tree(plan.settings).name)  # of stream methods
    parts = [mark, plan.method, plan.settings, plan.draws, seed, __version__, *knowledge]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]
