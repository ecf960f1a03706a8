"""Discrete Laplace noise for counts: OpenDP's for releases, NumPy's for seeded experiments.

OpenDP draws exactly, from the operating system's randomness, and cannot be seeded. A seeded run is an experiment, and
its statement says so: it takes NumPy's geometric generator, which has the same distribution up to floating point.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError, UserError

if TYPE_CHECKING:
    from querycloak.randomness import Randomness

__all__ = ["add_noise", "check_library", "describe_noise", "scale_for"]

_BLOCK = 1 << 18
_WIDEST = 2.0**40  # of a scale: P(|noise| > 2^62) is then below exp(-4,000,000)


def scale_for(sensitivity: float, epsilon: float) -> float:
    """Return the scale sensitivity / ε, a hair wider, so that rounding never makes the noise too small.

    Noise so wide that 64-bit counts could overflow is refused: clipped noise is not the noise that was promised.
    """
    if not sensitivity < _WIDEST * epsilon:
        raise ParameterError.of("epsilon", f"more than {sensitivity / _WIDEST:.3g}, or the noise overflows", epsilon)
    return sensitivity / epsilon * (1 + 2.0**-50)


def add_noise(
    counts: npt.NDArray[np.int64], *, sensitivity: int, epsilon: float, random: Randomness
) -> npt.NDArray[np.int64]:
    """Add discrete Laplace noise, P(x) ∝ exp(-|x| / scale), to each count.

    `sensitivity` bounds the sum of |differences| over all counts between neighbours; the result is ε-differentially
    private, which OpenDP's own accounting confirms on every call.
    """
    scale = scale_for(sensitivity, epsilon)
    if random.seed is not None:
        return counts + _experiment(len(counts), scale, random)
    check_library()
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    laplace = dp.m.make_laplace(*space, scale=scale)
    if laplace.map(sensitivity) > epsilon:  # type: ignore[no-untyped-call]
        raise RuntimeError("OpenDP does not confirm that the noise is wide enough.")
    out = np.empty_like(counts)
    for at in range(0, len(counts), _BLOCK):
        out[at : at + _BLOCK] = laplace(counts[at : at + _BLOCK].tolist())
    return out


def check_library() -> None:
    """Refuse to go on without OpenDP."""
    if find_spec("opendp") is None:
        raise UserError("Noise for counts comes from OpenDP, which is not installed: run pip install 'querycloak[dp]'.")


def describe_noise(random: Randomness) -> str:
    """Say where the noise comes from, for the statement."""
    if random.seed is not None:
        return f"{random.describe()}; noise by NumPy"
    from importlib.metadata import version

    return f"{random.describe()}; noise by OpenDP {version('opendp')}"


def _experiment(n: int, scale: float, random: Randomness) -> npt.NDArray[np.int64]:
    """Draw the difference of two geometric numbers, int64[n]."""
    source = np.random.Generator(np.random.Philox(key=random.words(2)))
    p = -np.expm1(-1.0 / scale)
    return source.geometric(p, n) - source.geometric(p, n)
