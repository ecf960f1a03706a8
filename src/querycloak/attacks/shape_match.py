"""Which published log has the shape of what is known: its number of rows, and what each row looks like, in order.

No text is compared. A row is described by the logarithm of its number of words; where times are published, by the time
of day, the time since the row before and the rows of the same day; where clicks are, by whether it has one, and its
rank. The rows of what is known are looked for as a stretch of each published
log: at every offset, the likelihood that these are the same rows is compared with that of rows drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from querycloak.arrays.pairs import number_pairs
from querycloak.arrays.ragged import Ragged
from querycloak.attacks._shape_kernels import Sequences, add_log_ratios
from querycloak.logs.query_log import MISSING_TIME, NO_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.logs.query_log import QueryLog

__all__ = ["ShapeMatch", "rows_of", "take_logs"]

Float64s = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]

CORRELATIONS: Final = (0.2, 0.5, 0.8)
"""How alike the same row may look in two releases; the likeliest is taken."""
FURTHEST: Final = 4.0
"""Standard deviations that a row counts for at most: one strange row is no proof."""
TO_CHOOSE_BY: Final = 15
"""Targets by which the correlation is chosen."""
SMALLEST_NOISE: Final = 0.1
"""Rows: if simulation and release have the same row counts, a row more or less counts as e^-10."""
LEAST_SPREAD: Final = 0.5
"""What the spread of clicks and of their ranks is taken for at least."""
MARGIN: Final = 50.0
"""A published log whose row count is e^50 times less likely than the best is not looked at."""
SCORES_AT_ONCE: Final = 1 << 23
PER_LOG: Final = 300.0
"""Multiplications that would take as long as what a published log takes apart from its rows: its exponentials and
logarithm. Where ids are of days or sessions, logs are short, and that is most of the work."""
DAY: Final = 86_400


@dataclass(frozen=True, eq=False)
class ShapeMatch:
    """Known sequences against the published ones."""

    known: Sequences
    """one for each target"""
    published: Sequences
    noise: float
    """how many rows counts are off"""
    part: float | None
    """which share of a log is known, 1 = all of it; None = any"""

    @classmethod
    def of(
        cls,
        known: Ragged,
        rows: Float64s,
        published: QueryLog,
        part: float | None,
        *,
        timed: bool = False,
        clicked: bool = False,
    ) -> Self:
        """Compare known rows (`known` the indices into rows: float64[features, rows], see `rows_of`) with a release."""
        theirs = rows_of(published, timed=timed, clicked=clicked)
        logs = Ragged.positions(published.user, len(published.users))
        mean = theirs.mean(axis=1, keepdims=True) if theirs.size else np.zeros((len(theirs), 1))
        spread = theirs.std(axis=1) if theirs.size else np.zeros(len(theirs))
        varies = spread > 0  # a feature that all rows share tells nothing
        scale = np.maximum(spread, 1e-300)[:, None]
        if clicked:  # of few rows with a click, each would be many deviations off, and outweigh all else
            scale[-2:] = np.maximum(scale[-2:], LEAST_SPREAD)

        def sequences(order: Ragged, values: Float64s) -> Sequences:
            scaled = np.clip((values - mean) / scale, -FURTHEST, FURTHEST)[varies]
            return Sequences(order.start, np.ascontiguousarray(scaled[:, order.values]))

        noise = _difference(known.lengths, logs.lengths) if part == 1 else 0.0
        return cls(sequences(known, rows), sequences(logs, theirs), max(noise, SMALLEST_NOISE), part)

    def blocks(self, step: int | None = None) -> Iterator[tuple[slice, Float64s]]:
        """Yield the log likelihoods of a few targets at a time: their slice, and float64[them, published ids]."""
        rho = self._correlation()
        logs, targets = len(self.published.start) - 1, len(self.known.start) - 1
        step = step or max(SCORES_AT_ONCE // max(logs, 1), 1)
        for first in range(0, targets, step):
            part = slice(first, min(first + step, targets))
            yield part, self._scores(part, rho)

    def _scores(self, part: slice, rho: float) -> Float64s:
        """float64[targets of the part, published ids]."""
        known = take_logs(self.known, part)
        out = self._row_counts(np.diff(known.start), np.diff(self.published.start))
        add_log_ratios(out, known, self.published, rho, MARGIN)
        return out

    def work(self) -> Float64s:
        """float64[targets]: how many multiplications it takes to compare each with all published logs."""
        rows, of = np.unique(np.diff(self.known.start), return_inverse=True)
        theirs, logs = np.unique(np.diff(self.published.start), return_counts=True)
        likely = self._row_counts(rows, theirs)
        near = likely >= likely.max(axis=1, keepdims=True, initial=-np.inf) - MARGIN
        each = np.minimum(rows[:, None], theirs) * (np.abs(rows[:, None] - theirs) + 1.0)
        return np.asarray(((near * (each * len(self.published.value) + PER_LOG)) @ logs)[of])

    def _row_counts(self, known: Ints, published: Ints) -> Float64s:
        """float64[targets, published ids]: log likelihood of the published number of rows, up to a constant.

        A log that is known whole has as many rows, up to noise. Of a part, the published log has no fewer rows; where
        the share of the part is known, the rest is counted as Poisson, as a normal variable.
        """
        ours, theirs = known[:, None].astype(np.float64), published[None, :].astype(np.float64)
        if self.part == 1:
            return np.asarray(-np.abs(theirs - ours) / self.noise)
        out = -np.maximum(ours - theirs, 0.0) / self.noise
        if self.part is not None:
            rest = ours * (1.0 / self.part - 1.0) + 1.0
            out -= 0.5 * (theirs - ours / self.part) ** 2 / rest
        return np.asarray(out)

    def _correlation(self) -> float:
        """Choose the correlation under which what is seen is likeliest, by a few targets."""
        targets = len(self.known.start) - 1
        few = slice(0, min(TO_CHOOSE_BY, targets))

        def evidence(rho: float) -> float:
            scores = self._scores(few, rho)
            if scores.size == 0:
                return 0.0
            best = scores.max(axis=1, keepdims=True)
            return float((best[:, 0] + np.log(np.exp(scores - best).mean(axis=1))).sum())

        return max(CORRELATIONS, key=evidence)


def rows_of(log: QueryLog, *, timed: bool, clicked: bool = False) -> Float64s:
    """float64[features, rows]: log of the number of words, then what `_times` and `_clicks` say, if asked for."""
    words = log.queries.str.count_matches(r"[\p{L}\p{N}]+").to_numpy()
    count = np.log(np.maximum(words, 1))[log.query] if len(log) else np.zeros(0)
    return np.concatenate([count[None, :], *([_times(log)] if timed else []), *([_clicks(log)] if clicked else [])])


def _times(log: QueryLog) -> Float64s:
    """float64[4, rows]: log of the gap, time of day on a circle, log of the rows of the same user and day."""
    assert log.time is not None
    order = np.argsort(log.user, kind="stable")
    time, user = log.time[order], log.user[order]
    known = time != MISSING_TIME
    gap = np.zeros(len(log))
    follows = (user[1:] == user[:-1]) & known[1:] & known[:-1]
    gap[1:][follows] = np.log1p(np.abs(time[1:] - time[:-1])[follows].astype(np.float64))
    angle = np.where(known, time % DAY, 0) * (2 * np.pi / DAY)
    of_day, rows = number_pairs(user, np.where(known, time // DAY, -1))
    per_day = np.where(known, np.log(rows[of_day]), 0.0)
    out = np.empty((4, len(log)))
    out[:, order] = [gap, np.where(known, np.cos(angle), 0.0), np.where(known, np.sin(angle), 0.0), per_day]
    return out


def _clicks(log: QueryLog) -> Float64s:
    """float64[2, rows]: whether there is a click, and the log of its rank."""
    assert log.url is not None
    rank = np.zeros(len(log)) if log.rank is None else np.log1p(np.maximum(log.rank, 0))
    return np.stack([(log.url != NO_CODE).astype(np.float64), rank])


def take_logs(logs: Sequences, part: slice) -> Sequences:
    """Return some of the logs, as views."""
    start = logs.start[part.start : part.stop + 1]
    return Sequences(start - start[0], np.ascontiguousarray(logs.value[:, start[0] : start[-1]]))


def _difference(known: Ints, published: Ints) -> float:
    """Return how far apart two sets of row counts are on average, the smallest with the smallest, and so on.

    0 where a method keeps row counts; noise on them makes it grow. Where one set is larger, quantiles are compared.
    """
    if len(known) == 0 or len(published) == 0:
        return 0.0
    at = np.linspace(0, 1, min(len(known), len(published)))
    nearest = [np.quantile(counts, at, method="nearest") for counts in (known, published)]
    return float(np.abs(nearest[0] - nearest[1]).mean())
