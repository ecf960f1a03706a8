"""Volume: how many query events the release holds, against the log. Reported only: a blind log has the same.

The value is the smaller number over the larger one: 1 = as many as in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.tasks.resampling import around
from querycloak.tasks.task import TaskScore, impossible

if TYPE_CHECKING:
    from querycloak.tasks.reading import Reading

__all__ = ["score_volume"]


def score_volume(log: Reading, release: Reading) -> list[TaskScore]:
    """Score the number of events."""
    if not len(log.id):
        return [impossible("volume", "the log is empty")]
    before, after = (
        part.draws @ np.bincount(part.block, weights=part.weight, minlength=part.draws.shape[1])
        for part in (log, release)
    )
    most = np.maximum(before, after)
    value, low, high = around(np.minimum(before, after) / np.maximum(most, 1e-300))
    note = f"{after[0]:,.0f} query events published, {before[0]:,.0f} in the log"
    return [TaskScore(task="volume", value=value, low=low, high=high, cases=len(log.id), note=note)]
