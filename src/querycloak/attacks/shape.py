"""Shape: row counts, words per row in order, times of day and gaps find a person; nothing is read.

The attacker runs the method on what he knows, and compares the shape of what comes out with each published log. Where
the method cannot be run again, he compares what he knows itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.attacks.interval import link_result
from querycloak.attacks.known import published_users
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.shape_match import ShapeMatch, rows_of
from querycloak.attacks.similarity import chance_of_best
from querycloak.attacks.targets import Targets, events_of, find_targets
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
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
WORK: Final = 4e8
"""Multiplications that one window may take: about a third of a second."""
FEWEST: Final = 120
"""Targets that are attacked even where that takes longer."""
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
    One simulation is made for each variant.
    """
    variants = [
        Variant("whole log", "a person's whole log", log, 1.0),
        Variant(HALF_KNOWN, halves.which, halves.known, 0.5),
    ]
    for size in WINDOWS:
        known = window(log, size, random.child(f"window {size}"))
        variants.append(Variant(f"{size} in a row", f"{size} consecutive queries of a person", known, None))
    results = []
    progress.start("attack: shape", total=len(variants))
    for variant in variants:
        targets = find_targets(variant.known, release, random.child(variant.name))
        if len(targets) >= (ENOUGH if variant.part is None else 1):
            results.append(_attack(variant, release, targets, trials, random.child(variant.name)))
        progress.advance()
    if not results:
        raise CannotAttackError("nobody of whom something is known is in the release")
    return results


def _attack(variant: Variant, release: Release, targets: Targets, trials: Trials, random: Randomness) -> AttackResult:
    seen, owners, is_run = simulated(variant.known, variant.name, trials)
    chance = match_shapes(seen, owners, release, targets, variant.part, random)
    how = "runs the method on it" if is_run else "the method is not run again"
    knows = f"{variant.knows}; {how}; compares row counts and words per row"
    return link_result(f"shape, {variant.name}", chance, release, knows, details=targets.details)


def simulated(known: QueryLog, name: str, trials: Trials) -> tuple[QueryLog, npt.NDArray[np.int32], bool]:
    """Run the method on what is known: what it publishes, the published user of each person, and that it was run.

    Where it cannot be run, the known queries themselves, one row per query event.
    """
    try:
        trial = trials.of(known, name)
    except CannotAttackError:
        return known.take(known.event), np.arange(len(known.users), dtype=np.int32), False
    return trial.release.log, published_users(known, trial.release), True


def match_shapes(
    seen: QueryLog,
    owners: npt.NDArray[np.int32],
    release: Release,
    targets: Targets,
    part: float | None,
    random: Randomness,
) -> npt.NDArray[np.float64]:
    """float64[targets, or a sample]: the chance of naming each by its shape in `seen`, where person p is owners[p]."""
    index = np.arange(len(targets)) if part is not None else _affordable(seen, owners, release, targets, random)
    match = shape_of(seen, owners[targets.people[index]], release, part)
    chance = np.zeros(len(index))
    for block, scores in match.blocks():
        chance[block] = chance_of_best(scores, targets.owner[index[block]])
    return chance


def shape_of(seen: QueryLog, users: npt.NDArray[np.int32], release: Release, part: float | None) -> ShapeMatch:
    """Compare the logs of some users of `seen` with the published ones; -1 is somebody of whom nothing is seen."""
    timed = seen.time is not None and release.log.time is not None
    rows = Ragged.positions(seen.user, len(seen.users) + 1)  # the last is nobody's, and empty
    return ShapeMatch.of(rows.take(users), rows_of(seen, timed=timed), release.log, part)


def _affordable(
    seen: QueryLog, owners: npt.NDArray[np.int32], release: Release, targets: Targets, random: Randomness
) -> npt.NDArray[np.int64]:
    """Return a random sample of the targets that can be looked for at every offset within WORK."""
    rows = np.append(np.bincount(seen.user, minlength=len(seen.users)), 0)[owners[targets.people]]
    order = random.child("order").permutation(len(targets))
    work = np.cumsum(rows[order] * float(len(release.log)))
    return np.sort(order[: max(int(np.searchsorted(work, WORK)), FEWEST)])


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
