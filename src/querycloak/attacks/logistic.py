"""Logistic regression with a ridge, by Newton's method; features are centred and scaled.

>>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> model = Logistic.fitted(x, np.array([False, False, True, True]))
>>> bool(model.scores(x)[3] > model.scores(x)[0])
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Logistic"]

Float64s = npt.NDArray[np.float64]

RIDGE: Final = 1.0
STEPS: Final = 30
ENOUGH: Final = 1e-8
"""Largest change of a weight at which the steps end."""


@dataclass(frozen=True, eq=False)
class Logistic:
    """Weights of the features: the log odds are `intercept + x @ weight`."""

    weight: Float64s
    """float64[features], of the features as they are given"""
    intercept: float

    @classmethod
    def fitted(cls, x: Float64s, right: npt.NDArray[np.bool_]) -> Self:
        """Fit x: float64[n, features] to right: bool[n]. A feature that never varies has the weight 0."""
        mean, spread = x.mean(axis=0), x.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        design = np.column_stack([np.ones(len(x)), (x - mean) / scale])
        penalty = np.full(design.shape[1], RIDGE)
        penalty[0] = 1e-6  # the intercept is free, up to what keeps the matrix regular
        beta = np.zeros(design.shape[1])
        for _ in range(STEPS):
            chance = _sigmoid(design @ beta)
            gradient = design.T @ (right - chance) - penalty * beta
            curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
            step = np.linalg.solve(curvature, gradient)
            # A full step may overshoot where classes are far apart: no log odds move by more than 5.
            step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
            beta += step
            if np.abs(step).max() < ENOUGH:
                break
        weight = beta[1:] / scale
        return cls(weight, float(beta[0] - mean @ weight))

    def scores(self, x: Float64s) -> Float64s:
        """Return the log odds of each row of x: float64[..., features]."""
        return np.asarray(x @ self.weight + self.intercept, dtype=np.float64)


def _sigmoid(odds: Float64s) -> Float64s:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -500, 500))), dtype=np.float64)
