"""Exact noise on executors: that of an item is a function of a secret and of the item's name (`_exact_noise.py`).

Sums over items grow with the log, so they stay where they are; only what is published leaves the executors. Scales and
thresholds are made on the driver, and OpenDP's own accounting confirms there that a scale is as wide as its share of
the budget asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.arrays.keyed_streams import Streams
from querycloak.methods.dp._exact_noise import NOISE_BY_NAME, exact_gaussian, exact_laplace
from querycloak.methods.dp._noise import confirm_gaussian, confirm_laplace, gaussian_scale, scale_for

if TYPE_CHECKING:
    from pyspark.sql import Column

    from querycloak.keyed_randomness import KeyedRandomness
    from querycloak.randomness import Randomness

__all__ = ["describe_noise", "gaussian_for", "laplace_for", "reaches", "with_noise"]


def describe_noise(random: Randomness) -> str:
    """Say where the noise comes from, for the statement."""
    return f"{random.describe()}; {NOISE_BY_NAME}"


def gaussian_for(sensitivity: float, rho: float) -> float:
    """Return the deviation of Gaussian noise for rho, confirmed by OpenDP."""
    scale = gaussian_scale(sensitivity, rho)
    confirm_gaussian(scale, sensitivity, rho)
    return scale


def laplace_for(sensitivity: int, epsilon: float) -> float:
    """Return the scale of Laplace noise for ε, confirmed by OpenDP."""
    scale = scale_for(sensitivity, epsilon)
    confirm_laplace(scale, sensitivity, epsilon)
    return scale


def with_noise(
    name: Column, value: Column, keyed: KeyedRandomness, scale: float, *, laplace: bool = False, unit: int = 1
) -> Column:
    """Return whole numbers of a unit with noise, rounded to units, at least 1: of what was chosen by noise already."""

    def add(names: pa.Array, values: pa.Array) -> pa.Array:
        noisy = _noisy(names, values, keyed, scale, laplace=laplace)
        return pa.array(noisy if laplace else np.maximum((noisy + unit // 2) // unit, 1))

    added: Column = F.arrow_udf(add, T.LongType())(name, value)  # type: ignore[attr-defined] # stubs lag behind
    return added


def reaches(
    name: Column, value: Column, keyed: KeyedRandomness, scale: float, least: int, *, laplace: bool = False
) -> Column:
    """Tell whether whole numbers with noise are at least `least`."""

    def tell(names: pa.Array, values: pa.Array) -> pa.Array:
        return pa.array(_noisy(names, values, keyed, scale, laplace=laplace) >= least)

    told: Column = F.arrow_udf(tell, T.BooleanType())(name, value)  # type: ignore[attr-defined] # stubs lag behind
    return told


def _noisy(
    names: pa.Array, values: pa.Array, keyed: KeyedRandomness, scale: float, *, laplace: bool
) -> npt.NDArray[np.int64]:
    streams = Streams.of(names.to_pylist(), keyed)
    noise = (exact_laplace if laplace else exact_gaussian)(streams, scale)[:, 0]
    noisy: npt.NDArray[np.int64] = values.to_numpy(zero_copy_only=False).astype(np.int64) + noise
    return noisy
