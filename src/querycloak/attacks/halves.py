"""What the attacker knows of a person: the earlier half of the log; a random half where there are no times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness

__all__ = ["Halves", "halves"]


class Halves(NamedTuple):
    """Each person's log in two halves; codes mean the same as in the whole log."""

    known: QueryLog
    """what the attacker knows"""
    other: QueryLog
    """what he would like to know"""

    @property
    def which(self) -> str:
        """Which half is known, in a few words."""
        return f"{'a random' if self.known.time is None else 'the earlier'} half of a person's log"


def halves(log: QueryLog, random: Randomness) -> Halves:
    """Split each person's query events in half: the earlier half is known; a random half where there are no times.

    Of an odd number of events, the second half has one more; a person with one event is in the second half only. The
    rows of one event stay together. Events of equal time, or without one, are taken in the order of rows.
    """
    first_row = np.flatnonzero(log.event)
    event = np.searchsorted(first_row, log.event_row)  # event of each row
    user = log.user[first_row]
    when = random.permutation(len(first_row)) if log.time is None else log.time[first_row]
    order = np.lexsort((first_row, when, user))
    ordered = user[order]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    size = np.bincount(user, minlength=len(log.users))[ordered]
    early = np.zeros(len(first_row), dtype=np.bool_)
    early[order] = rank < size // 2
    is_early = early[event] if len(event) else np.zeros(0, dtype=np.bool_)
    return Halves(log.take(is_early), log.take(~is_early))
