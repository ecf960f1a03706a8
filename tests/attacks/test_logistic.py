from __future__ import annotations

import numpy as np

from querycloak.attacks.logistic import RIDGE, Logistic


def penalized(x, right, weight, intercept):
    """The log likelihood less the ridge, of standardized weights."""
    odds = x @ weight + intercept
    spread = x.std(axis=0)
    return (
        np.where(right, -np.logaddexp(0, -odds), -np.logaddexp(0, odds)).sum()
        - RIDGE / 2 * ((weight * spread) ** 2).sum()
    )


def test_no_other_weights_are_likelier():
    draw = np.random.default_rng(1)
    x = draw.normal(size=(300, 3)) * [1.0, 5.0, 0.1] + [0.0, 9.0, 1.0]
    right = draw.random(300) < 1 / (1 + np.exp(-(x[:, 0] + 0.3 * (x[:, 1] - 9))))
    model = Logistic.fitted(x, right)
    best = penalized(x, right, model.weight, model.intercept)
    for _ in range(50):
        other = model.weight + draw.normal(size=3) * 0.05 / x.std(axis=0)
        shift = (other - model.weight) @ x.mean(axis=0)
        assert penalized(x, right, other, model.intercept - shift) < best
    assert model.weight[0] > 0


def test_separable_classes_and_constant_features_are_no_problem():
    x = np.column_stack([np.arange(20.0), np.full(20, 3.0)])
    model = Logistic.fitted(x, np.arange(20) >= 10)
    assert np.isfinite(model.scores(x)).all()
    assert ((model.scores(x) > 0) == (np.arange(20) >= 10)).all()
    assert model.weight[1] == 0
