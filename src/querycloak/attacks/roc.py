"""How well a score tells two kinds of people apart: the area under its ROC curve, and true positives at few false ones.

>>> import numpy as np
>>> inside, outside = np.array([3.0, 2.0, 1.0]), np.array([2.0, 0.0])
>>> round(area(inside, outside), 3)  # pairs in the right order; equal scores count half
0.75
>>> round(Roc.of(inside, outside).at(0.25), 3)
0.5
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.distributions import beta_quantile, binomial_quantile, root
from querycloak.statistics import normal_quantile, wilson

if TYPE_CHECKING:
    from querycloak.attacks.interval import Float64s, Interval

__all__ = ["Roc", "area", "area_interval", "mean_area_interval", "true_positives", "worth"]

Bools = npt.NDArray[np.bool_]


def area(inside: Float64s, outside: Float64s) -> float:
    """Return the chance that somebody inside has a higher score than somebody outside; equal scores count half."""
    if len(inside) == 0 or len(outside) == 0:
        return 0.5
    return float(_shares_below(inside, outside).mean())


def _shares_below(scores: Float64s, others: Float64s) -> Float64s:
    """float64[scores]: the share of the others that have a lower score; equal scores count half."""
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return np.asarray((below + up_to) / (2 * len(others)), dtype=np.float64)


def area_interval(inside: Float64s, outside: Float64s) -> Interval:
    """Return the area with its 95 % interval."""
    return _newcombe(area(inside, outside), len(inside), len(outside))


def mean_area_interval(scores: Float64s, inside: Bools) -> Interval:
    """Return the mean area over several draws of who is inside, with its 95 % interval; both: [draws, people].

    The people are the same in all draws. Where what they score depends on who they are, more draws tell little more:
    see `worth`.
    """
    areas, pulls = [], np.zeros(scores.shape)  # how far each person pulls the area of a draw from its mean
    for score, is_in, pull in zip(scores, inside, pulls, strict=True):
        if not is_in.any() or is_in.all():
            return 0.5, 0.0, 1.0
        a, b = score[is_in], score[~is_in]
        areas.append(area(a, b))
        pull[is_in] = (_shares_below(a, b) - areas[-1]) / len(a)
        pull[~is_in] = (1 - _shares_below(b, a) - areas[-1]) / len(b)
    part = worth(pulls)
    return _newcombe(float(np.mean(areas)), part * int(inside.sum()), part * int((~inside).sum()))


def worth(deviations: Float64s) -> float:
    """Return which share of all values counts as independent ones; deviations from the mean: float64[draws, people].

    1 where the draws of a person have nothing in common, 1 / draws where they are all the same (Kish 1965, the design
    effect of clusters: here the draws of one person).
    """
    alone, together = float((deviations**2).sum()), float((deviations.sum(axis=0) ** 2).sum())
    least = 1.0 / max(len(deviations), 1)
    return min(max(alone / together, least), 1.0) if together > 0 else (1.0 if alone > 0 else least)


def _newcombe(seen: float, m: float, n: float) -> Interval:
    """Return an area seen on m people inside and n outside with its 95 % interval.

    Newcombe (2006), "Confidence intervals for an effect size measure based on the Mann-Whitney statistic", part 2,
    method 5: the areas whose own standard error (that of Hanley and McNeil, with the mean of the two sizes for both)
    reaches to the area seen. It is to the area what Wilson's interval is to a rate: it stays between 0 and 1 and has a
    width where the area seen is 0 or 1, where DeLong's interval and a bootstrap have none.
    """
    if m == 0 or n == 0:
        return 0.5, 0.0, 1.0
    z = normal_quantile()

    def beyond(a: float) -> float:
        spread = 1 + ((m + n) / 2 - 1) * ((1 - a) / (2 - a) + a / (1 + a))
        return abs(a - seen) - z * math.sqrt(a * (1 - a) * spread / (m * n))

    tiny = 1e-9  # at 0 and 1 the standard error is 0, which is no end of the interval
    low = 0.0 if seen <= tiny else root(beyond, 0.0, min(seen, 1 - tiny))
    high = 1.0 if seen >= 1 - tiny else root(beyond, max(seen, tiny), 1.0)
    return seen, low, high


class Roc(NamedTuple):
    """A ROC curve; between its corners it is straight: the attacker draws lots among equal scores."""

    false: Float64s
    """float64[corners], ascending from 0 to 1"""
    true: Float64s
    """float64[corners], ascending from 0 to 1"""

    @classmethod
    def of(cls, inside: Float64s, outside: Float64s) -> Roc:
        """Return the curve of two samples of scores; neither may be empty."""
        threshold = np.unique(np.concatenate([inside, outside]))[::-1]
        true = 1 - np.searchsorted(np.sort(inside), threshold, "left") / len(inside)
        false = 1 - np.searchsorted(np.sort(outside), threshold, "left") / len(outside)
        return cls(np.concatenate([[0.0], false]), np.concatenate([[0.0], true]))

    def at(self, false: float) -> float:
        """Return the share of true positives at a share of false positives; the highest where the curve is upright."""
        after = int(np.searchsorted(self.false, false, "right"))
        if after == len(self.false):
            return float(self.true[-1])
        (x0, x1), (y0, y1) = self.false[after - 1 : after + 1], self.true[after - 1 : after + 1]
        return float(y0 + (y1 - y0) * (false - x0) / (x1 - x0))


def true_positives(inside: Float64s, outside: Float64s, false: float = 0.01, worth: float = 1.0) -> Interval:
    """Return the share of true positives at a share of false positives, with its 95 % interval.

    worth: the share of the people that counts as independent ones, where the same people are there several times.

    Two things are uncertain: which threshold a share `false` of all people outside exceeds, and which share of all
    people inside does. The upper end, which limits look at, adds the squares of the two (as Newcombe does for the
    difference of two rates): the way from the rate to the end of Wilson's interval, and along the curve to the end of
    Wilson's interval of `false`. The lower end has both at once, the threshold by order statistics, whatever the
    distribution (Hilgers 1991, "Distribution-free confidence bounds for ROC curves"): with fewer than 436 people
    outside no score is known to be exceeded by fewer than 1 % of all, and the interval begins at 0.
    """
    if len(inside) == 0 or len(outside) == 0:
        return false, 0.0, 1.0
    m, n = worth * len(inside), max(int(worth * len(outside)), 1)
    roc = Roc.of(inside, outside)
    rate = roc.at(false)
    each = 0.05 / 4  # two ends, two uncertainties
    # The k-th highest score outside is exceeded by at most a share `false` of all where Binomial(n, false) >= k:
    strict = binomial_quantile(each, n, false)  # the highest k for which that is as good as certain
    least = roc.at((strict - 1) / n) * m if strict > 0 else 0.0
    low = 0.0 if least == 0 else beta_quantile(each, least, m - least + 1)
    by_people, by_threshold = wilson(rate, m)[1] - rate, roc.at(wilson(false, n)[1]) - rate
    return rate, low, min(rate + math.hypot(by_people, by_threshold), 1.0)
