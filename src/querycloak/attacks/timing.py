"""Timing: when a person searched finds the published id that searched then; nothing is read.

The attacker knows the times of the earlier half of a person's log. Up to the last of them he knows all that the person
did, so there the right id has rows where the person searched and none where not, up to what the method left out. Later
he knows only habits: the days of the week, and the hours where they are published.

The score of a person and a published id is a log likelihood ratio: these rows are the person's, against anybody's. With
c(g) the person's known searches in the grain g (an hour, day or week), d(g) the id's published rows in it, and L the
last known grain:

    before L    sum of s log Poisson(d(g); e(g)) - log Poisson(d(g); N w(g))
    in L        log(a (SURE [d(L) >= m] / tail + 1 - SURE) + 1 - a), or 0 where nobody has m rows in L
    after L     TRUST d(g) log(habit of the person for the slot of g / share of all rows in that slot)

Before L the person is expected to have e(g) = p (a c(g) + (1 - a) n w(g)) rows, and a/2 where c(g) > 0; anybody has the
N rows of the id there, spread over the grains as all rows are, w(g). n is the number of known searches before L, p that
of published rows per search. Rows that are kept as they were vary less than a Poisson variable: s = 1 + 2a sharpens it,
and the half makes c(g) the likeliest number. In L only a part of the person's searches is known, so more rows are no
surprise: m = p c(L), rounded, and at least 1; tail is the share of ids with m rows in L or more. a is how much of a
published log is the person's own: 1/k where the statement promises groups of k, else nearly all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from querycloak.arrays.sparse import Sparse
from querycloak.attacks.interval import link_result
from querycloak.attacks.result import CannotAttackError, NothingToAttackError
from querycloak.attacks.similarity import chance_of_best
from querycloak.attacks.targets import find_targets
from querycloak.distributions import log_factorials
from querycloak.logs.query_log import MISSING_TIME
from querycloak.progress import QUIET, Progress
from querycloak.releases.classes import distinct_logs
from querycloak.releases.columns import GRAINS, rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.attacks.halves import Halves
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import Codes, QueryLog, Times
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["Activity", "grain_of", "timing"]

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

OWN_SHARE: Final = 0.99
"""How much of a published log is the person's own where no groups are promised; the rest is for surprises."""
TRUST: Final = 0.25
"""Searches come in sessions: four rows tell as much of a habit as one that is independent."""
HABIT_PRIOR: Final = 5.0
"""Known searches that outweigh what everybody does."""
SCORES_AT_ONCE: Final = 1 << 23
SURE: Final = 0.9
"""Chance that the rows of the last known grain are published as expected."""
LEAST: Final = 1e-12
HOUR: Final = 3_600
DAY: Final = 86_400


def timing(
    log: QueryLog, release: Release, random: Randomness, progress: Progress = QUIET, *, halves: Halves
) -> AttackResult:
    """Link people whose earlier half is known by when they searched; does not apply where no times are published."""
    if release.log.time is None:
        raise NothingToAttackError("no times are published")
    if log.time is None:
        raise CannotAttackError("the log has no times to know of")
    progress.start("attack: timing")
    targets = find_targets(halves.known, release, random)
    grain = grain_of(release.log.time, release.statement.time_grain)
    rows_per_search = len(release.log) / max(int(log.event.sum()), 1)
    activity = Activity.of(halves.known, targets.people, release.log, grain, rows_per_search)
    chance = np.zeros(len(targets))
    for part, scores in activity.blocks(release.statement.bound or OWN_SHARE):
        chance[part] = chance_of_best(scores, targets.owner[part])
    knows = f"when {halves.which} was asked; compares the {grain}s in which each published id has rows, and how many"
    return link_result("timing", chance, release, knows, targets.owner, details=targets.details)


def grain_of(time: Times, promised: str = "") -> str:
    """Return the grain of published times: the one promised, or else the coarsest that fits; an hour at the finest."""
    fitting = [grain for grain in GRAINS if (rounded(time, grain) == time).all()]
    return promised or max(fitting, key=GRAINS.__getitem__, default="hour")


