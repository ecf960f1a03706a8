"""Sessions: whether the release keeps together what was asked together.

Neighbours are two queries next to each other under one id, of different text, in one session. Each pair of neighbours
has weight 1, divided equally over the pairs of their topics. Let p(a, b) be the share of two different topics a and b
among all of it, and m(a) the share of topic a among all ends. Two topics that have nothing to do with each other are
neighbours with p(a, b) = 2 m(a) m(b), however popular they are; what was asked together is the excess

    e(a, b) = p(a, b) - 2 m(a) m(b).

The value is the cosine of the excesses in the log and in the release, over the 1,000 pairs with the largest excess in
the log and the 1,000 with the largest in the release; 0 where it is negative. It is 1 for the same log and near 0 where
queries come in an order that has nothing to do with the log's, even if all topics are as frequent as before: an overlap
of p alone would reward that. A release that keeps each person's queries in another order keeps a part: what one
person asks about is related.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import row_starts
from querycloak.tasks.reading import distinct
from querycloak.tasks.resampling import around, block_totals
from querycloak.tasks.task import TaskScore, impossible

if TYPE_CHECKING:
    from querycloak.tasks.reading import Reading

__all__ = ["TOP_PAIRS", "TopicPairs", "score_sessions", "topic_pairs"]

TOP_PAIRS: Final = 1000
"""How many pairs of topics of each side are compared."""
LEAST_EXCESS: Final = 1e-9
"""An excess below this is 0: sums of shares that cancel out leave a rest of either sign."""

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TopicPairs:
    """Pairs of topics of neighbouring queries."""

    block: Int64s
    """int64[m]: block of people"""
    low: Int64s
    high: Int64s
    """int64[m]: the topics, low <= high; equal ones are part of the whole"""
    weight: Float64s
    """float64[m]; the weights of one pair of neighbours add up to 1"""
    draws: Float64s
    wide: int
    """topics are below it"""
    top: Int64s
    """int64[at most TOP_PAIRS]: low * wide + high of the pairs of different topics with the largest excess above 0"""


def topic_pairs(reading: Reading, wide: int) -> TopicPairs:
    """Find the pairs of topics of a log or a release; topics are below `wide`."""
    units = distinct(reading.topic_event * wide + reading.topic)  # each topic once per event
    event, topic = units // wide, units % wide
    start = row_starts(np.bincount(event, minlength=len(reading.id)))
    count = np.diff(start)
    before, after = reading.following
    both = (count[before] > 0) & (count[after] > 0)
    before, after = before[both], after[both]
    times = count[before] * count[after]
    pair = np.repeat(np.arange(len(before)), times)  # one entry per combination of a topic before and a topic after
    nth = np.arange(len(pair)) - row_starts(times)[:-1][pair]
    one = topic[start[before[pair]] + nth // count[after[pair]]]
    two = topic[start[after[pair]] + nth % count[after[pair]]]
    weight = 1.0 / times[pair]
    low, high = np.minimum(one, two), np.maximum(one, two)
    return TopicPairs(
        block=reading.block[before[pair]],
        low=low,
        high=high,
        weight=weight,
        draws=reading.draws,
        wide=wide,
        top=_largest_excess(low, high, weight, wide),
    )


def score_sessions(log: TopicPairs, release: Reading) -> list[TaskScore]:
    """Score the topics that are asked together in the release against those of the log."""
    if not release.has_users:
        return [impossible("sessions", "rows have no user: nothing is asked together")]
    if not len(log.top):
        return [impossible("sessions", "no two topics are asked together in the log more often than by chance")]
    shown = topic_pairs(release, log.wide)
    pairs = np.union1d(log.top, shown.top)
    a, b = _excess(log, pairs), _excess(shown, pairs)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    cosine = (a * b).sum(axis=1) / np.maximum(scale, 1e-300)
    value, low, high = around(np.maximum(cosine, 0.0))
    note = "pairs of topics; neighbours within 30 minutes" if release.time is not None else "pairs of topics; no times"
    return [TaskScore(task="sessions", value=value, low=low, high=high, cases=len(log.top), note=note)]


def _largest_excess(low: Int64s, high: Int64s, weight: Float64s, wide: int) -> Int64s:
    """int64[at most TOP_PAIRS]: keys of the pairs of different topics with the largest excess; equal ones by key."""
    whole = max(float(weight.sum()), 1e-300)
    share = (np.bincount(low, weights=weight, minlength=wide) + np.bincount(high, weights=weight, minlength=wide)) / (
        2 * whole
    )
    differ = low != high
    keys, index = np.unique(low[differ] * wide + high[differ], return_inverse=True)
    excess = np.bincount(index, weights=weight[differ], minlength=len(keys)) / whole
    excess -= 2 * share[keys // wide] * share[keys % wide]
    order = np.argsort(-excess, kind="stable")[:TOP_PAIRS]
    return keys[order[excess[order] > LEAST_EXCESS]]


def _excess(pairs: TopicPairs, keys: Int64s) -> Float64s:
    """float64[1 + RESAMPLES, keys]: the excess of each pair in each resample; 0 where nothing was drawn."""
    ends = np.unique(np.concatenate([keys // pairs.wide, keys % pairs.wide]))
    own = pairs.low * pairs.wide + pairs.high
    slot = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    found = keys[slot] == own
    together = block_totals(pairs.draws, pairs.block[found], slot[found], pairs.weight[found], len(keys))
    alone = np.zeros((len(pairs.draws), len(ends)))
    for side in (pairs.low, pairs.high):
        slot = np.minimum(np.searchsorted(ends, side), len(ends) - 1)
        found = ends[slot] == side
        alone += block_totals(pairs.draws, pairs.block[found], slot[found], pairs.weight[found] / 2, len(ends))
    whole = pairs.draws @ np.bincount(pairs.block, weights=pairs.weight, minlength=pairs.draws.shape[1])
    whole = np.maximum(whole, 1e-300)[:, None]
    first, second = np.searchsorted(ends, keys // pairs.wide), np.searchsorted(ends, keys % pairs.wide)
    excess: Float64s = together / whole - 2 * (alone / whole)[:, first] * (alone / whole)[:, second]
    return excess
