"""Suggestions: whether a person's next query can be suggested from the release.

A fifth of the people are test people. Their pairs of neighbouring queries in one session, of different text, are the
test cases: given the first, suggest five texts; a hit if the second is among them. What is suggested is learned from
the release: the texts that most often follow the first one under one published id, then the texts that most ids asked.

**Test people must not teach their own answers.** Rows of test people are left out as far as the truth says who asked.
A method that mixes people (groups, streams without a truth) publishes them under other ids as well; so a text that
followed counts as a hit only where some other person asked both texts of the case. If nobody else did, the log without
the test people could not teach the pair, and a release that suggests it shows what the test person asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.logs.query_log import NO_CODE
from querycloak.tasks.reading import distinct, people_per_text
from querycloak.tasks.resampling import rate_around
from querycloak.tasks.task import TaskScore, impossible

if TYPE_CHECKING:
    from querycloak.randomness import Randomness
    from querycloak.tasks.reading import Reading
    from querycloak.tasks.resampling import Resampling

__all__ = ["SHARED", "SUGGESTED", "Cases", "draw_tested", "find_cases", "score_suggestions"]

SUGGESTED: Final = 5
"""How many texts are suggested."""
SHARED: Final = 5
"""A text that at least so many people asked is shared."""
TEST_SHARE: Final = 5
"""One person in so many is a test person."""
NEVER: Final = np.iinfo(np.int64).max
"""Rank of a text that nobody asked."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Float64s = npt.NDArray[np.float64]


