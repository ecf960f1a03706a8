"""Profiles: whether a published id still shows the interests of the person behind it.

The value is the mean over people of 1 minus the Jensen-Shannon divergence, base 2, between the shares of topics in the
person's queries and in what is published under the ids that stand for the person. Who is not published counts 0; people
without a query of a known topic are left out. Which id stands for whom, the truth says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.tasks.resampling import rate_around
from querycloak.tasks.task import TaskScore, impossible

if TYPE_CHECKING:
    from querycloak.tasks.reading import Reading
    from querycloak.tasks.resampling import Resampling

__all__ = ["score_profiles", "similarity_by_person"]

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]


def score_profiles(resampling: Resampling, log: Reading, release: Reading) -> list[TaskScore]:
    """Score the profiles of the published ids against those of the people they stand for."""
    if not release.has_users:
        return [impossible("profiles", "rows have no user")]
    if not release.has_truth:
        return [impossible("profiles", "no truth: nobody knows which id stands for whom")]
    similar = similarity_by_person(log, release, len(resampling.block))
    judged = np.flatnonzero(~np.isnan(similar))
    if not len(judged):
        return [impossible("profiles", "no query of the log has a known topic")]
    block = resampling.block[judged]
    value, low, high = rate_around(similar[judged], block, resampling.draws, cases=False)
    return [TaskScore(task="profiles", value=value, low=low, high=high, cases=len(judged), note="people of the log")]


def similarity_by_person(log: Reading, release: Reading, people: int) -> Float64s:
    """float64[people]: similarity of the two profiles, 0 where nothing is published, NaN for people without a topic."""
    wide = 1 + max(int(log.topic.max(initial=0)), int(release.topic.max(initial=0)))
    before, after = _profile(log, wide), _profile(release, wide)
    keys = np.union1d(before[0], after[0])  # int64[m], person and topic
    owner = keys // wide
    shares, has = [], []
    for key, weight in (before, after):
        share = np.zeros(len(keys))
        share[np.searchsorted(keys, key)] = weight
        whole = np.bincount(owner, weights=share, minlength=people)
        shares.append(share / np.maximum(whole, 1e-300)[owner])
        has.append(whole > 0)
    middle = (shares[0] + shares[1]) / 2
    divergence = np.zeros(people)
    for share in shares:
        ratio = np.divide(share, middle, out=np.ones(len(keys)), where=share > 0)
        divergence += np.bincount(owner, weights=share * np.log2(ratio), minlength=people) / 2
    similar = np.where(has[1], 1.0 - divergence.clip(0.0, 1.0), 0.0)
    return np.where(has[0], similar, np.nan)


def _profile(reading: Reading, wide: int) -> tuple[Int64s, Float64s]:
    """Return person * wide + topic: int64[m], ascending and distinct, and the weight of each: float64[m]."""
    person = reading.person[reading.topic_event]
    known = person != NO_CODE
    key = person[known].astype(np.int64) * wide + reading.topic[known]
    keys, index = np.unique(key, return_inverse=True)
    weight: Float64s = reading.weight[reading.topic_event[known]]
    return keys, np.bincount(index, weights=weight, minlength=len(keys)).astype(np.float64)
