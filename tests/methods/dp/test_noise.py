"""Noise has just the distribution that the privacy arguments are about."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtrc

from querycloak.errors import ParameterError
from querycloak.methods.dp import _noise
from querycloak.methods.dp._noise import add_gaussian, add_noise, gaussian_scale
from querycloak.randomness import Randomness

SEEDS = [3, None]
ZEROS = np.zeros(40_000, dtype=np.int64)


def exact_gaussian(scale, reach):
    """float64[2 · reach + 1]: P(x) of the discrete Gaussian, summed over far more than can be seen."""
    x = np.arange(-40 * math.ceil(scale) - 40, 40 * math.ceil(scale) + 41)
    weight = np.exp(-(x.astype(float) ** 2) / (2 * scale * scale))
    return weight[np.abs(x) <= reach] / math.fsum(weight)


def p_value(noise, probability, reach):
    """Chi-squared, with all beyond `reach` in one class; classes of fewer than 8 expected are joined to it."""
    seen = np.bincount(np.clip(noise, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    seen, rest = seen[1:-1], int(seen[0] + seen[-1])
    expected = probability * len(noise)
    large = expected >= 8
    seen_all = np.append(seen[large], rest + seen[~large].sum())
    expected_all = np.append(expected[large], len(noise) - expected[large].sum())
    if expected_all[-1] < 1:
        assert seen_all[-1] <= 20
        seen_all, expected_all = seen_all[:-1], expected_all[:-1]
    return chdtrc(len(seen_all) - 1, float(((seen_all - expected_all) ** 2 / expected_all).sum()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("sensitivity", "rho"), [(1.0, 4.0), (1.0, 0.5), (math.sqrt(5), 0.05), (3.0, 0.001)])
def test_gaussian_noise_has_the_exact_probabilities(seed, sensitivity, rho):
    """A p-value below 1e-6 fails: half or 1.1 times the scale give less than 1e-12."""
    noise = add_gaussian(ZEROS, sensitivity=sensitivity, rho=rho, random=Randomness(seed))
    scale = sensitivity / math.sqrt(2 * rho)
    reach = math.ceil(4 * scale)
    assert p_value(noise, exact_gaussian(scale, reach), reach) > 1e-6
    assert p_value(noise, exact_gaussian(scale * 1.1, reach), reach) < 1e-6, "the test must see a wrong scale"


@pytest.mark.parametrize("scale", [2.0**20, 2.0**35])
def test_wide_gaussian_noise_is_normal_in_all_its_deciles(scale):
    from scipy.special import ndtr

    noise = add_gaussian(ZEROS, sensitivity=scale, rho=0.5, random=Randomness(5))
    decile = np.minimum((ndtr(noise / scale) * 10).astype(int), 9)
    seen = np.bincount(decile, minlength=10)
    assert chdtrc(9, float(((seen - 4000) ** 2 / 4000).sum())) > 1e-6


def test_noise_is_added_to_each_value_in_its_own_slot(monkeypatch):
    monkeypatch.setattr(_noise, "_BLOCK", 64)
    values = np.arange(1000, dtype=np.int64) * 10**9
    for seed in SEEDS:
        for noisy in (
            add_gaussian(values, sensitivity=1.0, rho=0.01, random=Randomness(seed)),
            add_noise(values, sensitivity=1, epsilon=0.1, random=Randomness(seed)),
        ):
            assert noisy.dtype == np.int64
            off = noisy - values
            assert 0 < np.abs(off).max() < 10**4
            assert len(np.unique(off)) > 20
            assert not np.array_equal(off[:64], off[64:128]), "blocks must not repeat each other"


def test_a_seed_repeats_and_the_operating_system_does_not():
    def draw(seed):
        return add_gaussian(ZEROS[:1000], sensitivity=9.0, rho=0.1, random=Randomness(seed)).tolist()

    assert draw(1) == draw(1) != draw(2)
    assert draw(None) != draw(None)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rho", [0.0, -1.0, math.nan, 1e-30])
def test_noise_too_wide_for_64_bits_is_refused(seed, rho):
    with pytest.raises(ParameterError, match=r"rho must be more than .*, or the noise overflows"):
        add_gaussian(ZEROS[:3], sensitivity=1.0, rho=rho, random=Randomness(seed))


def test_a_value_without_room_for_noise_is_refused():
    with pytest.raises(ValueError, match="no room for noise"):
        add_gaussian(np.array([2**62 + 1]), sensitivity=1.0, rho=0.5, random=Randomness())


def test_a_scale_that_the_library_does_not_confirm_is_refused(monkeypatch):
    monkeypatch.setattr(_noise, "gaussian_scale", lambda sensitivity, rho: 0.99 * gaussian_scale(sensitivity, rho))
    for values in (ZEROS[:3], ZEROS[:0]):
        with pytest.raises(RuntimeError, match="does not confirm"):
            add_gaussian(values, sensitivity=1.0, rho=0.5, random=Randomness())


@pytest.mark.parametrize("sensitivity", [1.0, math.sqrt(2), math.sqrt(50), 1e-3, 1e4])
@pytest.mark.parametrize("rho", [1e-6, 0.0231, 0.5, 7.0])
def test_the_scale_is_confirmed_by_the_library_and_not_wider_than_needed(sensitivity, rho):
    assert len(add_gaussian(ZEROS[:1], sensitivity=sensitivity, rho=rho, random=Randomness())) == 1
    assert gaussian_scale(sensitivity, rho) == pytest.approx(sensitivity / math.sqrt(2 * rho), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_to_add_noise_to(seed):
    assert add_gaussian(ZEROS[:0], sensitivity=1.0, rho=1.0, random=Randomness(seed)).shape == (0,)
