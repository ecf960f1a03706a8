"""When the records of a published stream were asked, as far as the stream tells.

Where times are published and fine, a record keeps the time at which it was asked, and the newest time published so far
is the present. Where they are missing or rounded, so that more than WINDOW rows share one, the attacker goes back from
the row by the median delay, which the statement tells.

Rows of an epoch are shuffled and have its time: their order tells nothing. A record left at some moment of its epoch,
and was published at its end; the attacker goes back from the end by the median delay and takes the epoch where he
arrives, as a whole. Which rows are of one epoch is told by the times, or else by the number of records of an epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["WINDOW", "epochs_of", "first_rows", "rows_of_epochs_when_asked", "rows_when_asked", "usual_delay"]

Int64s = npt.NDArray[np.int64]

WINDOW: Final = 1_000


def usual_delay(release: Release) -> int:
    """Return the median delay, in records."""
    return round(release.statement.figures.get("delay p50", 0.0))


def epochs_of(release: Release) -> Int64s | None:
    """int64[rows]: running number of the epoch of each row; None where there are no epochs."""
    settings, time = release.statement.settings, release.log.time
    epoch = str(settings.get("epoch") or "")
    rows = len(release.log)
    if not epoch or not rows:
        return None
    if epoch.isdigit() and (time is None or settings.get("time_grain")):
        entered = max(release.statement.counts_in.get("rows", rows), 1)
        return np.arange(rows, dtype=np.int64) * entered // (rows * int(epoch))
    if time is None:
        return None
    present = np.maximum.accumulate(time)
    return np.cumsum(np.diff(present, prepend=present[:1]) != 0).astype(np.int64)


def first_rows(epoch: Int64s) -> Int64s:
    """int64[rows]: the first row of the epoch of each; epochs are in their order."""
    return np.searchsorted(epoch, epoch, side="left")


def rows_of_epochs_when_asked(epoch: Int64s, delay: int) -> Int64s:
    """int64[rows]: the first row of the epoch in which each was asked, if it had the usual delay."""
    last = np.searchsorted(epoch, epoch, side="right") - 1
    return first_rows(epoch)[np.maximum(last - delay, 0)]


def rows_when_asked(table: QueryLog, delay: float) -> Int64s:
    """int64[rows]: the row of a release without epochs that left when each had been asked, as far as can be told."""
    here = np.arange(len(table), dtype=np.int64)
    back = np.maximum(here - round(delay), 0)
    if table.time is None:
        return back
    present = np.maximum.accumulate(table.time)
    first = np.searchsorted(present, table.time, side="left")
    alike = np.searchsorted(present, table.time, side="right") - first
    return np.where((table.time != MISSING_TIME) & (alike <= WINDOW), first, back).astype(np.int64)
