"""Rule `ids`: whether rows of one person are published under one id, one id per day, one per session, or none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.methods.policy.draft import DAY, Draft, Help, by_letters, joint_codes
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Ids", "Sessions", "assign_ids", "sessions"]

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


class Sessions(NamedTuple):
    """The sessions of people."""

    of: Int64s
    """int64[rows]: the session of each row"""
    start: Int64s
    """int64[sessions]: when it begins, before it was split after so many queries; MISSING_TIME = of one row without"""
    part: Int64s
    """int64[sessions]: which part of what was split; of rows without a time, which one of the person"""


def assign_ids(draft: Draft, rule: Ids, given: Help) -> Draft:  # noqa: ARG001 - rules are called alike
    """Say which rows are published under one id. Days and sessions are those of the times that were not rounded."""
    user = draft.table.user.astype(np.int64)
    if rule.per == "none":
        return replace(draft, unit=None, names=None, ids="none")
    if rule.per == "release":
        return replace(draft, unit=user, names=None, ids="person")
    if rule.per == "day":
        day = np.where(draft.asked_at == MISSING_TIME, MISSING_TIME, draft.asked_at // DAY)
        unit = joint_codes(user, day)  # rows without a time share a day of their own
        _, first = np.unique(unit, return_index=True)
        return replace(draft, unit=unit, names=_names(draft, user[first], "day", day[first]), ids="day")
    found = sessions(user, draft.asked_at, _order_within(draft), gap=60 * rule.gap, most=rule.most)
    _, first = np.unique(found.of, return_index=True)
    names = _names(draft, user[first], "session", found.start, found.part)
    return replace(draft, unit=found.of, names=names, ids="session")


def _names(draft: Draft, user: Int64s, kind: str, *numbers: Int64s) -> pl.Series:
    """Return what each unit is called: the person, and which day or session; "-" is a missing time."""
    import polars as pl

    told = [np.where(number == MISSING_TIME, "-", number.astype(str)).tolist() for number in numbers]
    people = draft.log.users.gather(user).to_list()
    return pl.Series([" ".join((kind, *parts)) for parts in zip(*told, people, strict=True)], dtype=pl.String)


def _order_within(draft: Draft) -> tuple[Int64s, ...]:
    """Return the keys by which rows of one person and time are ordered, the last one first, then the event.

    Rows of one time are ordered by what was asked and clicked, so that sessions do not depend on the order of rows.
    """
    log, table = draft.log, draft.table
    event = log.event_row[draft.row]
    missing = draft.asked_at == MISSING_TIME
    text = by_letters(log.queries, log.query[draft.row])
    clicked = np.zeros(len(draft), np.int64) if log.url is None else (log.url[draft.row] != NO_CODE).astype(np.int64)
    url = rank = np.zeros(len(draft), dtype=np.int64)
    if missing.any():
        url = url if table.url is None or table.urls is None else by_letters(table.urls, table.url)
        rank = rank if table.rank is None else table.rank.astype(np.int64)
    # Clicks of one event stay together; a row without a time is an event of its own.
    return event, np.where(missing, rank, event), np.where(missing, url, clicked), text


def sessions(user: Int64s, time: Int64s, within: tuple[Int64s, ...], *, gap: int, most: int | None) -> Sessions:
    """Find the session of each row; `within`: events, int64[n], and what rows of one time are ordered by.

    A session ends with a gap of more than so many seconds, and after so many query events; clicks of one event stay
    together. A row without a time is a session of its own.
    """
    order = np.lexsort((*within, time, user))
    user, time, event = user[order], time[order], within[0][order]
    new = np.ones(len(order), dtype=np.bool_)  # a session begins with this row
    step = np.where(time[1:] == MISSING_TIME, 0, time[1:]) - np.where(time[:-1] == MISSING_TIME, 0, time[:-1])
    new[1:] = (user[1:] != user[:-1]) | (step > gap) | (time[1:] == MISSING_TIME) | (time[:-1] == MISSING_TIME)
    session = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    start = time[first]
    part = np.zeros(len(order), dtype=np.int64)
    if most is not None:
        first_of_event = np.ones(len(order), dtype=np.bool_)
        first_of_event[1:] = (event[1:] != event[:-1]) | new[1:]
        count = np.cumsum(first_of_event) - 1
        part = (count - count[new][session]) // most  # of the event's number within its session, from 0
    # Rows without a time come first of each person, one session each.
    first_of_user = np.flatnonzero(np.append(True, user[1:] != user[:-1])[: len(order)])
    nth = np.arange(len(order)) - first_of_user[np.cumsum(np.append(True, user[1:] != user[:-1])[: len(order)]) - 1]
    part = np.where(time == MISSING_TIME, nth, part)
    unit = joint_codes(session, part)
    _, begin = np.unique(unit, return_index=True)
    out = np.empty(len(order), dtype=np.int64)
    out[order] = unit
    return Sessions(out, start[session[begin]], part[begin])
