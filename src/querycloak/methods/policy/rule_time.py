"""Rule `time`: times are rounded down to an hour, a day or a week, and the order within it is shuffled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.policy.draft import DAY, Draft, Help
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

__all__ = ["Time", "round_times"]

SECONDS: Final = {"second": 1, "hour": 3600, "day": DAY, "week": 7 * DAY}
MONDAY: Final = 4 * DAY
"""Seconds from 1970-01-01, a Thursday, to the first Monday: weeks begin on Mondays."""


@dataclass(frozen=True)
class Time(Rule):
    """Settings of `time`."""

    name: ClassVar[str] = "time"

    grain: str = setting("day", "times are rounded down to this", choices=("second", "hour", "day", "week"))
    shuffle: bool = setting(True, "rows within one grain are put into random order")


def round_times(draft: Draft, rule: Time, given: Help) -> Draft:
    """Round times down, and shuffle the rows that have the same one; a log without times stays as it is."""
    if draft.table.time is None:
        return draft
    time = draft.table.time
    seconds, origin = SECONDS[rule.grain], MONDAY if rule.grain == "week" else 0
    known = time != MISSING_TIME
    rounded = np.where(known, (np.where(known, time, 0) - origin) // seconds * seconds + origin, MISSING_TIME)
    draft = replace(draft, table=replace(draft.table, time=rounded))
    if not rule.shuffle:
        return draft
    order = np.lexsort((given.random.child("order within a grain").permutation(len(draft)), rounded))
    unit = None if draft.unit is None else draft.unit[order]
    return replace(draft, row=draft.row[order], table=draft.table.take(order), unit=unit)
