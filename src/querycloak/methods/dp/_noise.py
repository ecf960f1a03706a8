"""Whole-numbered noise: OpenDP's for releases, NumPy's for seeded experiments.

| | releases | seeded experiments |
|---|---|---|
| discrete Laplace, `add_noise` | OpenDP, exact | NumPy's geometric numbers |
| discrete Gaussian, `add_gaussian` | OpenDP, exact | rejection from discrete Laplace (Canonne et al. 2020) |

**What is exact.** OpenDP draws from the very distribution, in whole numbers and fractions, from the operating system's
randomness; its own accounting (`map`) confirms on every call that the noise is as wide as the budget asks. It cannot be
seeded. A seeded run is an experiment, and its statement says so: it has the same distribution up to floating point,
which is good for tests and curves and no guarantee.

**Time.** OpenDP takes 9 to 10 µs of one core for a Laplace number and 13 to 16 µs for a Gaussian one: a million of
them take about 15 s of one core. Blocks are drawn by several threads, since OpenDP leaves Python's lock alone. A seeded
million takes 0.15 s.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.randomness import Randomness

__all__ = [
    "add_gaussian",
    "add_noise",
    "check_library",
    "confirm_gaussian",
    "confirm_laplace",
    "describe_noise",
    "gaussian_scale",
    "scale_for",
]

Int64s = npt.NDArray[np.int64]

_BLOCK = 1 << 16
_WIDEST = 2.0**40  # of a scale: P(|noise| > 2^61) is then below exp(-2,000,000)
_LARGEST = 1 << 62  # of a count: with noise of up to 2^61 it stays within 64 bits


def scale_for(sensitivity: float, epsilon: float) -> float:
    """Return the scale sensitivity / ε, a hair wider, so that rounding never makes the noise too small.

    Noise so wide that 64-bit counts could overflow is refused: clipped noise is not the noise that was promised.
    """
    if not sensitivity < _WIDEST * epsilon:
        raise ParameterError.of("epsilon", f"more than {sensitivity / _WIDEST:.3g}, or the noise overflows", epsilon)
    return sensitivity / epsilon * (1 + 2.0**-50)


def gaussian_scale(sensitivity: float, rho: float) -> float:
    """Return the standard deviation sensitivity / √(2 rho), a hair wider, of Gaussian noise for rho."""
    if not (rho > 0 and sensitivity < _WIDEST * math.sqrt(2 * rho)):
        least = (sensitivity / _WIDEST) ** 2 / 2
        raise ParameterError.of("rho", f"more than {least:.3g}, or the noise overflows", rho)
    return sensitivity / math.sqrt(2 * rho) * (1 + 2.0**-50)


def add_noise(counts: Int64s, *, sensitivity: int, epsilon: float, random: Randomness) -> Int64s:
    """Add discrete Laplace noise, P(x) ∝ exp(-|x| / scale), to each count.

    `sensitivity` bounds the sum of |differences| over all counts between neighbours; the result is ε-differentially
    private, which OpenDP's own accounting confirms on every call.
    """
    scale = scale_for(sensitivity, epsilon)
    if random.seed is not None:
        return counts + _seeded_laplace(len(counts), scale, _generator(random))

    def make(dp: Any) -> Any:
        laplace = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)
        return _confirmed(laplace, sensitivity, epsilon)

    return _in_blocks(counts, make)


def add_gaussian(values: Int64s, *, sensitivity: float, rho: float, random: Randomness) -> Int64s:
    """Add discrete Gaussian noise, P(x) ∝ exp(-x² / 2 scale²), to each value: int64[n].

    `sensitivity` bounds the root of the sum of squared differences between neighbours (l2); the result is
    rho-zero-concentrated private, which OpenDP's own accounting confirms on every call.
    """
    scale = gaussian_scale(sensitivity, rho)
    if random.seed is not None:
        return values + _seeded_gaussian(len(values), scale, _generator(random))

    def make(dp: Any) -> Any:
        gaussian = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=scale)
        return _confirmed(gaussian, float(sensitivity), rho)

    return _in_blocks(values, make)


def confirm_gaussian(scale: float, sensitivity: float, rho: float) -> None:
    """Ask OpenDP whether discrete Gaussian noise of a scale is as wide as rho asks, where it is drawn elsewhere."""
    check_library()
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    _confirmed(dp.m.make_gaussian(*space, scale=scale), float(sensitivity), rho)


def confirm_laplace(scale: float, sensitivity: int, epsilon: float) -> None:
    """Ask OpenDP whether discrete Laplace noise of a scale is as wide as ε asks, where it is drawn elsewhere."""
    check_library()
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    _confirmed(dp.m.make_laplace(*space, scale=scale), sensitivity, epsilon)


def check_library() -> None:
    """Refuse to go on without OpenDP."""
    if find_spec("opendp") is None:
        raise UserError("Noise for counts comes from OpenDP, which is not installed: run pip install 'querycloak[dp]'.")


def describe_noise(random: Randomness) -> str:
    """Say where the noise comes from, for the statement."""
    if random.seed is not None:
        return f"{random.describe()}; noise by NumPy"
    return f"{random.describe()}; noise by OpenDP {_library_version()}"


@cache
def _library_version() -> str:
    from importlib.metadata import version

    return version("opendp")


def _confirmed(mechanism: Any, sensitivity: float, most: float) -> Any:
    """Return the mechanism if OpenDP's own map says that it spends no more than was taken from the budget."""
    if not mechanism.map(sensitivity) <= most:
        raise RuntimeError("OpenDP does not confirm that the noise is wide enough.")
    return mechanism