@dataclass(frozen=True, eq=False)
class Activity:
    """When people are known to have searched, and when published ids did."""

    known: Float64s
    """float64[targets, grains], known searches"""
    last: Int64s
    """int64[targets], the last known grain, -1 = nothing is known"""
    published: Sparse
    """[distinct logs, grains], rows"""
    log_of: Int64s
    """int64[published ids], the distinct log of each"""
    everybody: Float64s
    """float64[grains], rows of all ids"""
    slot: Int64s
    """int64[grains], the hour of the week, or its day, or 0 in weeks"""
    rate: float
    """published rows per search"""

    @classmethod
    def of(cls, known: QueryLog, people: Codes, published: QueryLog, grain: str, rate: float) -> Self:
        """Count searches and rows by grain; those without a time are left out."""
        assert known.time is not None
        assert published.time is not None
        ours = known.take(known.event & (known.time != MISSING_TIME))
        theirs = published.take(published.time != MISSING_TIME)
        assert ours.time is not None
        assert theirs.time is not None
        times = np.concatenate([rounded(ours.time, grain), rounded(theirs.time, grain)])
        begins, code = np.unique(times, return_inverse=True)
        of_person = _table(ours.user, code[: len(ours)], (len(known.users), len(begins)))
        of_id = _table(theirs.user, code[len(ours) :], (len(published.users), len(begins)))
        log_of, one = distinct_logs(published)
        counts = of_person.take(people).dense()
        numbers = np.arange(1, len(begins) + 1)
        last = np.max((counts > 0) * numbers, axis=1, initial=0) - 1
        slot = {"week": begins * 0, "day": begins // DAY % 7, "hour": begins // HOUR % (7 * 24)}[grain]
        everybody = np.bincount(code[len(ours) :], minlength=len(begins)).astype(np.float64)
        return cls(counts, last, of_id.take(one), log_of, everybody, slot, rate)

    def blocks(self, own: float) -> Iterator[tuple[slice, Float64s]]:
        """Yield the scores of a few targets at a time: their slice, and float64[them, published ids]."""
        step = max(SCORES_AT_ONCE // max(len(self.log_of), 1), 1)
        for first in range(0, len(self.last), step):
            part = slice(first, min(first + step, len(self.last)))
            yield part, self.scores(part, own)[:, self.log_of]

    def scores(self, part: slice, own: float) -> Float64s:
        """float64[targets of the part, distinct logs]: what is said at the top of the file, with a = own."""
        known, last = self.known[part], self.last[part]
        grain = np.arange(known.shape[1])[None, :]
        before = grain < last[:, None]  # bool[targets, grains]
        all_rows = np.where(before, self.everybody, 0.0)
        share = all_rows / np.maximum(all_rows.sum(axis=1, keepdims=True), 1.0)
        searches = np.where(before, known, 0.0)
        expected = self.rate * (own * searches + (1 - own) * searches.sum(axis=1, keepdims=True) * share)
        expected += 0.5 * own * (searches > 0)
        sharp = 1 + 2 * own
        likelier = sharp * np.log(np.maximum(expected, LEAST)) - np.log(np.maximum(share, LEAST))
        habits = np.where(grain > last[:, None], TRUST * self._habits(known), 0.0)
        out = self.published.times_dense(np.where(before, likelier, habits).T).T
        rows = self.published.times_dense(before.T.astype(np.float64)).T  # N, float64[targets, distinct logs]
        out += rows - rows * np.log(np.maximum(rows, 1.0)) - sharp * expected.sum(axis=1, keepdims=True)
        out -= (sharp - 1) * self._factorials().times_dense(before.T.astype(np.float64)).T
        return np.asarray(out + self._in_last(known, last, own), dtype=np.float64)

    def _factorials(self) -> Sparse:
        """Return the log of the factorial of each number of rows, [distinct logs, grains]."""
        return self.published._replace(value=log_factorials(self.published.value))

    def _in_last(self, known: Float64s, last: Int64s, own: float) -> Float64s:
        """float64[targets, distinct logs]: what the last known grain tells."""
        if known.shape[1] == 0:
            return np.zeros((len(last), self.published.rows))
        rows = self.published.transposed().take(np.maximum(last, 0)).dense()
        least = np.maximum(np.rint(self.rate * known[np.arange(len(last)), np.maximum(last, 0)]), 1.0)
        enough = rows >= least[:, None]
        ids = np.bincount(self.log_of, minlength=self.published.rows)
        tail = (enough @ ids / max(len(self.log_of), 1))[:, None]
        ratio = np.log(own * (SURE * enough / np.maximum(tail, LEAST) + 1 - SURE) + 1 - own)
        return np.where((tail > 0) & (last[:, None] >= 0), ratio, 0.0)

    def _habits(self, known: Float64s) -> Float64s:
        """float64[targets, grains]: log of how much likelier the slot of each grain is for the person than for all."""
        slots = int(self.slot.max(initial=0)) + 1
        usual = np.bincount(self.slot, self.everybody, minlength=slots)
        usual = (usual + 1.0) / (usual.sum() + slots)
        of_slot = np.zeros((len(self.slot), slots))
        of_slot[np.arange(len(self.slot)), self.slot] = 1.0
        habit = known @ of_slot + HABIT_PRIOR * usual
        habit /= habit.sum(axis=1, keepdims=True)
        return np.asarray(np.log(habit / usual)[:, self.slot], dtype=np.float64)


def _table(user: Codes, grain: Int64s, shape: tuple[int, int]) -> Sparse:
    """Count the rows that each user has in each grain, [users, grains]."""
    return Sparse.of(user, grain, np.ones(len(user)), shape)
