"""Rule `ids`: whether rows of one person are published under one id, one id per day, one per session, or none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.policy.draft import DAY, Draft, Help, joint_codes
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

__all__ = ["Ids", "assign_ids", "sessions"]

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ids(Rule):
    """Settings of `ids`."""

    name: ClassVar[str] = "ids"

    per: str = setting(
        "release",
        "what has one id: all rows of a person in this release, those of one day, those of one session, or nothing",
        choices=("none", "release", "day", "session"),
    )
    gap: int = setting(30, "minutes without a query after which a new session begins", minimum=1)
    most: int | None = setting(None, "queries after which a new session begins", minimum=1)


def assign_ids(draft: Draft, rule: Ids, given: Help) -> Draft:  # noqa: ARG001 - rules are called alike
    """Say which rows are published under one id. Days and sessions are those of the times that were not rounded."""
    user = draft.table.user.astype(np.int64)
    if rule.per == "none":
        return replace(draft, unit=None, ids="none")
    if rule.per == "release":
        return replace(draft, unit=user, ids="person")
    if rule.per == "day":
        day = draft.asked_at // DAY  # rows without a time share a day of their own
        return replace(draft, unit=joint_codes(user, day), ids="day")
    unit = sessions(user, draft.asked_at, draft.log.event_row[draft.row], gap=60 * rule.gap, most=rule.most)
    return replace(draft, unit=unit, ids="session")


def sessions(user: Int64s, time: Int64s, event: Int64s, *, gap: int, most: int | None) -> Int64s:
    """int64[n]: the session of each row.

    A session ends with a gap of more than so many seconds, and after so many query events; clicks of one event stay
    together. A row without a time is a session of its own.
    """
    order = np.lexsort((event, time, user))
    user, time, event = user[order], time[order], event[order]
    new = np.ones(len(order), dtype=np.bool_)  # a session begins with this row
    step = np.where(time[1:] == MISSING_TIME, 0, time[1:]) - np.where(time[:-1] == MISSING_TIME, 0, time[:-1])
    new[1:] = (user[1:] != user[:-1]) | (step > gap) | (time[1:] == MISSING_TIME) | (time[:-1] == MISSING_TIME)
    session = np.cumsum(new) - 1
    if most is not None:
        first_of_event = np.ones(len(order), dtype=np.bool_)
        first_of_event[1:] = (event[1:] != event[:-1]) | new[1:]
        count = np.cumsum(first_of_event) - 1
        nth = count - count[new][session]  # number of the event within its session, from 0
        part = nth // most
        session = joint_codes(session, part)
    out = np.empty(len(order), dtype=np.int64)
    out[order] = session
    return out
