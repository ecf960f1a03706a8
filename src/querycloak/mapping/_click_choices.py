"""A decision between the top categories, learned from examples, with a threshold to abstain by."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping._ridge import gram, scores, weights

__all__ = ["Choice", "Examples", "decide", "learn"]

PENALTY: Final = 0.01
"""Of the ridge; from 0.0001 to 0.1 the answers hardly change."""
LEAST_VOTES: Final = 20
"""Votes of a category from which on it can be an answer."""
LEAST_HELD_OUT: Final = 50
"""Held-out votes from which on a precision is believed."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Examples(NamedTuple):
    """Texts with a category that people clicked: several rows for a text that has several."""

    x: Floats
    """whole numbers[n, d + 1]: `_ridge.directions`"""
    votes: Int64s
    """int64[n], how many people"""
    category: Int32s
    """int32[n], a top category"""
    held: Bools
    """bool[n], the texts on which the threshold is chosen"""


class Choice(NamedTuple):
    """Which category."""

    category: Int32s
    """int32[classes], those that can be the answer"""
    weights: Floats
    """whole numbers[d + 1, classes]"""
    least: float
    """score from which on the best class is the answer"""


class Pair(NamedTuple):
    """The same decision, learned without the held-out texts and with all of them; one threshold, that of the first."""

    of_part: Choice
    of_all: Choice


def learn(told: Examples, precision: float) -> Pair | None:
    """Learn from the texts that are not held out, choose the threshold by the others, and learn from all.

    None where there are no two categories to decide between, or no threshold is good enough.
    """
    total = np.bincount(told.category, weights=told.votes)
    category = np.flatnonzero(total >= LEAST_VOTES).astype(np.int32)
    usable = total[told.category] >= LEAST_VOTES
    if len(category) < 2 or not (usable & ~told.held).any():
        return None
    of_part = _weights(told, usable & ~told.held, category)
    answer, best = _best(told.x[told.held], category, of_part)
    least = _threshold(best, answer == told.category[told.held], told.votes[told.held], precision)
    if least is None:
        return None
    return Pair(Choice(category, of_part, least), Choice(category, _weights(told, usable, category), least))


def decide(x: Floats, choice: Choice) -> Int32s:
    """Return the category of each row: int32[len(x)], -1 = abstains."""
    answer, best = _best(x, choice.category, choice.weights)
    return np.where(best >= choice.least, answer, NO_CODE).astype(np.int32)


def _best(x: Floats, category: Int32s, w: Floats) -> tuple[Int32s, Floats]:
    """Return the category with the best score, the first of equal ones, and the score."""
    found = scores(x, w)
    return category[found.argmax(axis=1)], found.max(axis=1)


def _weights(told: Examples, chosen: Bools, category: Int32s) -> Floats:
    at = np.flatnonzero(chosen)
    target = np.searchsorted(category, told.category[at])
    return weights(*gram(told.x[at], told.votes[at], target, len(category)), PENALTY)


def _threshold(best: Floats, right: Bools, votes: Int64s, precision: float) -> float | None:
    """Return the smallest score at which the answers from it on are right often enough; None = there is none."""
    order = np.argsort(-best, kind="stable")
    score = best[order]
    given, good = np.cumsum(votes[order]), np.cumsum((votes * right)[order])
    last = np.append(score[1:] != score[:-1], values=True)[: len(score)]  # equal scores are answered together
    fits = np.flatnonzero(last & (given >= LEAST_HELD_OUT) & (good >= precision * given))
    return float(score[fits[-1]]) if len(fits) else None
