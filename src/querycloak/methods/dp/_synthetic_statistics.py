"""The noised statistics of `synthetic-dp`: all that its invented log is made of, and what each takes of the budget.

| statistic | what one user adds | l2-sensitivity | proof |
|---|---|---|---|
| chosen queries, phrases, clicks | weights of items | 1 | `_set_union.py` |
| people of each of them | 1 for each, less where there are many | √counted | `_contribution.py` |
| users by number of events | 1 in one bin | 1 | `_synthetic_sums.py`, most = 1 |
| users by cluster | 1 in one bin | 1 | the same |
| hours, topics, sessions, pauses, kinds, moves | counts, clipped to length `most` | most | the same |
| fields by cluster | counts in the block of one cluster, clipped | most | the same |
| centres of clusters, each round | a profile of length 1 in the block of one cluster | 1 | `_synthetic_clusters.py` |

All of a user's events are counted, and clipped: to leave some out would lose more. All shares are taken before anything
is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.dp._noise import gaussian_scale
from querycloak.methods.dp._set_union_table import Plan, take_shares
from querycloak.methods.dp._synthetic_clusters import Profiles, assign, find_centres, first_centres
from querycloak.methods.dp._synthetic_domain import (
    GAP_EDGES,
    HOURS,
    SESSION_EDGES,
    SIZE_EDGES,
    bin_of,
)
from querycloak.methods.dp._synthetic_events import FIRST_NEW, KINDS, NEW
from querycloak.methods.dp._synthetic_sums import noisy_sums

if TYPE_CHECKING:
    from querycloak.methods.dp._set_union_table import Shares
    from querycloak.methods.dp._synthetic_domain import Topics
    from querycloak.methods.dp._synthetic_events import UserEvents
    from querycloak.methods.dp._synthetic_sums import NoisySums
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Budget, Share

__all__ = ["INVENTED_IDS", "PARTS", "Statistics", "Taken", "find_statistics", "plans", "take_all"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


class Part(NamedTuple):
    """A histogram: its share of rho, and the length to which a user's counts are clipped."""

    share: float
    most: int


PARTS: Final = {
    "events per user": Part(0.02, 1),
    "users by cluster": Part(0.005, 1),
    "hours of the week": Part(0.05, 10),
    "topics": Part(0.10, 4),
    "fields by cluster": Part(0.03, 10),
    "lengths of sessions": Part(0.01, 10),
    "pauses in sessions": Part(0.005, 20),
    "kinds of events": Part(0.01, 20),
    "moves between topics": Part(0.03, 4),
}
CENTRES: Final = 0.04
"""Share of rho of all rounds of clusters."""
ROUNDS: Final = 3
COUNT_SHARE: Final = 0.12
"""Of what queries, phrases or clicks have, the part for counts."""
PHRASES: Final = 0.2
CLICKS: Final = 0.04
COUNTED: Final = 15
"""A user with more chosen texts than this counts for each in part."""
INVENTED_IDS: Final = "an invented id that is one of the log"
"""The gate refuses to publish an id of the log; that it does tells that the id was there."""
_ID_DELTA: Final = 2.0**-40
"""More than the chance that one of 2^20 random ids of 64 bits is a given one, 2^-44."""
_SLACK: Final = 1 - 2.0**-40


class Taken(NamedTuple):
    """What all statistics take of the budget."""

    texts: dict[str, Shares]
    """by kind: query, phrase, click"""
    sums: dict[str, Share]
    """by the names of PARTS; those of times are missing where the log has none"""
    rounds: list[Share]


def plans(*, rounds: int, per_user: int, clicks: bool) -> dict[str, Plan]:
    """Return what each kind of texts has of the budget: queries have what the others leave."""
    rest = 1.0 - CENTRES - sum(part.share for part in PARTS.values()) - PHRASES - (CLICKS if clicks else 0.0)
    shares = {"query": rest * _SLACK, "phrase": PHRASES} | ({"click": CLICKS} if clicks else {})
    return {
        kind: Plan(share, COUNT_SHARE, rounds, per_user if kind != "phrase" else 2 * per_user, COUNTED)
        for kind, share in shares.items()
    }


