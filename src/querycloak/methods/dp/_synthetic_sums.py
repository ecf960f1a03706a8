"""Noisy sums over users: what every histogram of `synthetic-dp` is made of.

Each user has a vector of whole numbers n_b >= 0, one for each bin of a public list: events in an hour of the week, say.
`add_users` turns it into v_b, in fixed point (`unit` is 1), and adds up over users:

- `clip`: v_b = unit · n_b where Σ n_b² <= most², and floor(unit · most · n_b / R) else
- `normed`: v_b = floor(unit · most · n_b / R) for all

with R the least whole number with R² >= Σ n_b².

**Sensitivity.** In the first case Σ v_b² = unit² Σ n_b² <= unit² most². In the second,
Σ v_b² <= unit² most² Σ n_b² / R² <= unit² most². A user's vector depends on this user's rows, on public bins, and on
what was published before (centres of clusters) alone, so one user more adds one such vector to the sums and changes no
other: the l2-sensitivity is unit · most. Discrete Gaussian noise for it makes the sums rho-zero-concentrated private
(`_noise.py`).

A user without anything to count adds nothing. Sums are exact: 10 million users with most = 100 stay below 2^53 in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._noise import add_gaussian, gaussian_scale
from querycloak.methods.dp._set_union import fine_unit

if TYPE_CHECKING:
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share

__all__ = ["NoisySums", "add_counts", "add_users", "noisy_from", "noisy_sums", "unit_of"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

_UNIT: Final = 1 << 10
"""1 in whole numbers: a part of a user's event is rounded down to a multiple of 1 / _UNIT."""


class NoisySums(NamedTuple):
    """Sums with noise."""

    value: Float64s
    """float64[bins], 1 = one event, or one user"""
    deviation: float
    """of the noise of each"""

    def cut(self, deviations: float = 3.0) -> Float64s:
        """float64[bins]: the sums, 0 where one is below so many deviations, and may be noise alone."""
        return np.where(self.value >= deviations * self.deviation, self.value, 0.0)


def add_users(user: Int64s, index: Int64s, bins: int, *, most: int, unit: int, normed: bool = False) -> Int64s:
    """int64[bins]: the sum of the vectors of all users; user, index: int64[n], one entry for each thing counted."""
    key = user * np.int64(bins) + index
    key.sort()
    start = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(start, append=len(key))
    owner, where = np.divmod(key[start], np.int64(bins))
    return add_counts(owner, where, count, bins, most=most, unit=unit, normed=normed)


def add_counts(
    owner: Int64s, where: Int64s, count: Int64s, bins: int, *, most: int, unit: int, normed: bool = False
) -> Int64s:
    """Add up as `add_users` does; owner, where, count: int64[m], distinct pairs of user and bin, ordered by user."""
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    if not len(begin):
        return np.zeros(bins, dtype=np.int64)
    squares = np.add.reduceat(count * count, begin)
    root = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    for _ in range(2):  # a rounded root may be one too low
        root += root * root < squares
    of_user = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(owner)))
    scaled = np.ones(len(begin), dtype=np.bool_) if normed else squares > most * most
    value = np.where(scaled[of_user], unit * most * count // root[of_user], unit * count)
    return np.bincount(where, weights=value, minlength=bins).astype(np.int64)


def noisy_sums(
    user: Int64s, index: Int64s, bins: int, *, most: int, share: Share, random: Randomness, normed: bool = False
) -> NoisySums:
    """Add up the vectors of users, with the noise that the share of the budget buys."""
    unit = unit_of(share, most)
    sums = add_users(user, index, bins, most=most, unit=unit, normed=normed)
    return noisy_from(sums, most=most, share=share, random=random)


def unit_of(share: Share, most: int) -> int:
    """Return 1 in the whole numbers of sums whose noise a share of the budget buys."""
    return fine_unit(_UNIT, share.rho / most**2)


def noisy_from(sums: Int64s, *, most: int, share: Share, random: Randomness) -> NoisySums:
    """Put the noise that the share of the budget buys on exact sums, int64[bins], in units of `unit_of`."""
    unit, rho = unit_of(share, most), share.use()
    noisy = add_gaussian(sums, sensitivity=float(unit * most), rho=rho, random=random)
    return NoisySums(noisy / unit, gaussian_scale(float(unit * most), rho) / unit)
