"""Methods side by side on one log: each is run, attacked and measured; after an interruption, done runs stay done."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak._version import __version__
from querycloak.attacks.halves import halves
from querycloak.attacks.relink import relink
from querycloak.catalog import method
from querycloak.errors import OutputError, ParameterError, UserError
from querycloak.evaluation.comparison import Comparison, Run
from querycloak.evaluation.comparison_files import comparison_csv, comparison_json, run_from_json, run_to_json
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.atomic import write_text
from querycloak.measures.topics import topic_shares
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.releases.classes import class_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["Plan", "compare", "plan_runs"]

BASELINE: Final = ("sweep", {"min_query_users": 1, "identifiers": False})
"""A log with nothing but new ids: the row that every report keeps, to show what pseudonyms are worth."""
TOPICS_SHOWN: Final = 12
HEAVY: Final = 50
"""Query events in the known half that make a heavy user."""


@dataclass(frozen=True)
class Plan:
    """One run to come."""

    name: str
    method: str
    settings: dict[str, Any]
    baseline: bool = False


def plan_runs(methods: Sequence[str], grid: Mapping[str, Sequence[Any]]) -> list[Plan]:
    """Cross each method with the values of those settings that it has; a setting that none has is refused.

    >>> [plan.name for plan in plan_runs(["sweep"], {"min_query_users": [2, 3]})]
    ['pseudonyms only', 'sweep min_query_users=2', 'sweep min_query_users=3']
    """
    plans = [Plan("pseudonyms only", *BASELINE, baseline=True)]
    known: set[str] = set()
    for name in methods:
        settings = method(name).settings
        mine = [f.name for f in fields(settings) if f.name in grid]
        known.update(mine)
        for values in itertools.product(*(grid[field] for field in mine)):
            chosen = dict(zip(mine, values, strict=True))
            settings.from_json(chosen)
            text = " ".join(f"{field}={value}" for field, value in chosen.items())
            plans.append(Plan(f"{name} {text}".strip(), name, chosen))
    stray = sorted(set(grid) - known)
    if stray:
        raise ParameterError(f"None of the methods {', '.join(methods)} has a setting {stray[0]!r}.")
    return plans


def compare(
    bench: Workbench,
    plans: Sequence[Plan],
    output: Path | None = None,
    *,
    seed: int = 1,
    max_risk: float = 0.2,
    repeat: str = "",
    knowledge: str = "",
    progress: Progress = QUIET,
) -> Comparison:
    """Run all plans; where there is a directory `output`, write `results.json` and `results.csv` into it.

    Each finished run is kept in `output/runs`, by a digest of the log, `knowledge` (any text that tells one taxonomy or
    directory from another), the method, its settings, the seed and the version: the same command goes on where it
    stopped.
    """
    log = bench.log
    if len(log) == 0:
        raise UserError("The log is empty: there is nothing to compare.")
    if len(np.unique(log.user)) < 2:
        raise UserError("The log has one user: there is nobody to hide among.")
    store = None if output is None else _store(output)
    before = _top_topics(bench)
    first, second = halves(log, Randomness(seed).child("halves"))
    first_bench = Workbench(first, bench.taxonomy, bench.directory, bench.resolver)
    second_bench = Workbench(second, bench.taxonomy, bench.directory, bench.resolver)
    mark = _digest_of(log) + knowledge
    runs = []
    for number, plan in enumerate(plans, 1):
        kept = None if store is None else store / f"{_key(mark, plan, seed, bench)}.json"
        done = run_from_json(kept.read_bytes()) if kept is not None and kept.exists() else None
        if done is None:
            progress.note(f"[{number}/{len(plans)}] {plan.name}")
            done = _run(plan, bench, first_bench, second_bench, seed, list(before), progress)
            if kept is not None:
                write_text(kept, run_to_json(done).decode())
        else:
            progress.note(f"[{number}/{len(plans)}] {plan.name}: done before")
        runs.append(done)
    counts = {"rows": len(log), "users": len(np.unique(log.user)), "distinct queries": len(np.unique(log.query))}
    labels = {bench.taxonomy.label(topic): share for topic, share in before.items()}
    found = Comparison(
        version=__version__, log=counts, seed=seed, max_risk=max_risk, repeat=repeat, topics=labels, runs=tuple(runs)
    )
    if output is not None:
        write_text(output / "results.json", comparison_json(found))
        write_text(output / "results.csv", comparison_csv(found))
    return found


def _store(output: Path) -> Path:
    """Make the directory of finished runs."""
    store = output / "runs"
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{output} is not a directory and cannot be made one; choose another.") from None
    return store


def _run(
    plan: Plan,
    bench: Workbench,
    first: Workbench,
    second: Workbench,
    seed: int,
    topics: Sequence[int],
    progress: Progress,
) -> Run:
    """Run one plan; a method that fails makes a run that says why."""
    head: dict[str, Any] = {
        "name": plan.name, "method": plan.method, "settings": plan.settings, "baseline": plan.baseline
    }  # fmt: skip
    seconds: dict[str, float] = {}
    try:
        progress.start(f"{plan.name}: anonymize")
        with _timed(seconds, "anonymize"):
            release = bench.anonymize(plan.method, seed=seed, **plan.settings)
        progress.start(f"{plan.name}: attack")
        with _timed(seconds, "attack"):
            attacks = bench.attack(release, seed=seed)
            if release.holds_user_logs:
                attacks += _relink(plan, first, second, release, seed)
        progress.start(f"{plan.name}: measure")
        with _timed(seconds, "measure"):
            scores = bench.measure(release, seed=seed)
            after = topic_shares(bench.concepts_of(release), bench.taxonomy)
    except UserError as error:
        return Run(**head, error=str(error))
    except Exception as error:
        return Run(**head, error=f"broke with {type(error).__name__}; this is a bug of the method")
    return Run(
        **head,
        statement=release.statement,
        attacks=tuple(attacks),
        scores=tuple(scores),
        seconds=seconds,
        group_sizes=_histogram(release),
        topics={bench.taxonomy.label(topic): float(after[topic]) for topic in topics},
    )


def _relink(plan: Plan, first: Workbench, second: Workbench, whole: Release, seed: int) -> list[AttackResult]:
    """Release the second halves alone, and look for the users of the first halves in it.

    A method may refuse the halves where it took the whole (too few users): then there is nothing to relink.
    """
    try:
        release = second.anonymize(plan.method, seed=seed, **plan.settings)
    except UserError:
        return []
    knowledge: dict[str, Any] = {}
    if whole.holds_concepts:
        knowledge = {"concepts": first.concepts, "taxonomy": first.taxonomy}
    everybody = relink(first.log, release, **knowledge)
    heavy = relink(first.log, release, min_events=HEAVY, **knowledge)
    return [everybody, replace(heavy, attack=f"relink-half, {HEAVY}+ known")] if heavy.targets else [everybody]


def _top_topics(bench: Workbench) -> dict[int, float]:
    """Find the largest topics of the log: concept and share."""
    shares = topic_shares(bench.concepts, bench.taxonomy)
    largest = np.argsort(-shares, kind="stable")[:TOPICS_SHOWN]
    return {int(topic): float(shares[topic]) for topic in largest if shares[topic] > 0}


def _histogram(release: Release) -> dict[int, int]:
    if not release.holds_user_logs:
        return {}
    size, users = np.unique(class_sizes(release.log), return_counts=True)
    return dict(zip(size.tolist(), users.tolist(), strict=True))


class _timed:  # noqa: N801 - reads like a word in a with statement
    """Notes how long its block took."""

    def __init__(self, seconds: dict[str, float], step: str) -> None:
        self._seconds, self._step = seconds, step

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._step] = time.perf_counter() - self._start


def _key(mark: str, plan: Plan, seed: int, bench: Workbench) -> str:
    parts = [mark, plan.method, plan.settings, seed, __version__, bench.taxonomy.name, len(bench.taxonomy)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _digest_of(log: QueryLog) -> str:
    """Return a digest of what the log says: its codes and its words."""
    digest = hashlib.sha256()
    for part in _parts(log):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _parts(log: QueryLog) -> Iterator[bytes]:
    for codes in (log.user, log.query, log.time, log.url, log.category):
        yield b"" if codes is None else np.ascontiguousarray(codes).tobytes()
    for words in (log.users, log.queries, log.urls, log.categories):
        yield b"" if words is None else "\0".join(words.to_list()).encode()
