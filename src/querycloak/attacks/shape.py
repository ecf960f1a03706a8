"""Shape: row counts, words per row in order, times of day and gaps, clicks find a person; nothing is read.

The attacker runs the method on what he knows, and compares the shape of what comes out with each published log. Where
the method cannot be run again, he compares what he knows itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.attacks.interval import link_result
from querycloak.attacks.known import longest_logs
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.shape_match import ShapeMatch, rows_of
from querycloak.attacks.similarity import chance_of_best
from querycloak.attacks.targets import MOST_TARGETS, Targets, events_of, find_targets, sampled
from querycloak.progress import QUIET, Progress
from querycloak.releases.columns import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.attacks.halves import Halves
    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.trials import Trials
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["HALF_KNOWN", "match_shapes", "shape", "shape_of", "simulated", "window"]

WINDOWS: Final = (20, 50, 100)
"""Consecutive queries known of a person."""
HALF_KNOWN: Final = "half known"
"""Name of the trial of the known half, which other attackers share."""
WITH_COLUMNS: Final = ", with columns"
"""Ending of the names of variants that compare times and clicks, too."""
WORK: Final = 4e8
"""Multiplications that one window may take: about a third of a second."""
WORK_OF_A_SHARE: Final = 4e9
"""The same where it is told which share of a log is known, and the targets are a sample anyhow: of a smaller log, all
people are looked for, whatever it takes."""
FEWEST: Final = 120
"""Targets that are attacked even where that takes longer, up to WORK_OF_A_SHARE."""
LEAST: Final = 50
"""Targets of a log with more than MOST_TARGETS people that are attacked whatever it takes."""
PROMISED: Final = 200
"""Targets of a release with differential privacy that are attacked whatever it takes: where none of them is found, the
upper end of the rate is below 2 %; with 50 it is 7 %."""
ENOUGH: Final = 20
"""People without whom a window is left out: over fewer, a rate says nothing."""


@dataclass(frozen=True, eq=False)
class Variant:
    """What is known in one variant of the attack."""

    name: str
    knows: str
    known: QueryLog
    part: float | None
    """share of a log that is known; None = not told"""


def shape(
    log: QueryLog, release: Release, random: Randomness, progress: Progress = QUIET, *, halves: Halves, trials: Trials
) -> list[AttackResult]:
    """Attack with the whole log known, half of it, and 20, 50 and 100 consecutive queries at a random point of the log.

    People with fewer queries than a window has are no targets of it; a window with fewer than 20 targets is left out.
    One simulation is made for each variant. Where times or clicks are published, each variant is tried with and without
    them: a column that comes out otherwise in the simulation misleads.
    """
    variants = [
        Variant("whole log", "a person's whole log", log, 1.0),
        Variant(HALF_KNOWN, halves.which, halves.known, 0.5),
    ]
    for size in WINDOWS:
        known = window(log, size, random.child(f"window {size}"))
        variants.append(Variant(f"{size} in a row", f"{size} consecutive queries of a person", known, None))
    results: list[AttackResult] = []
    progress.start("attack: shape", total=len(variants))
    for variant in variants:
        targets = find_targets(variant.known, release, random.child(variant.name))
        if len(targets) >= (ENOUGH if variant.part is None else 1):
            results += _attack(variant, release, targets, trials, random.child(variant.name))
        progress.advance()
    if not results:
        raise CannotAttackError("nobody of whom something is known is in the release")
    return results


def _attack(
    variant: Variant, release: Release, targets: Targets, trials: Trials, random: Randomness
) -> Iterator[AttackResult]:
    seen, owners, is_run = simulated(variant.known, variant.name, trials)
    # Where a person has several ids, each is known whole or not at all: the longest one is looked for.
    part = variant.part if release.statement.ids == "person" else 1.0
    how = "runs the method on it" if is_run else "the method is not run again"
    times = ", rows per day, gaps and times of day" if release.log.time is not None else ""
    further = times + (", clicks and ranks" if release.log.url is not None else "")
    for name, columns in ((variant.name, ""), (f"{variant.name}{WITH_COLUMNS}", further)):
        if columns or name == variant.name:
            chance, index = match_shapes(seen, owners, release, targets, part, random, columns=bool(columns))
            knows = f"{variant.knows}; {how}; compares row counts and words per row{columns}"
            details = {**targets.details, **sampled(len(chance), targets.there)}
            yield link_result(f"shape, {name}", chance, release, knows, targets.owner[index], details=details)


def simulated(known: QueryLog, name: str, trials: Trials) -> tuple[QueryLog, npt.NDArray[np.int32], bool]:
    """Run the method on what is known: what it publishes, the longest published log of each, and that it was run.

    Where it cannot be run, the known queries themselves, one row per query event.
    """
    try:
        trial = trials.of(known, name)
    except CannotAttackError:
        return known.take(known.event), np.arange(len(known.users), dtype=np.int32), False
    return trial.release.log, longest_logs(known, trial.release), True


def match_shapes(
    seen: QueryLog,
    owners: npt.NDArray[np.int32],
    release: Release,
    targets: Targets,
    part: float | None,
    random: Randomness,
    *,
    columns: bool = False,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the chance of naming each target by its shape in `seen`, where person p is owners[p]: float64[sample].

    And int64[sample], which of the targets these are: all, where that is affordable.
    """
    is_sample = len(targets) < targets.there
    promised = PROMISED if release.statement.account else 0
    least = max(LEAST if len(owners) > MOST_TARGETS else FEWEST, promised)
    each = 1 + columns * ((release.log.time is not None) * 4 + (release.log.url is not None) * 2)  # values of a row
    if part is None:
        rows = np.append(np.bincount(seen.user, minlength=len(seen.users)), 0)[owners[targets.people]]
        index = _within(rows * float(len(release.log)), WORK, random, each, least, max(FEWEST, promised))
    else:
        index = np.arange(len(targets))
    match = shape_of(seen, owners[targets.people[index]], release, part, columns=columns)
    if part is not None and is_sample and (work := match.work()).sum() > WORK_OF_A_SHARE:
        index = _within(work, WORK_OF_A_SHARE, random, 1, max(LEAST, promised), max(FEWEST, promised))
        match = shape_of(seen, owners[targets.people[index]], release, part, columns=columns)
    chance = np.zeros(len(index))
    for block, scores in match.blocks():
        chance[block] = chance_of_best(scores, targets.owner[index[block]])
    return chance, index


