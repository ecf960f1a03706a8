"""Topics: whether the release shows what people ask about, over all.

The value is 1 minus the Jensen-Shannon divergence, base 2, of the shares of the topics in the log and in the release.
Topics are those of `knowledge.concept_topics`, counted per unit of a query; concepts without one are one topic more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.tasks.resampling import around, block_totals
from querycloak.tasks.task import TaskScore, impossible

if TYPE_CHECKING:
    from querycloak.knowledge.concept_topics import ConceptTopics
    from querycloak.tasks.reading import Reading

__all__ = ["score_topics", "similarity"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

NAMED: Final = 3
"""How many of the log's topics are named next to the score."""


def score_topics(log: Reading, release: Reading) -> list[TaskScore]:
    """Score the shares of topics in the release against those in the log."""
    asked = np.unique(log.topic)
    if not len(asked):
        return [impossible("topics", "no query of the log has a known topic")]
    if not len(release.topic):
        return [impossible("topics", "no row of the release has a known topic", len(asked))]
    union = np.union1d(asked, release.topic)
    before = _totals(log, union)
    value, low, high = around(similarity(before, _totals(release, union)))
    note = _most_asked(log.topics, union, before[0])
    return [TaskScore(task="topics", value=value, low=low, high=high, cases=len(asked), note=note)]


def similarity(before: Float64s, after: Float64s) -> Float64s:
    """float64[rows]: 1 minus the Jensen-Shannon divergence of each row of two tables of counts; 0 where one is empty.

    >>> similarity(np.array([[1.0, 0], [2, 2]]), np.array([[0, 3.0], [1, 1]])).tolist()
    [0.0, 1.0]
    """
    totals = [counts.sum(axis=1, keepdims=True) for counts in (before, after)]
    p, q = (counts / np.maximum(total, 1e-300) for counts, total in zip((before, after), totals, strict=True))
    middle = (p + q) / 2
    divergence = (_entropies(middle) - (_entropies(p) + _entropies(q)) / 2).clip(0.0, 1.0)
    both = (totals[0][:, 0] > 0) & (totals[1][:, 0] > 0)
    return np.where(both, 1.0 - divergence, 0.0)


def _most_asked(topics: ConceptTopics, union: npt.NDArray[np.int32], counts: Float64s) -> str:
    """Name the largest topics of the log, and say how much of it is in none."""
    totals = np.bincount(topics.shown[union], weights=counts, minlength=len(topics.names))
    share = dict(enumerate((totals / max(totals.sum(), 1e-300)).tolist()))
    in_none = share.pop(topics.none, None) or None
    largest = sorted((topic for topic in share if share[topic] > 0), key=lambda topic: -share[topic])[:NAMED]
    said = [f"{topics.names[topic]} {share[topic]:.0%}" for topic in largest]
    most = [f"most asked in the log: {', '.join(said)}"] if said else []
    return "; ".join(most if in_none is None else [*most, f"in no topic: {in_none:.0%}"])


def _entropies(shares: Float64s) -> Float64s:
    """float64[rows]: the entropy of each row, base 2."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    entropies: Float64s = -(shares * logs).sum(axis=1)
    return entropies


def _totals(reading: Reading, union: npt.NDArray[np.int32]) -> Float64s:
    """float64[1 + RESAMPLES, topics]: query units of each topic."""
    topic = np.searchsorted(union, reading.topic)
    event = reading.topic_event
    return block_totals(reading.draws, reading.block[event], topic, reading.weight[event], len(union))
