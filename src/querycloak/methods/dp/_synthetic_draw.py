"""Draw invented users from a model: how many events, which sessions, when, about what, with which texts and clicks.

Nothing here reads the log. Shares are kept as exactly as whole numbers allow (systematic sampling): the k-th of n draws
takes the k-th of n equal parts of the sum of all chances, and who has which k is drawn at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import row_starts
from querycloak.methods.dp._synthetic_domain import GAP_EDGES, SESSION_EDGES, SESSION_SECONDS
from querycloak.methods.dp._synthetic_kernels import draw_topics, split_sessions
from querycloak.methods.dp._synthetic_model import FILL

if TYPE_CHECKING:
    from querycloak.methods.dp._synthetic_model import Model
    from querycloak.methods.dp._synthetic_texts import Clicks
    from querycloak.randomness import Randomness

__all__ = ["Calendar", "Invented", "deal_texts", "draw_clicks", "draw_users", "swap_repeated", "systematic"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

_SWAPS: Final = 6


class Calendar(NamedTuple):
    """The days of the invented log, which are a setting."""

    start: int
    """00:00 UTC of the first day, in seconds since 1970"""
    days: int
    """at least 7"""

    @property
    def end(self) -> int:
        """The first second after the last day."""
        return self.start + self.days * 86_400

    def of_hour(self, hour: Int64s, random: Randomness) -> Int64s:
        """int64[n]: the beginning of each hour of the week, in a random week of those that have it."""
        day = (hour // 24 - (self.start // 86_400 - 4) % 7) % 7  # after the first day; 1970-01-05 was a Monday
        weeks = (self.days - day + 6) // 7
        week = (random.uniform(len(hour)) * weeks).astype(np.int64)
        return self.start + (day + 7 * week) * 86_400 + hour % 24 * 3600


class Invented(NamedTuple):
    """Events of invented users, ordered by user and time."""

    user: Int64s
    """int64[n], from 0, ascending"""
    source: Int64s
    """int64[n]: the event whose text each has; itself where the text is new to the user"""
    topic: Int64s
    """int64[n]"""
    time: Int64s | None
    users: int


def draw_users(model: Model, calendar: Calendar, random: Randomness) -> Invented:
    """Draw users with their events, all but texts."""
    sizes = _sizes(*model.sizes, random.child("sizes"))
    user_start = row_starts(sizes)
    n = int(user_start[-1])
    cluster = systematic(model.clusters, len(sizes), random.child("clusters"))
    lengths = _within(model.lengths, SESSION_EDGES, int(SESSION_EDGES[-1]) + 1, n, random.child("lengths"))
    first = np.zeros(n, dtype=np.bool_)
    split_sessions(sizes, np.maximum(lengths, 1), first)
    time = None
    if model.hours is not None and model.gaps is not None:
        first, time = _times(model.hours, model.gaps, sizes, first, calendar, random)
    source, topic = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    dice = random.child("topics").uniform(3 * n).reshape(n, 3)
    draw_topics(user_start, cluster, first, model.chain, dice, source, topic)
    return Invented(np.repeat(np.arange(len(sizes)), sizes), source, topic, time, len(sizes))


def systematic(share: Float64s, n: int, random: Randomness) -> Int64s:
    """int64[n]: draws with these shares, as exactly as n allows, in random order."""
    at = (random.permutation(n) + random.uniform(1)) / max(n, 1)
    drawn: Int64s = np.searchsorted(np.cumsum(share), at * share.sum(), side="right").astype(np.int64)
    drawn[drawn == len(share)] -= 1  # a sum that is rounded down
    return drawn


def _sizes(users: Int64s, fewest: Int64s, most: Int64s, random: Randomness) -> Int64s:
    """int64[users]: how many events each has, uniform in the group; groups of several bins by their logarithm."""
    low, high = (np.repeat(edge, users).astype(np.float64) for edge in (fewest, most))
    part = random.uniform(len(low))
    straight = low + part * (high + 1 - low)
    curved = low * ((high + 1) / low) ** part
    sizes = np.where(high + 1 > 1.6 * low, curved, straight).astype(np.int64)
    return np.minimum(sizes, high.astype(np.int64))[random.permutation(len(low))]


def _within(share: Float64s, edges: Int64s, end: int, n: int, random: Randomness) -> Int64s:
    """int64[n]: values from bins with these shares, uniform within a bin; the last bin ends before `end`."""
    index = systematic(share, n, random)
    high = np.append(edges[1:], end)
    return edges[index] + (random.child("within").uniform(n) * (high - edges)[index]).astype(np.int64)


def _times(
    hours: Float64s, gaps: Float64s, sizes: Int64s, first: npt.NDArray[np.bool_], calendar: Calendar, random: Randomness
) -> tuple[npt.NDArray[np.bool_], Int64s]:
    """Return bool[n], where sessions begin once each user's are in the order of time, and int64[n], times, ascending.

    A session has one hour of the week, and stays within it where it is short enough. Hours are shared out by events.
    """
    n = len(first)
    begin = np.flatnonzero(first)
    length = np.diff(begin, append=n)
    owner = np.repeat(np.arange(len(sizes)), sizes)[begin]
    order = random.child("hours").permutation(len(begin))
    middle = np.cumsum(length[order]) - length[order] / 2
    hour = np.empty(len(begin), dtype=np.int64)
    hour[order] = np.minimum(np.searchsorted(np.cumsum(hours), middle / max(n, 1), side="right"), len(hours) - 1)
    base = calendar.of_hour(hour, random.child("weeks"))
    by_time = np.lexsort((base, owner))
    length, base, owner = length[by_time], base[by_time], owner[by_time]
    begin = row_starts(length)[:-1]
    first = np.zeros(n, dtype=np.bool_)
    first[begin] = True
    gap = _within(gaps, GAP_EDGES, SESSION_SECONDS, n, random.child("gaps"))
    gap[first] = 0
    elapsed = np.cumsum(gap)
    elapsed -= np.repeat(elapsed[begin], length)
    last = elapsed[begin + length - 1] if len(begin) else elapsed
    offset = (random.child("offsets").uniform(len(begin)) * np.maximum(3600 - last, 1)).astype(np.int64)
    # a long session that begins on the last day ends with that day
    return first, np.minimum(np.repeat(base + offset, length) + elapsed, calendar.end - 1)


def deal_texts(
    topic: Int64s, text_topic: Int64s, wanted: Float64s, filler: Float64s, topics: int, random: Randomness
) -> Int64s:
    """int64[n]: a text for each event; texts are numbered 0, 1, …, and the label of topic t is number texts + t.

    topic: int64[n]; text_topic: int64[texts]. wanted: float64[texts], events that a text is to have: chosen queries,
    the people who asked them. Events that are left go to phrases, by their `filler`: float64[texts], up to FILL times
    as many, and what is left then to the label of the topic. Where too many are wanted, all of the topic have less.
    """
    slots = np.bincount(topic, minlength=topics).astype(np.float64)
    asked = np.bincount(text_topic, weights=wanted, minlength=topics)
    less = np.minimum(1.0, slots / np.maximum(asked, 1e-9))
    left = slots - asked * less
    fill = np.bincount(text_topic, weights=filler, minlength=topics)
    more = np.minimum(FILL, left / np.maximum(fill, 1e-9))
    label = left - fill * more
    mass = np.concatenate([wanted * less[text_topic] + filler * more[text_topic], np.maximum(label, 0.0)])
    of_item = np.concatenate([text_topic, np.arange(topics)])
    by_topic = np.argsort(of_item, kind="stable")
    cumulated = np.cumsum(mass[by_topic])
    end = cumulated[np.searchsorted(of_item[by_topic], np.arange(topics), side="right") - 1]
    begin = np.append(0.0, end[:-1])
    order = np.lexsort((random.permutation(len(topic)), topic))
    rank = np.arange(len(topic)) - row_starts(slots.astype(np.int64))[topic[order]]
    of = topic[order]
    goal = begin[of] + (rank + random.uniform(topics)[of]) / slots[of] * (end - begin)[of]
    item = np.searchsorted(cumulated, goal, side="right")
    first = np.searchsorted(of_item[by_topic], of, side="left")
    last = np.searchsorted(of_item[by_topic], of, side="right") - 1
    out = np.empty(len(topic), dtype=np.int64)
    out[order] = by_topic[np.clip(item, first, last)]
    return out


def swap_repeated(user: Int64s, topic: Int64s, text: Int64s, queries: int, random: Randomness) -> Int64s:
    """int64[n]: the texts, where a user has a query twice one of them swapped with a random event of the topic.

    Queries are dealt by people, and each of their events is to be another person's; texts below `queries` are queries.
    A swap may fail to help, so there are a few rounds, and a user with many events keeps some.
    """
    text = text.copy()
    by_topic = np.argsort(topic, kind="stable")
    start = row_starts(np.bincount(topic))
    for _ in range(_SWAPS):
        order = np.lexsort((text, user))
        twice = order[1:][(text[order][1:] == text[order][:-1]) & (user[order][1:] == user[order][:-1])]
        twice = twice[text[twice] < queries]
        size = np.diff(start)[topic[twice]]
        other = by_topic[start[topic[twice]] + (random.uniform(len(twice)) * size).astype(np.int64)]
        once = np.unique(other, return_index=True)[1]  # an event takes part in one swap at a time
        twice, other = twice[once], other[once]
        apart = ~np.isin(other, twice)
        twice, other = twice[apart], other[apart]
        text[twice], text[other] = text[other], text[twice]
    return text


def draw_clicks(text: Int64s, people: Float64s, clicks: Clicks, random: Randomness) -> Int64s:
    """int64[n]: which pair of `clicks` each event clicks, -1 = none; text: int64[n], people: float64[texts]."""
    chance = np.minimum(clicks.people / np.maximum(people[clicks.text], 1.0), 1.0)
    total = np.bincount(clicks.text, weights=chance, minlength=len(people))
    cumulated = np.cumsum(chance / np.maximum(total, 1.0)[clicks.text])
    start = np.searchsorted(clicks.text, text, side="left")
    end = np.searchsorted(clicks.text, text, side="right")
    goal = np.append(0.0, cumulated)[start] + random.uniform(len(text))
    found = np.maximum(np.searchsorted(cumulated, goal, side="right"), start)
    return np.where(found < end, found, -1)
