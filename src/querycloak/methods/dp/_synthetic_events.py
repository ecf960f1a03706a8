"""The query events of each user in the order of time, their sessions, and which of them repeat an earlier one.

What is found about an event follows from the rows of its own user, whatever rows of others are in between, and however
users, texts and URLs are numbered: rows of one second stay in the order of the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.dp._synthetic_domain import SESSION_SECONDS

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.dp._synthetic_domain import Topics

__all__ = ["AGAIN", "EARLIER", "FIRST_EARLIER", "FIRST_NEW", "KINDS", "NEW", "UserEvents", "read_events"]

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

FIRST_NEW: Final = 0
"""The first event of a session, a text that is new to the user; the next bin: the same, without a topic."""
NEW: Final = 2
"""A later event of a session, a new text; the next bin: the same, without a topic."""
FIRST_EARLIER: Final = 4
"""The first event of a session, a text that the user asked before."""
EARLIER: Final = 5
"""A later event of a session, a text that the user asked before, but not just before."""
AGAIN: Final = 6
"""The text of the event just before, in the same session."""
KINDS: Final = 7


class UserEvents(NamedTuple):
    """Query events, ordered by user, time and row."""

    user: Int64s
    """int64[n], ascending"""
    query: Int64s
    """int64[n]"""
    time: Int64s | None
    """int64[n], MISSING_TIME where missing; None = the log has no times"""
    first: Bools
    """bool[n]: begins a session"""
    kind: Int64s
    """int64[n]: FIRST_NEW to AGAIN"""
    topic: Int64s
    """int64[n]: the topic of the first part of the query that has one, else `none`"""
    unit_user: Int64s
    """int64[m]: one entry for each part of a query that has a topic, and one for each event that has none"""
    unit_topic: Int64s
    """int64[m]"""

    @property
    def session(self) -> Int64s:
        """int64[n]: the number of the session of each event."""
        return np.cumsum(self.first) - 1


def read_events(log: QueryLog, concepts: ConceptLog, topics: Topics, takes_part: Bools) -> UserEvents:
    """Read the events of those who take part; takes_part: bool[users]."""
    row = np.flatnonzero(log.event & takes_part[log.user])
    time = None if log.time is None else log.time[row]
    keys = (row, log.user[row]) if time is None else (row, time, log.user[row])
    row = row[np.lexsort(keys)]
    user, query = log.user[row].astype(np.int64), log.query[row].astype(np.int64)
    time = None if log.time is None else log.time[row]
    new_user = np.ones(len(row), dtype=np.bool_)
    new_user[1:] = user[1:] != user[:-1]
    first = new_user.copy()
    if time is not None:
        missing = time == MISSING_TIME
        pause = np.diff(np.where(missing, 0, time)) > SESSION_SECONDS
        first[1:] |= pause | missing[1:] | missing[:-1]
    at = np.full(len(log), -1, dtype=np.int64)  # row → event
    at[row] = np.arange(len(row))
    event, unit_topic = at[concepts.row], topics.bin_of[concepts.concept]
    known = (event >= 0) & (unit_topic != topics.none)
    event, unit_topic = event[known], unit_topic[known]
    topic = np.full(len(row), topics.none, dtype=np.int64)
    topic[event[::-1]] = unit_topic[::-1]  # of several the first: the last that is written stays
    without = np.flatnonzero(topic == topics.none)
    return UserEvents(
        user,
        query,
        time,
        first,
        _kinds(user, query, first, topic == topics.none),
        topic,
        np.concatenate([user[event], user[without]]),
        np.concatenate([unit_topic, topic[without]]),
    )


def _kinds(user: Int64s, query: Int64s, first: Bools, without_topic: Bools) -> Int64s:
    """int64[n]: the kind of each event."""
    order = np.lexsort((np.arange(len(user)), query, user))
    same = np.zeros(len(user), dtype=np.bool_)
    same[1:] = (user[order][1:] == user[order][:-1]) & (query[order][1:] == query[order][:-1])
    asked_before = np.empty(len(user), dtype=np.bool_)
    asked_before[order] = same
    again = np.zeros(len(user), dtype=np.bool_)
    again[1:] = ~first[1:] & (query[1:] == query[:-1])
    new = np.where(first, FIRST_NEW, NEW) + without_topic
    return np.where(again, AGAIN, np.where(asked_before, np.where(first, FIRST_EARLIER, EARLIER), new)).astype(np.int64)