def draw_tested(people: int, random: Randomness) -> Bools:
    """bool[people]: draw a fifth of them, and one at least."""
    chosen = np.zeros(people, dtype=np.bool_)
    chosen[random.permutation(people)[: -(-people // TEST_SHARE)]] = True
    return chosen


@dataclass(frozen=True, eq=False, repr=False)
class Cases:
    """Test cases: pairs of neighbouring queries of test people."""

    tested: Bools
    """bool[people]"""
    pair: Int64s
    """int64[n], index into `first` and `second`"""
    block: Int64s
    """int64[n], block of the person"""
    first: Int64s
    """int64[distinct pairs], code of the text that is given"""
    second: Int64s
    """int64[distinct pairs], code of the text that was asked next"""
    learnable: Bools
    """bool[distinct pairs]: a person who is not tested asked both"""
    shared: Bools
    """bool[distinct pairs]: at least SHARED people asked the second"""


def find_cases(log: Reading, tested: Bools, resampling: Resampling) -> Cases:
    """Find the test cases in the original log."""
    before, after = log.following
    mine = tested[log.person[before]]
    before, after = before[mine], after[mine]
    keys, pair = np.unique(log.text[before].astype(np.int64) * log.texts + log.text[after], return_inverse=True)
    first, second = keys // max(log.texts, 1), keys % max(log.texts, 1)
    return Cases(
        tested=tested,
        pair=pair.astype(np.int64),
        block=resampling.block[log.person[before]].astype(np.int64),
        first=first,
        second=second,
        learnable=_asked_both(log, ~tested[log.person], first, second),
        shared=people_per_text(log)[second] >= SHARED,
    )


def score_suggestions(cases: Cases, log: Reading, release: Reading) -> list[TaskScore]:
    """Score the release by all cases, and by those whose next text is shared."""
    names = ("suggestions", "suggestions, shared texts")
    if not release.has_users:
        return [impossible(name, "rows have no user: nothing follows a query") for name in names]
    hit = _hits(cases, release)
    note = (
        "rows of the test people are left out"
        if release.has_truth
        else "no truth: rows of the test people could not be left out"
    )
    return [
        _score(names[0], cases, hit, np.ones(len(hit), dtype=np.bool_), log.draws, note),
        _score(
            names[1], cases, hit, cases.shared, log.draws, f"next texts that at least {SHARED} people asked; {note}"
        ),
    ]


def _score(name: str, cases: Cases, hit: Bools, judged: Bools, draws: Float64s, note: str) -> TaskScore:
    judged_cases = judged[cases.pair]
    pair, block = cases.pair[judged_cases], cases.block[judged_cases]
    if not len(pair):
        return impossible(name, "the log has no such pair of neighbouring queries of a test person")
    value, low, high = rate_around(hit[pair].astype(np.float64), block, draws, cases=True)
    return TaskScore(task=name, value=value, low=low, high=high, cases=len(pair), note=note)


def _hits(cases: Cases, release: Reading) -> Bools:
    """bool[distinct pairs]: the second text is among the five that the release suggests after the first."""
    unknown = release.asker == NO_CODE
    teaches = unknown | ~cases.tested[np.where(unknown, 0, release.asker)]
    people = people_per_text(release, teaches)
    rank = _ranks(people)
    before, after = release.following
    both = teaches[before] & teaches[after]
    given = np.zeros(release.texts, dtype=np.bool_)
    given[cases.first] = True
    both &= given[release.text[before]]  # what follows any other text is never asked for
    followers, follower_rank = _followers(release.text[before[both]], release.text[after[both]], rank)

    # The texts most asked fill what is left, but for the
    # given one and those that follow already: the second is suggested if too few that are not excluded rank before it.
    mine = followers[cases.first]
    follows = (mine == cases.second[:, None]).any(axis=1)
    own = rank[cases.second]
    ahead = (follower_rank[cases.first] < own[:, None]).sum(axis=1) + (rank[cases.first] < own)
    free = SUGGESTED - (mine >= 0).sum(axis=1)
    popular = (own < NEVER) & ~follows & (own - ahead < free)
    hit: Bools = popular | (follows & cases.learnable)
    return hit


def _followers(first: Int32s, second: Int32s, rank: Int64s) -> tuple[Int64s, Int64s]:
    """int64[texts, SUGGESTED] twice: the texts that follow each text most often, -1 where there are fewer; their ranks.

    Where two follow equally often, the one that more people asked comes first, then the one with the smaller code.
    """
    texts = len(rank)
    out = np.full((texts, SUGGESTED), -1, dtype=np.int64)
    ranks = np.full((texts, SUGGESTED), NEVER, dtype=np.int64)
    keys, times = np.unique(first.astype(np.int64) * texts + second, return_counts=True)
    a, b = keys // max(texts, 1), keys % max(texts, 1)
    order = np.lexsort((rank[b], -times, a))
    a, b = a[order], b[order]
    nth = np.arange(len(a)) - np.searchsorted(a, a)
    best = nth < SUGGESTED
    out[a[best], nth[best]] = b[best]
    ranks[a[best], nth[best]] = rank[b[best]]
    return out, ranks


def _ranks(people: Float64s) -> Int64s:
    """int64[texts]: 0 for the text that most people asked; equal ones by code; NEVER where nobody did."""
    rank = np.empty(len(people), dtype=np.int64)
    rank[np.argsort(-people, kind="stable")] = np.arange(len(people))
    return np.where(people > 0, rank, NEVER)


def _asked_both(log: Reading, teaches: Bools, first: Int64s, second: Int64s) -> Bools:
    """bool[pairs]: one person of those whose events teach asked both texts."""
    wide = int(log.id.max(initial=0)) + 1
    asked = distinct(log.text[teaches].astype(np.int64) * wide + log.id[teaches])
    people = Ragged.of(asked // wide, asked % wide, log.texts)
    # Look through the people of the text that fewer asked: a pair of two popular texts is rare among the distinct ones.
    swap = people.lengths[first] > people.lengths[second]
    rare, other = np.where(swap, second, first), np.where(swap, first, second)
    candidates = people.take(rare)
    wanted = other[candidates.owner] * wide + candidates.values
    found = np.isin(wanted, asked)
    return np.bincount(candidates.owner[found], minlength=len(first)) > 0
