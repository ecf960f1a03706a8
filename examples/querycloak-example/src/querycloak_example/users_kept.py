"""Users kept: the share of users with at least one published query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak import Score

if TYPE_CHECKING:
    from querycloak import Progress, QueryLog, Randomness, Release

__all__ = ["users_kept"]


def users_kept(log: QueryLog, release: Release, random: Randomness, progress: Progress) -> Score:  # noqa: ARG001
    """Compare the number of users before and after."""
    progress.start("measure: users kept")
    before, after = (len(np.unique(table.user)) for table in (log, release.log))
    return Score(measure="users kept", value=after / max(before, 1), better="higher")
