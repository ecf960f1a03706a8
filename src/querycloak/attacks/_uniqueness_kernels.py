"""People who are singled out by a pair of texts: both are in one published log, and nobody else asked both.

The memory, made by the caller and read only; texts are numbered from 0, those that may make a pair alone:

    logs        Ragged, row c = the distinct texts of published log c, those that fewest people asked first
    people_of   Ragged, row t = the people who asked text t, ascending
    texts_of    Ragged, row u = the texts that person u asked

and of the kernels, none of which is ever cleared, since a number that is not the current one means "no":

    log_of      int64[texts], the log c whose texts were entered last: log_of[t] == c means that t is in log c
    turn        int64[texts], the turn, counted by `stamp`, in which t was last found with another person
    others      Others, for a log that nobody asked all of, see `_everybody`

Most logs were asked by one person as a whole: that person is in every pair, so that nobody else can be singled out, and
the rarest text settles most of them. If two people asked all of a log, it has no such pair at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["with_unique_pair"]

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Others(NamedTuple):
    """What is remembered of the people who asked some texts of one log."""

    log: Int64s
    """int64[people], the log in which the person was met last"""
    asked: Int64s
    """int64[people], texts of that log that the person asked"""
    first: Int64s
    """int64[people], where they begin in `held`; -1 = nothing is held yet"""
    end: Int64s
    """int64[people], where they end, as far as they are held"""
    held: Int64s
    """the texts of those people, as indexes into the log"""
    pairs: Int64s
    """int64[texts of a log], how many people asked one text and this one"""
    last: Int64s
    """int64[texts of a log], the last of them"""


@kernel
def with_unique_pair(logs: Ragged, people_of: Ragged, texts_of: Ragged) -> Bools:
    """Return bool[people]: the person asked two texts of one published log, and no other person asked both."""
    n_texts, n_people = len(people_of.start) - 1, len(texts_of.start) - 1
    found = np.zeros(n_people, dtype=np.bool_)
    log_of, turn = np.full(n_texts, -1, dtype=np.int64), np.full(n_texts, -1, dtype=np.int64)
    longest, most = 0, 0
    for c in range(len(logs.start) - 1):
        askers = 0
        for i in range(logs.start[c], logs.start[c + 1]):
            askers += people_of.start[logs.values[i] + 1] - people_of.start[logs.values[i]]
        longest, most = max(longest, logs.start[c + 1] - logs.start[c]), max(most, askers)
    others = Others(
        np.full(n_people, -1, dtype=np.int64),
        np.zeros(n_people, dtype=np.int64),
        np.zeros(n_people, dtype=np.int64),
        np.zeros(n_people, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(longest, dtype=np.int64),
        np.zeros(longest, dtype=np.int64),
    )
    stamp = 0
    for c in range(len(logs.start) - 1):
        texts = logs.values[logs.start[c] : logs.start[c + 1]]
        if len(texts) < 2:
            continue
        for t in texts:
            log_of[t] = c
        whole, who = _who_asked_all(c, texts, log_of, people_of, texts_of)
        if whole == 0:
            _everybody(c, texts, people_of, others, found)
        elif whole == 1 and not found[who]:
            found[who] = _one_person(c, who, texts, log_of, turn, stamp, people_of, texts_of)
            stamp += len(texts)
    return found


@kernel
def _who_asked_all(c: int, texts: Int64s, log_of: Int64s, people_of: Ragged, texts_of: Ragged) -> tuple[int, int]:
    """Return how many people asked all texts of log c, 2 for more than one, and one of them."""
    whole, who = 0, -1
    for p in range(people_of.start[texts[0]], people_of.start[texts[0] + 1]):
        u = people_of.values[p]
        if texts_of.start[u + 1] - texts_of.start[u] < len(texts):
            continue
        asked = 0
        for i in range(texts_of.start[u], texts_of.start[u + 1]):
            if log_of[texts_of.values[i]] == c:
                asked += 1
        if asked == len(texts):
            whole, who = whole + 1, u
            if whole == 2:
                break
    return whole, who


@kernel
def _one_person(
    c: int, u: int, texts: Int64s, log_of: Int64s, turn: Int64s, stamp: int, people_of: Ragged, texts_of: Ragged
) -> bool:
    """Tell whether person u, who asked all texts of log c, has a pair that nobody else has.

    For each text, the texts of its other askers are marked, until all are; one that stays unmarked makes such a pair.
    """
    for t in texts:
        turn[t] = stamp
        marked = 1
        for p in range(people_of.start[t], people_of.start[t + 1]):
            v = people_of.values[p]
            if v == u:
                continue
            for i in range(texts_of.start[v], texts_of.start[v + 1]):
                r = texts_of.values[i]
                if log_of[r] == c and turn[r] != stamp:
                    turn[r] = stamp
                    marked += 1
            if marked == len(texts):
                break
        stamp += 1
        if marked < len(texts):
            return True
    return False


@kernel
def _everybody(c: int, texts: Int64s, people_of: Ragged, others: Others, found: Bools) -> None:
    """Find all people with a unique pair in log c: for each text, count with how many people each other one is asked.

    Only people who asked two of the texts can have a pair, and only they can share one: `held` has the texts of these.
    """
    for t in texts:
        for p in range(people_of.start[t], people_of.start[t + 1]):
            u = people_of.values[p]
            if others.log[u] != c:
                others.log[u], others.asked[u], others.first[u] = c, 0, -1
            others.asked[u] += 1
    filled = 0
    for i in range(len(texts)):
        for p in range(people_of.start[texts[i]], people_of.start[texts[i] + 1]):
            u = people_of.values[p]
            if others.asked[u] < 2:
                continue
            if others.first[u] < 0:
                others.first[u] = others.end[u] = filled
                filled += others.asked[u]
            others.held[others.end[u]] = i
            others.end[u] += 1
    for i in range(len(texts)):
        others.pairs[: len(texts)] = 0
        for p in range(people_of.start[texts[i]], people_of.start[texts[i] + 1]):
            u = people_of.values[p]
            if others.asked[u] < 2:
                continue
            for h in range(others.first[u], others.end[u]):
                others.pairs[others.held[h]] += 1
                others.last[others.held[h]] = u
        for j in range(i + 1, len(texts)):
            if others.pairs[j] == 1:
                found[others.last[j]] = True