def shape_of(
    seen: QueryLog, users: npt.NDArray[np.int32], release: Release, part: float | None, *, columns: bool = True
) -> ShapeMatch:
    """Compare the logs of some users of `seen` with the published ones; -1 is somebody of whom nothing is seen.

    Words per row are compared, with `columns` times and clicks, too.
    """
    both_timed = seen.time is not None and release.log.time is not None
    timed = columns and both_timed
    clicked = columns and seen.url is not None and release.log.url is not None
    if both_timed and release.statement.time_grain:
        seen = _rounded(seen, release.statement.time_grain)
    rows = Ragged.positions(seen.user, len(seen.users) + 1)  # the last is nobody's, and empty
    known = rows_of(seen, timed=timed, clicked=clicked)
    return ShapeMatch.of(rows.take(users), known, release.log, part, timed=timed, clicked=clicked)


def _rounded(seen: QueryLog, grain: str) -> QueryLog:
    """Return what is seen with its times and its order as they are published; a simulation has them already."""
    assert seen.time is not None
    text = seen.queries.rank("ordinal").to_numpy()[seen.query] if len(seen) else seen.query
    time = rounded(seen.time, grain)
    order = np.lexsort((text, time, seen.user))
    return replace(seen, time=time).take(order)


def _within(
    work: npt.NDArray[np.float64],
    most: float,
    random: Randomness,
    each: int = 1,
    least: int = LEAST,
    fewest: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return a random sample of targets whose work is no more than that in all; a few even where it is.

    `each`: how many times `work` it takes in truth. `least`: how many are taken whatever it takes, but not more for it
    than `fewest` (None = FEWEST).
    """
    order = random.child("order").permutation(len(work))
    total = np.cumsum(work[order])
    enough = FEWEST if fewest is None else fewest
    some = min(max(int(np.searchsorted(total * each, WORK_OF_A_SHARE)), least), enough)
    return np.sort(order[: max(int(np.searchsorted(total, most)), some)])


def window(log: QueryLog, size: int, random: Randomness) -> QueryLog:
    """Return `size` consecutive query events of each user who has as many, from a random one on, in order of time."""
    first_row = np.flatnonzero(log.event)
    user = log.user[first_row]
    order = np.lexsort((user,) if log.time is None else (log.time[first_row], user))
    count = events_of(log)
    begin = (random.uniform(len(log.users)) * (count - size + 1)).astype(np.int64)
    rank = np.arange(len(order)) - np.searchsorted(user[order], user[order])
    at = begin[user[order]]
    taken = np.zeros(len(log), dtype=np.bool_)
    taken[first_row[order]] = (rank >= at) & (rank < at + size) & (count[user[order]] >= size)
    return log.take(taken[log.event_row]) if len(log) else log
