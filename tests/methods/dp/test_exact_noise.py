"""Noise by name: the exact distribution, the same whoever asks, and attempts that no floating point decides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from jit import JIT
from test_noise import exact_gaussian as probabilities
from test_noise import p_value

from querycloak.arrays.keyed_streams import Streams
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp import _exact_noise as noise
from querycloak.methods.dp._exact_noise import exact_gaussian, exact_laplace
from querycloak.randomness import Randomness

N = 40_000 if JIT else 600


def streams(n, seed=3):
    return Streams.of(map(str, range(n)), KeyedRandomness(Randomness(seed)))


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.7, 22.4])
@pytest.mark.needs_jit  # enough numbers to see a wrong scale
def test_gaussian_noise_has_the_exact_probabilities(scale):
    """A p-value below 1e-6 fails; the test sees a scale that is wrong by a tenth."""
    drawn = exact_gaussian(streams(N), scale)[:, 0]
    reach = int(4 * scale) + 1
    assert p_value(drawn, probabilities(scale, reach), reach) > 1e-6
    assert p_value(drawn, probabilities(scale * 1.1, reach), reach) < 1e-6


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
@pytest.mark.needs_jit
def test_laplace_noise_has_the_exact_probabilities(scale):
    drawn = exact_laplace(streams(N // 100), scale, 100).ravel()
    reach = int(6 * scale) + 1
    a = np.exp(-1 / scale)

    def chances(a):
        return (1 - a) / (1 + a) * a ** np.abs(np.arange(-reach, reach + 1))

    assert p_value(drawn, chances(a), reach) > 1e-6
    assert p_value(drawn, chances(np.exp(-1 / (1.1 * scale))), reach) < 1e-6


@pytest.mark.parametrize("scale", [2.0**21 * 5.3, 2.0**39])
@pytest.mark.needs_jit
def test_wide_noise_is_normal_in_all_its_deciles(scale):
    from scipy.special import chdtrc, ndtr

    decile = np.minimum((ndtr(exact_gaussian(streams(N), scale)[:, 0] / scale) * 10).astype(int), 9)
    seen = np.bincount(decile, minlength=10)
    assert chdtrc(9, float(((seen - N / 10) ** 2 / (N / 10)).sum())) > 1e-6


def test_noise_of_a_name_does_not_depend_on_who_else_is_there_or_on_how_much_is_drawn():
    all_of_them = exact_laplace(streams(30), 2.5, 7)
    assert (exact_laplace(streams(30).take(slice(20, 25)), 2.5, 7) == all_of_them[20:25]).all()
    assert (exact_laplace(streams(30), 2.5, 3) == all_of_them[:, :3]).all()
    assert (exact_laplace(streams(30, seed=4), 2.5, 7) != all_of_them).any()


@pytest.mark.parametrize("laplace", [True, False])
@pytest.mark.parametrize("scale", [0.2, 1.3, 2.0**30 + 0.5])
def test_the_kernel_agrees_with_whole_numbers_alone(laplace, scale):
    """`_attempt` compares as many digits as are needed: here it draws everything."""
    some, each = streams(40), 4
    drawn = (exact_laplace if laplace else exact_gaussian)(some, scale, each)
    words = some.words(500)
    for i in range(len(drawn)):
        at, out = 0, []
        while len(out) < each:
            width = noise.width_of(scale, laplace=laplace)
            found, taken = noise._attempt(iter(words[i, at:].tolist()), width, Fraction(scale), laplace=laplace)
            at, out = at + taken, [*out, *([] if found is None else [found])]
        assert out == drawn[i].tolist()


class Scripted(Streams):
    """A stream of words that were written down; zeros after them."""

    def words(self, n, purpose=0):
        out = np.zeros((len(self.key), n), dtype=np.uint64)
        out[:, : min(n, len(SCRIPT))] = SCRIPT[:n]
        return out

    def take(self, which):
        return Scripted(*super().take(which))


SCRIPT = np.zeros(0, dtype=np.uint64)


def scripted(words):
    global SCRIPT  # noqa: PLW0603
    SCRIPT = np.array(words, dtype=np.uint64)
    return Scripted(*streams(1))


def test_an_attempt_that_is_too_close_is_decided_by_further_words():
    """A uniform number whose 64 bits are those of the chance itself: the next word tells on which side it is."""
    scale = 4.0  # width 5; offset 3 in block 0, so the chance is exp(-9/32)
    low, high = noise._chance(Fraction(9, 32), 0, 60)
    bits = int(low * 2**64)
    assert bits == int(high * 2**64)
    for further, kept in ((0, True), (2**64 - 1, False)):
        drawn = exact_gaussian(scripted([0, 3, bits, further, 0, 1, 0]), scale)[0, 0]
        assert drawn == (3 if kept else 1)


def test_a_block_beyond_what_the_kernel_takes_is_counted_on():
    ones = 2**64 - 2  # the sign is +, and 63 ones follow, then two more in the next word
    found, taken = noise._attempt(iter([ones, 3, 0, 0, 0, 0]), 1, Fraction(50), laplace=False)
    assert (found, taken) == (None, 4) or found == 65
    found, taken = noise._attempt(iter([ones, 3, 0, 0, 0, 0]), 1, Fraction(10**6), laplace=False)
    assert found == 65
    assert taken >= 4


@pytest.mark.parametrize("laplace", [True, False])
@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 3.7, 1e6])
def test_no_chance_is_above_one(laplace, scale):
    """2^k f(k width) <= 1, or what is kept would not have the chances of the noise."""
    width = noise.width_of(scale, laplace=laplace)
    for block in range(60):
        x = Fraction(block * width) / Fraction(scale)
        assert noise._chance(x if laplace else x * x / 2, block, 50)[0] <= 1
