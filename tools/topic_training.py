"""Topics learned from labelled queries: a ridge regression that corrects what our tables say without any label.

What is learned is the difference between the topics that people chose and a share of the untrained scores; the inputs
are the vector of the query and the untrained scores themselves. Ridge, share and threshold are chosen by
cross-validation within the queries that are learned from, so that a test query has no part in these.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from kdd_cup import MOST

Floats = npt.NDArray[np.float64]

RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0)
SHARES = (0.0, 0.15, 0.3, 0.45, 0.6)
THRESHOLDS = tuple(round(0.1 + 0.02 * i, 2) for i in range(14))
FOLDS = 5


class Choice(NamedTuple):
    """What is chosen within the training queries."""

    ridge: float
    share: float
    threshold: float


class Data(NamedTuple):
    """Labelled queries, row by row."""

    inputs: Floats
    """float64[queries, inputs]"""
    untrained: Floats
    """float64[queries, topics]"""
    chosen: Floats
    """float64[queries, topics], 1 = a person chose it"""

    def take(self, rows: npt.NDArray[np.int64]) -> Data:
        """Return some of the queries."""
        return Data(*(column[rows] for column in self))


def folds_of(n: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the fold of each of n queries, of equal sizes: int64[n]."""
    return np.random.default_rng(seed).permutation(n) % FOLDS


def predict(train: Data, test: Data, ridge: float, share: float) -> Floats:
    """Return the score of each topic for each test query."""
    return _predict_all(train, test, (ridge,), (share,))[ridge, share]


def _predict_all(
    train: Data, test: Data, ridges: tuple[float, ...], shares: tuple[float, ...]
) -> dict[tuple[float, float], Floats]:
    """Return the scores for every ridge and share; the inputs are decomposed once."""
    middle = train.inputs.mean(axis=0)
    left, size, right = np.linalg.svd(train.inputs - middle, full_matrices=False)
    tested = (test.inputs - middle) @ right.T
    out = {}
    for share in shares:
        target = train.chosen - share * train.untrained
        mean = target.mean(axis=0)
        turned = left.T @ (target - mean)
        for ridge in ridges:
            out[ridge, share] = tested @ ((size / (size**2 + ridge))[:, None] * turned) + mean + share * test.untrained
    return out


def choose(train: Data, shares: tuple[float, ...] = SHARES) -> Choice:
    """Return what gives the best F1 by cross-validation within the training queries."""
    fold = np.arange(len(train.chosen)) % FOLDS
    parts = []
    for held in range(FOLDS):
        inside, outside = train.take(np.flatnonzero(fold != held)), train.take(np.flatnonzero(fold == held))
        parts.append((_predict_all(inside, outside, RIDGES, shares), outside.chosen))
    best, best_f1 = Choice(RIDGES[0], shares[0], THRESHOLDS[0]), -1.0
    for ridge, share in product(RIDGES, shares):
        for threshold in THRESHOLDS:
            f1 = _f1([(answers(scores[ridge, share], threshold), chosen) for scores, chosen in parts])
            if f1 > best_f1:
                best, best_f1 = Choice(ridge, share, threshold), f1
    return best


def answers(scores: Floats, threshold: float) -> list[list[int]]:
    """Return the topics of each query from the threshold on, the best first, five at most; one, where any speaks."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :MOST]
    count = np.maximum((np.take_along_axis(scores, best, 1) >= threshold).sum(axis=1), scores.max(axis=1) > 0)
    return [topics[:n] for topics, n in zip(best.tolist(), count.tolist(), strict=True)]


def _f1(parts: list[tuple[list[list[int]], Floats]]) -> float:
    right = sum(float(chosen[q, topics].sum()) for found, chosen in parts for q, topics in enumerate(found))
    answered = sum(len(topics) for found, _ in parts for topics in found)
    return 2 * right / (answered + sum(float(chosen.sum()) for _, chosen in parts))