def _in_blocks(values: Int64s, make: Callable[[Any], Any]) -> Int64s:
    """Draw with OpenDP, some values at a time on each core; each block has a mechanism that only its thread uses."""
    check_library()
    import opendp.prelude as dp

    dp.enable_features("contrib")
    if len(values) and int(np.abs(values).max()) > _LARGEST:
        raise ValueError("a value leaves no room for noise in 64 bits")
    mechanism = make(dp)  # refused before anything is drawn, also where there is nothing to draw
    if 0 < len(values) <= _BLOCK:
        return np.array(mechanism(values.tolist()), dtype=np.int64)
    out = np.empty_like(values)  # int64[n]

    def draw(at: int) -> None:
        out[at : at + _BLOCK] = make(dp)(values[at : at + _BLOCK].tolist())

    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for _ in threads.map(draw, range(0, len(values), _BLOCK)):
            pass  # an error of a thread is raised here
    return out


def _generator(random: Randomness) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=random.words(2)))


def _seeded_laplace(n: int, scale: float, source: np.random.Generator) -> Int64s:
    """Draw the difference of two geometric numbers, int64[n]."""
    p = -np.expm1(-1.0 / scale)
    return source.geometric(p, n) - source.geometric(p, n)


def _seeded_gaussian(n: int, scale: float, source: np.random.Generator) -> Int64s:
    """Draw discrete Gaussian numbers, int64[n]: Canonne, Kamath, Steinke (2020), algorithm 3.

    y is discrete Laplace of scale t = ⌊scale⌋ + 1 and is kept with probability exp(-(|y| - scale²/t)² / 2 scale²):
    the product of both is proportional to exp(-y² / 2 scale²). About half are kept, whatever the scale.
    """
    t = math.floor(scale) + 1
    out = np.empty(n, dtype=np.int64)
    missing = np.arange(n)  # int64: what has no number yet
    while len(missing):
        y = _seeded_laplace(len(missing), float(t), source)
        off = (np.abs(y) - scale * scale / t) / scale
        kept = source.random(len(y)) < np.exp(-off * off / 2)
        out[missing[kept]] = y[kept]
        missing = missing[~kept]
    return out
