"""Zero-concentrated privacy turned into (ε, δ), the slow and obvious way, by scipy and without OpenDP."""

from __future__ import annotations

import itertools
import math

from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr


def delta_of_gaussian(rho, epsilon):
    """The exact δ of Gaussian noise with this rho: no conversion of rho alone may say less."""
    mu = math.sqrt(2 * rho)
    return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def delta_of_rho(rho, epsilon):
    """Canonne, Kamath, Steinke 2020, Proposition 7: the infimum over a > 1 of
    exp((a - 1)(a · rho - ε)) / (a - 1) · (1 - 1/a)^a."""

    def logarithm(x):
        above = math.exp(x)  # a - 1
        return above * ((above + 1) * rho - epsilon) - x - (above + 1) * math.log1p(1 / above)

    lowest = min((k / 4 for k in range(-160, 161)), key=lambda x: min(1e300, logarithm(x)))
    found = minimize_scalar(logarithm, bounds=(lowest - 0.5, lowest + 0.5), method="bounded", options={"xatol": 1e-12})
    return min(1.0, math.exp(min(0.0, found.fun)))


def epsilon_of_rho(rho, delta):
    """The smallest ε at which `delta_of_rho` is at most δ."""
    if rho == 0:
        return 0.0
    if delta_of_rho(rho, 0.0) <= delta:
        return 0.0
    most = rho + 2 * math.sqrt(rho * math.log(1 / delta))  # Bun and Steinke 2016, Proposition 1.3
    return brentq(lambda e: math.log(delta_of_rho(rho, e)) - math.log(delta), 0.0, most * 1.01, xtol=1e-14, rtol=1e-12)


def total_epsilon(lines, delta):
    """The smallest ε of all valid sums: each set of pure epsilons turned into rho. None where nothing follows."""
    left = delta - sum(line.delta for line in lines)
    if left < 0:
        return None
    pure = [line.epsilon for line in lines if line.epsilon and not line.delta]
    rest = sum(line.epsilon for line in lines if line.delta)
    rho = sum(line.rho for line in lines)
    ways = []
    for turned in itertools.product([False, True], repeat=len(pure)):
        total = rho + sum(e * e / 2 for e, t in zip(pure, turned, strict=True) if t)
        if total and left <= 0:
            continue
        found = epsilon_of_rho(total, left) if total else 0.0
        ways.append(rest + sum(e for e, t in zip(pure, turned, strict=True) if not t) + found)
    return min(ways, default=None)
