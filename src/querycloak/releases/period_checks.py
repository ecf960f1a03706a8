"""What a stream that is published in epochs, or under ids that change, shows of it by its times.

An id of an epoch has one time, and an id of a day the times of one day; the times of epochs follow each other. Rows
without a time tell nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.logs.durations import DAY
from querycloak.logs.query_log import MISSING_TIME
from querycloak.releases.checks import broken

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["check_periods", "epochs_out_of_order", "ids_of_several_periods"]


def ids_of_several_periods(table: QueryLog, statement: PrivacyStatement) -> int | None:
    """Count the ids that are published in more than one period; None where ids do not change, or times do not tell."""
    if statement.ids not in {"epoch", "day"} or table.time is None:
        return None
    known = table.time != MISSING_TIME
    period = table.time[known] // (DAY if statement.ids == "day" else 1)
    pairs = np.unique(np.stack([table.user[known].astype(np.int64), period]), axis=1)
    return int((np.bincount(pairs[0]) > 1).sum()) if pairs.size else 0


def epochs_out_of_order(table: QueryLog, statement: PrivacyStatement) -> int | None:
    """Count the rows with an earlier time than a row before them; None where there are no epochs, or no times."""
    if not statement.settings.get("epoch") or table.time is None:
        return None
    known = table.time[table.time != MISSING_TIME]
    return int((np.diff(known) < 0).sum())


def check_periods(table: QueryLog, statement: PrivacyStatement) -> None:
    """Check that no id is published in two periods, and that epochs are in their order."""
    if ids_of_several_periods(table, statement):
        raise broken(statement, f"another id in each {statement.ids} is promised, and an id is in two")
    if epochs_out_of_order(table, statement):
        raise broken(statement, "epochs are promised, and times go back")
