"""Kernels of `synthetic-dp`: invented users' sessions, which of their events repeat another, and chains of topics.

The memory: events of a user are next to each other, in the order of time, and those of a session within them.

    user_start   [0,       4,    6]     user u has the events user_start[u] … user_start[u + 1] - 1
    first        [1, 0, 1, 0, 1, 0]     begins a session
    source       [0, 0, 2, 0, 4, 5]     the event whose text it has: itself where the text is new to the user
    topic        [7, 7, 3, 7, 9, 9]     of every event, that of its source

`source[e]` is never above e and never of another user. `fresh` int64[events] is used as a stack for each user: the
events of the user, so far, that have a text of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["Chain", "draw_topics", "split_sessions"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


class Chain(NamedTuple):
    """How topics follow each other; every array of chances adds up along its last axis, and ends at 1."""

    topic: Float64s
    """float64[clusters, topics]: the sum of the chances of this topic and those before it"""
    move: Float64s
    """float64[clusters, fields, fields]: the same of the next field, where the topic changes"""
    stay: Float64s
    """float64[fields]: chance that the topic stays"""
    field: Int64s
    """int64[topics]: the field of each topic; topics of a field are next to each other"""
    begin: Int64s
    """int64[fields + 1]: where the topics of each field begin"""
    repeat: Float64s
    """float64[3]: chance of a text asked before, at the start of a session; of that just before, later; of one asked
    before or just before, later"""


@kernel
def split_sessions(sizes: Int64s, lengths: Int64s, out: npt.NDArray[np.bool_]) -> int:
    """Mark where sessions begin: bool[events]; return how many lengths were used.

    sizes: int64[users], the events of each; lengths: int64[events], at least 1 each, one for each session that there
    may be. The last session of a user is cut where the user's events end.
    """
    at, used = 0, 0
    for u in range(len(sizes)):
        end = at + sizes[u]
        while at < end:
            out[at] = True
            at = min(at + lengths[used], end)
            used += 1
    return used


@kernel
def draw_topics(
    user_start: Int64s,
    cluster: Int64s,
    first: npt.NDArray[np.bool_],
    chain: Chain,
    dice: Float64s,
    source: Int64s,
    topic: Int64s,
) -> None:
    """Draw what each event repeats, and the topics of the others; dice: float64[events, 3], in [0, 1)."""
    fresh = np.empty(len(first), dtype=np.int64)
    for u in range(len(cluster)):
        c, n = cluster[u], 0
        for e in range(user_start[u], user_start[u + 1]):
            kind, a, b = dice[e, 0], dice[e, 1], dice[e, 2]
            begins = first[e]
            if n and not begins and kind < chain.repeat[1]:
                source[e] = source[e - 1]
            elif n and kind < (chain.repeat[0] if begins else chain.repeat[2]):
                source[e] = fresh[int(a * n)]
            else:
                source[e] = e
                fresh[n] = e
                n += 1
                before = -1 if begins else topic[e - 1]
                if before >= 0 and b < chain.stay[chain.field[before]]:
                    topic[e] = before
                elif before >= 0:
                    old = chain.field[before]
                    new = np.searchsorted(chain.move[c, old], a, side="right")
                    new = min(new, len(chain.begin) - 2)
                    low, high = chain.begin[new], chain.begin[new + 1]
                    floor = chain.topic[c, low - 1] if low else 0.0
                    rest = (b - chain.stay[old]) / (1.0 - chain.stay[old])
                    goal = floor + rest * (chain.topic[c, high - 1] - floor)
                    found = low + np.searchsorted(chain.topic[c, low:high], goal, side="right")
                    topic[e] = min(found, high - 1)
                else:
                    found = np.searchsorted(chain.topic[c], a, side="right")
                    topic[e] = min(found, len(chain.field) - 1)
            topic[e] = topic[source[e]]