def take_all(texts: dict[str, Plan], budget: Budget, *, times: bool) -> Taken:
    """Take all shares of the budget, before anything is drawn."""
    budget.take_delta(INVENTED_IDS, delta=_ID_DELTA).use()
    kinds = {kind: take_shares(kind, plan, budget) for kind, plan in texts.items()}
    of_times = {"hours of the week", "pauses in sessions"}
    sums = {
        name: budget.take_rho(name, fraction=part.share)
        for name, part in PARTS.items()
        if times or name not in of_times
    }
    for name, share in sums.items():  # noise that would overflow is refused before a ledger is charged
        gaussian_scale(float(PARTS[name].most), share.rho)
    rounds = [budget.take_rho(f"centres of clusters, round {i + 1}", fraction=CENTRES / ROUNDS) for i in range(ROUNDS)]
    return Taken(kinds, sums, rounds)


class Statistics(NamedTuple):
    """What is known of the log, with noise."""

    sizes: NoisySums
    """users by the bins of SIZE_EDGES"""
    hours: NoisySums | None
    """events by hour of the week; None = the log has no times"""
    topics: NoisySums
    """parts of queries by topic, and events without one"""
    clusters: NoisySums
    """users by cluster"""
    fields: NoisySums
    """events by cluster x field"""
    lengths: NoisySums
    """sessions by the bins of SESSION_EDGES"""
    gaps: NoisySums | None
    """pauses by the bins of GAP_EDGES"""
    kinds: NoisySums
    """events by kind"""
    moves: NoisySums
    """new events after another in a session: field x field where the topic changes, then field where it stays"""
    cluster: Int64s
    """int64[users of the log]: for figures; nothing is drawn from it"""


def find_statistics(
    events: UserEvents, topics: Topics, users: int, clusters: int, taken: Taken, random: Randomness
) -> Statistics:
    """Add up what users did, with noise; users: codes of users are below this."""

    def sums(name: str, user: Int64s, index: Int64s, bins: int) -> NoisySums:
        return noisy_sums(user, index, bins, most=PARTS[name].most, share=taken.sums[name], random=random.child(name))

    of_topics = sums("topics", events.unit_user, events.unit_topic, topics.total)
    mass = np.bincount(topics.field, weights=of_topics.cut(), minlength=topics.fields).astype(np.float64)
    profiles = Profiles.of(events.user, topics.field[events.topic], topics.fields, users)
    centres = find_centres(profiles, first_centres(mass, clusters), taken.rounds, random.child("centres"))
    cluster = assign(profiles, centres)
    people = np.unique(events.user)
    hours = gaps = None
    if events.time is not None:
        at, hour = _hours(events.user, events.time)
        hours = sums("hours of the week", at, hour, HOURS)
        later = np.flatnonzero(~events.first)
        pause = bin_of(events.time[later] - events.time[later - 1], GAP_EDGES)
        gaps = sums("pauses in sessions", events.user[later], pause, len(GAP_EDGES))
    begin = np.flatnonzero(events.first)
    length = bin_of(np.diff(begin, append=len(events.user)), SESSION_EDGES)
    size = bin_of(np.bincount(events.user, minlength=users)[people], SIZE_EDGES)
    field_cell = cluster[events.unit_user] * topics.fields + topics.field[events.unit_topic]
    return Statistics(
        sizes=sums("events per user", people, size, len(SIZE_EDGES)),
        hours=hours,
        topics=of_topics,
        clusters=sums("users by cluster", people, cluster[people], clusters),
        fields=sums("fields by cluster", events.unit_user, field_cell, clusters * topics.fields),
        lengths=sums("lengths of sessions", events.user[begin], length, len(SESSION_EDGES)),
        gaps=gaps,
        kinds=sums("kinds of events", events.user, events.kind, KINDS),
        moves=sums("moves between topics", *_moves(events, topics), topics.fields * (topics.fields + 1)),
        cluster=cluster,
    )


def _hours(user: Int64s, time: Int64s) -> tuple[Int64s, Int64s]:
    """Return user and hour of the week of each event that has a time; 1970-01-05 was a Monday."""
    known = time != MISSING_TIME
    return user[known], (time[known] - 4 * 86_400) // 3600 % HOURS


def _moves(events: UserEvents, topics: Topics) -> tuple[Int64s, Int64s]:
    """Return user and bin of each event with a new text that follows another in its session."""
    new = (events.kind >= FIRST_NEW) & (events.kind < NEW + 2) & ~events.first
    after = np.flatnonzero(new)
    old, now = events.topic[after - 1], events.topic[after]
    n, of = topics.fields, topics.field
    cell = np.where(old == now, n * n + of[now], of[old] * n + of[now])
    return events.user[after], cell
