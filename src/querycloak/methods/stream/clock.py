"""The *present* of a stream by the times of its records: the newest so far, of those that are believed.

Were every time believed, one record of the year 2040 would stop the clock: all others would come "late", and belong to
the epoch of that one until the input ends. So a time that is more than a *leap* ahead, a day or three epochs where
these are longer, moves the clock only when ENOUGH such times have come in a row, as after a gap in the log; then to the
earliest of them. The first time of all is believed at once. When ENOUGH times in a row are more than a leap before it,
the clock is turned back to the latest of these, as long as the first epoch is open and nothing was published under its
time.

What is published is safe whatever the clock shows: a record belongs to the epoch that is open, with whose time it is
published; times only decide when an epoch ends. How many times were far ahead, and how many came after the epoch of
their time was over, is counted and told: in a log that is not in the order of time most are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.arrays.checks import require
from querycloak.logs.durations import DAY, MONDAY, WEEK
from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.stream import _clock_kernels as kernels

if TYPE_CHECKING:
    from querycloak.logs.query_log import Times
    from querycloak.methods.stream.publishing_settings import PublishingSettings

__all__ = ["FAR", "LATE", "Clock"]

ENOUGH: Final = 10
"""Times in a row that move the clock by more than a leap."""
EPOCHS: Final = 3
"""Epochs of a length of time that are a leap, where that is more than a day."""
FAR: Final = "times far ahead"
LATE: Final = "times after their epoch"


class Clock:
    """What time it is in a stream."""

    def __init__(self, settings: PublishingSettings) -> None:
        size = settings.epoch_seconds or 0
        offset = MONDAY if size and size % WEEK == 0 else 0  # as `round_down` has it
        self._rule = (max(DAY, EPOCHS * size), ENOUGH, size, offset)
        self._epoch_records = settings.epoch_records
        self._state = np.zeros(kernels.FIELDS, dtype=np.int64)
        self._state[[kernels.PRESENT, kernels.FIRST]] = MISSING_TIME

    def __repr__(self) -> str:
        return f"Clock({self.present})"

    @property
    def present(self) -> int:
        """The time that it shows; MISSING_TIME = none was known yet."""
        return int(self._state[kernels.PRESENT])

    @property
    def figures(self) -> dict[str, int]:
        """How many times were far ahead and moved nothing, and how many came after the epoch of their time."""
        return {FAR: int(self._state[kernels.FAR]), LATE: int(self._state[kernels.LATE])}

    def follow(self, time: Times, in_epoch: int | None) -> Times:
        """Return what it shows after each of some records: int64[n].

        `in_epoch`: how many records the first epoch has so far; None = it is over. Times fall only where the clock is
        turned back.
        """
        first = 0
        if in_epoch is not None and self._rule[2]:
            first = -1
        elif in_epoch is not None and self._epoch_records is not None:
            first = self._epoch_records - in_epoch
        present = np.empty(len(time), dtype=np.int64)
        kernels.follow(np.ascontiguousarray(time, dtype=np.int64), self._state, self._rule, first, present)
        return present

    def to_state(self) -> list[int]:
        """Return what `from_state` needs."""
        return [int(number) for number in self._state]

    def from_state(self, numbers: list[int]) -> None:
        """Go on where a clock of the same settings was; BadStateError where the numbers are none of a clock."""
        require(len(numbers) == kernels.FIELDS, "a clock has its fields")
        limit = 1 << 60
        require(all(n == MISSING_TIME or -limit < n < limit for n in numbers), "times are times")
        counts = [numbers[i] for i in (kernels.AHEAD, kernels.BEHIND, kernels.FAR, kernels.LATE)]
        require(min(counts) >= 0 and counts[0] < ENOUGH, "counts are counts")
        self._state[:] = numbers
