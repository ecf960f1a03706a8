"""What several mechanisms guarantee together: the tightest (ε, δ) that follows from their own guarantees.

Guarantees of one kind add up: ε and δ (basic composition), rho (Bun and Steinke 2016, Lemma 1.7). Those of different
kinds have several valid sums, of which the smallest counts:

1. Lines with rho add up to one rho, which OpenDP turns into (ε', δ') for the δ' that is left of what was asked for.
2. A pure ε may be added to ε' as it is, or be turned into rho = ε²/2 (Proposition 1.4) and added there. The first is
   better for a few large ones (a pure ε = 1 is 1, and by way of rho 5.2 at δ = 1e-6), the second for many small ones.
   ε'(rho) is concave, so the best set to turn into rho is always that of all ε below some bound: trying each bound is
   enough. Whatever is tried is valid; the argument is about the best only.
3. A δ of a line is never turned into anything: it is taken off first.

Sums are exact (fractions). OpenDP rounds its conversion to the safe side; a result that is no fraction of floating
point is rounded up. The other direction, the largest rho within (ε, δ), is searched with the same conversion.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from querycloak.releases.account import AccountLine

__all__ = ["compose", "epsilon_of_rho", "fits", "largest_rho", "rounded_down", "rounded_up"]

_LEAST_RHO: Final = 1e-100
"""OpenDP's conversion underflows below; a smaller rho is counted as this one."""
_MOST_EPSILON: Final = 1000.0
"""OpenDP's conversion overflows soon above; more ε buys no more rho than this."""
_CLOSE: Final = 1 - 2.0**-40
"""How near the search for rho goes to its end. What is left of ε covers shares that add up to 1 on paper only."""


def compose(lines: Iterable[AccountLine], delta: float) -> tuple[float, float]:
    """Return the smallest ε that follows at a δ of at most `delta`, rounded up, and the δ that it needs, rounded up.

    (inf, δ) where nothing follows: the deltas of the lines alone are more, or there is a rho and no δ for it.

    >>> from querycloak.releases.account import REPLACE, AccountLine
    >>> compose([AccountLine(purpose="a", relation=REPLACE, epsilon=1.0)], delta=1e-6)
    (1.0, 0.0)
    """
    return _compose(tuple(lines), delta)


@lru_cache(maxsize=1024)  # of public numbers alone: each share that a release takes is added up with those before it
def _compose(lines: tuple[AccountLine, ...], delta: float) -> tuple[float, float]:
    epsilons, rho, used = _sums(lines)
    left = Fraction(delta) - used
    best = math.inf, rounded_up(used)
    if left < 0:
        return best
    for added, turned in _ways(epsilons, rho):
        if not turned:
            best = min(best, (rounded_up(added), rounded_up(used)))
        elif left:
            way = rounded_up(added + Fraction(found)) if math.isfinite(found := _epsilon(turned, left)) else math.inf
            best = min(best, (way, delta))
    return best


def fits(lines: Sequence[AccountLine], epsilon: float, delta: float) -> bool:
    """Tell whether the lines together guarantee (ε, δ)."""
    epsilons, rho, used = _sums(lines)
    if used > Fraction(delta):
        return False
    if not rho and sum(epsilons, Fraction(0)) <= Fraction(epsilon):
        return True  # the quick way, which needs no conversion
    return compose(lines, delta)[0] <= epsilon


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return the ε of rho-zero-concentrated privacy at δ, by OpenDP; inf where OpenDP has no answer."""
    return _epsilon(Fraction(rho), Fraction(delta))


@lru_cache(maxsize=256)  # a search, of public numbers alone: methods are run thousands of times by audits
def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho, a hair less, that OpenDP turns into at most (ε, δ); 0 where there is none."""
    goal, low, epsilon = delta * _CLOSE, 0.0, min(epsilon, _MOST_EPSILON)
    if not goal > 0 or not epsilon > 0:
        return 0.0
    high = epsilon  # rho = ε would need δ of about 1/2
    while _delta(high, epsilon) <= goal:
        low, high = high, 2 * high
    for _ in range(70):
        middle = (low + high) / 2
        if _delta(middle, epsilon) <= goal:
            low = middle
        else:
            high = middle
    step = 1 - _CLOSE
    while low and epsilon_of_rho(low, delta) > epsilon:  # δ(ε) and ε(δ) of OpenDP are rounded apart, or ε(δ) overflows
        low, step = low * (1 - step), min(2 * step, 0.5)
    return low


def rounded_down(exact: Fraction) -> float:
    """Return the largest number of floating point that is not above."""
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def rounded_up(exact: Fraction) -> float:
    """Return the smallest number of floating point that is not below."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def _sums(lines: Iterable[AccountLine]) -> tuple[list[Fraction], Fraction, Fraction]:
    """Return the pure epsilons, with those of lines that have a delta as one sum at the end; rho; and δ."""
    pure, bound, rho, delta = [], Fraction(0), Fraction(0), Fraction(0)
    for line in lines:
        if line.delta:
            bound += Fraction(line.epsilon)
        elif line.epsilon:
            pure.append(Fraction(line.epsilon))
        rho += Fraction(line.rho)
        delta += Fraction(line.delta)
    return [*sorted(pure), bound], rho, delta


def _ways(epsilons: list[Fraction], rho: Fraction) -> Iterable[tuple[Fraction, Fraction]]:
    """Yield (ε added as it is, rho with what was turned into it) for each bound below which ε are turned into rho."""
    *pure, bound = epsilons
    added, turned = sum(pure, bound), rho
    yield added, turned
    for i, epsilon in enumerate(pure):
        added, turned = added - epsilon, turned + epsilon * epsilon / 2
        if i + 1 == len(pure) or pure[i + 1] != epsilon:
            yield added, turned


@lru_cache(maxsize=1024)
def _epsilon(rho: Fraction, delta: Fraction) -> float:
    if not rho:
        return 0.0
    try:
        found = _profile(rounded_up(rho)).epsilon(rounded_down(delta))
    except _errors_of_library():
        return math.inf  # numbers too large for OpenDP: nothing is claimed
    return float(found)


def _delta(rho: float, epsilon: float) -> float:
    try:
        return float(_profile(rho).delta(epsilon))
    except _errors_of_library():
        return 1.0


def _profile(rho: float) -> Any:
    """Return OpenDP's privacy profile, ε ↔ δ, of a mechanism with at least this rho.

    The mechanism is discrete Gaussian noise of deviation 1; rho is that of a sensitivity of √(2rho), rounded up.
    """
    gaussian, converted = _mechanism()
    rho = max(rho, _LEAST_RHO)
    sensitivity = math.sqrt(2 * rho)
    while gaussian.map(sensitivity) < rho:
        sensitivity = math.nextafter(sensitivity, math.inf)
    return converted.map(sensitivity)


@cache
def _mechanism() -> tuple[Any, Any]:
    if find_spec("opendp") is None:
        raise UserError("Budgets with rho need OpenDP, which is not installed: run pip install 'querycloak[dp]'.")
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="f64")
    gaussian = dp.m.make_gaussian(*space, scale=1.0)
    return gaussian, dp.c.make_zCDP_to_approxDP(gaussian)


def _errors_of_library() -> type[Exception]:
    from opendp.mod import OpenDPException

    return OpenDPException
