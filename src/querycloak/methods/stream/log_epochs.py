"""Epochs of a log that passes a stream method in memory: which record closes which, and the time that each publishes.

An epoch is so many records, or a length of time: then it ends with the first record of a later one. The *present* is
the newest time so far of those that are believed (`clock.py`); a record that comes late, or without a time, belongs to
the epoch that is open. The time of an epoch is the present at its first record, and for a length of time the begin of
that length.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.durations import round_down
from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.stream.clock import Clock

if TYPE_CHECKING:
    from querycloak.logs.query_log import Times
    from querycloak.methods.stream.publishing_settings import PublishingSettings
    from querycloak.randomness import Randomness

__all__ = ["LogEpochs", "age_cuts", "present_times"]

Int64s = npt.NDArray[np.int64]

CHECKS: Final = 16
"""How often the age of what waits is looked at, within the longest age."""


def present_times(time: Times, settings: PublishingSettings) -> tuple[Times, dict[str, int]]:
    """Return what the clock shows after each record, int64[n], and its figures.

    Before the first known time it shows that one, and where it was turned back, what it was last turned back to:
    nothing was published until then.
    """
    clock = Clock(settings)
    present = clock.follow(time, in_epoch=0 if settings.epoch is not None else None)
    known = np.flatnonzero(present != MISSING_TIME)
    if len(known):
        turned = np.flatnonzero(np.diff(present[known]) < 0)
        begin = int(known[turned[-1] + 1]) if len(turned) else int(known[0])
        present[:begin] = present[begin]
    return present, clock.figures


@dataclass(frozen=True, eq=False, repr=False)
class LogEpochs:
    """Epochs of records that enter in their order."""

    begin: Int64s
    """int64[epochs]: running number of the first record of each"""
    time: Times | None
    """int64[epochs]: the time under which its rows are published; None = the log has no times"""
    entered: int

    @classmethod
    def of(cls, settings: PublishingSettings, present: Times | None, entered: int) -> LogEpochs:
        """Return the epochs of so many records; `present` int64[entered], None where the log has no times."""
        if settings.epoch_records is not None:
            begin = np.arange(0, max(entered, 1), settings.epoch_records, dtype=np.int64)
        else:
            assert settings.epoch is not None
            assert present is not None
            new = np.diff(round_down(present, settings.epoch), prepend=MISSING_TIME - 1) != 0
            begin = np.flatnonzero(new).astype(np.int64)
        if present is None or not entered:
            return cls(begin, None if present is None else present[:0], entered)
        time = present[begin]
        return cls(begin, time if settings.epoch_seconds is None else round_down(time, settings.epoch or ""), entered)

    def of_moments(self, moment: Int64s) -> Int64s:
        """int64[n]: the epoch that was open when the record with this running number had entered."""
        return np.searchsorted(self.begin, moment, side="right") - 1

    def last(self, epoch: Int64s) -> Int64s:
        """int64[n]: running number of the last record of each epoch: at which its rows are published."""
        return np.append(self.begin[1:], self.entered)[epoch] - 1

    def shuffled(self, epoch: Int64s, random: Randomness) -> Int64s:
        """int64[n]: an order in which the rows of each epoch are shuffled, and epochs are in theirs."""
        new = np.flatnonzero(np.diff(epoch)) + 1
        parts = [begin + random.permutation(end - begin) for begin, end in pairwise([0, *new.tolist(), len(epoch)])]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def age_cuts(present: Times, max_age: float) -> list[tuple[int, int]]:
    """Return where to look whether records are too old: (running number, those before this number are).

    The looks are at most a sixteenth of the longest age apart.
    """
    cuts, at = [], 0
    while at < len(present) and present[0] != MISSING_TIME:
        cuts.append((at, int(np.searchsorted(present, present[at] - max_age, side="left"))))
        at = max(at + 1, int(np.searchsorted(present, present[at] + max_age / CHECKS, side="right")))
    return cuts
