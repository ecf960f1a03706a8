"""Lengths of time as they are written in settings: `30s`, `10m`, `1h`, `1d`, `1w`, or hour, day, week.

>>> seconds_of("10m"), seconds_of("day"), seconds_of("soon")
(600, 86400, None)
>>> round_down(np.array([1_000_000_123]), "10m").tolist()
[999999600]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.logs.query_log import MISSING_TIME

if TYPE_CHECKING:
    from querycloak.logs.query_log import Times

__all__ = ["DAY", "MONDAY", "WEEK", "round_down", "seconds_of"]

DAY: Final = 86_400
WEEK: Final = 7 * DAY
MONDAY: Final = 4 * DAY
"""The first Monday after 1970-01-01, in seconds."""
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": DAY, "w": WEEK}
_NAMES: Final = {"hour": 3_600, "day": DAY, "week": WEEK}
_LOOK: Final = re.compile(r"([1-9][0-9]{0,8})([smhdw])")


def seconds_of(text: str) -> int | None:
    """Return the seconds of a length of time; None where the text is none."""
    found = _LOOK.fullmatch(text)
    return _NAMES.get(text) if found is None else int(found[1]) * _UNITS[found[2]]


def round_down(time: Times, grain: str) -> Times:
    """Round times down to a length of time, counted from 1970 (UTC), weeks from a Monday; a missing time stays so."""
    size = seconds_of(grain)
    if size is None:
        raise ValueError("no length of time")
    begin = MONDAY if size % WEEK == 0 else 0
    known = time != MISSING_TIME
    down = (np.where(known, time, 0) - begin) // size * size + begin
    return np.where(known, down, MISSING_TIME)
