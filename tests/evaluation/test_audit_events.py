"""Bounds of epsilon on mechanisms whose epsilon is known; events are found where there is something to find."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from querycloak.evaluation import audit_events
from querycloak.evaluation.audit_events import NOTHING, Event, choose_event, lower_bound
from querycloak.statistics import at_least, at_most


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(1e-6, 0.3))
def test_bounds_of_a_rate_are_those_of_the_binomial_distribution(counted, error):
    """At the lower end so many successes or more have just the probability `error`, at the upper so many or fewer."""
    k, n = counted
    low, high = at_least(k, n, error), at_most(k, n, error)
    assert 0 <= low <= k / n <= high <= 1
    assert low == 0 if k == 0 else binom.sf(k - 1, n, low) == pytest.approx(error, rel=1e-6)
    assert high == 1 if k == n else binom.cdf(k, n, high) == pytest.approx(error, rel=1e-6)


def plain_figures(*sides):
    """The rule of `_figures` on one table of all runs and figures."""
    names = list(dict.fromkeys(name for side in sides for figures in side for name in figures))
    p, q = (np.array([[f.get(n, 0.0) for n in names] for f in side]).reshape(len(side), len(names)) for side in sides)
    both = np.concatenate([p, q])
    aparts, deviations = np.abs(p.mean(axis=0) - q.mean(axis=0)), np.sqrt(p.var(axis=0) + q.var(axis=0))
    pairs = zip(aparts, deviations, strict=True)
    z = np.array([apart / deviation if deviation else (math.inf if apart else 0.0) for apart, deviation in pairs])
    order = [i for i in np.argsort(-z, kind="stable") if len(set(both[:, i])) > 1]
    named = {
        tuple(both[:, i]): names[i] for i in reversed(order)
    }  # of equal figures the first, at the index of the last
    return list(named.values())[::-1]


runs_of_few_figures = st.lists(
    st.dictionaries(st.sampled_from([f"figure {i}" for i in range(12)]), st.sampled_from([0.0, 1.0, 2.0, 0.5])),
    min_size=1,
    max_size=6,
)


@given(runs_of_few_figures, runs_of_few_figures, st.integers(1, 13))
def test_figures_are_those_of_the_whole_table_however_many_are_looked_at_at_once(likely, unlikely, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_events, "_FIGURES_AT_ONCE", at_once)
        assert audit_events._figures(likely, unlikely) == plain_figures(likely, unlikely)


def answers(epsilon, truth, n, random):
    """Randomised response: the truth with probability exp(ε) / (1 + exp(ε)). Its loss is exactly ε."""
    honest = random.random(n) < 1 / (1 + math.exp(-epsilon))
    return [{"says yes": float(h == truth), "noise": random.random()} for h in honest]


def bound_of(loss, runs=4000, delta=0.0, error=0.001, seed=1):
    random = np.random.default_rng(seed)
    event = choose_event(answers(loss, True, 400, random), answers(loss, False, 400, random), delta=delta)
    hits = [sum(map(event.holds, answers(loss, truth, runs, random))) for truth in (True, False)]
    return lower_bound(*(n for k in hits for n in (k, runs)), delta=delta, error=error)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_randomised_response_is_bounded_from_below_and_nearly(epsilon):
    assert 0.75 * epsilon < bound_of(epsilon) <= epsilon


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_twice_the_loss_is_noticed(epsilon):
    assert bound_of(2 * epsilon) > epsilon


def test_delta_is_subtracted():
    """What happens with probability delta on one side alone is allowed; with twice that probability it is not."""
    n = 20_000
    assert lower_bound(1000, n, 0, n, delta=0.05, error=0.001) == 0
    assert lower_bound(2000, n, 0, n, delta=0.05, error=0.001) > 4
    assert lower_bound(1000, n, 0, n, delta=0.0, error=0.001) > 4


@given(st.integers(1, 300), st.data())
def test_both_rates_are_bounded_exactly(n, data):
    """As SciPy's exact intervals have it: two-sided at 1 - error, so half of the error on each side."""
    k, m = (data.draw(st.integers(0, n)) for _ in range(2))
    error, delta = data.draw(st.sampled_from([0.3, 0.01, 1e-4])), data.draw(st.sampled_from([0.0, 0.05]))
    ends = [binomtest(x, n).proportion_ci(1 - error, method="exact") for x in (k, m)]
    low = ends[0].low - delta
    expected = max(0.0, math.log(low / ends[1].high)) if low > 0 else 0.0
    assert lower_bound(k, n, m, n, delta=delta, error=error) == pytest.approx(expected, abs=1e-9)


def test_false_alarms_are_as_rare_as_promised():
    """At an error of 5 %, of 400 audits of a true claim at most 34 may be wrong (0.1 % of binomial(400, 0.05))."""
    random = np.random.default_rng(7)
    n, epsilon = 500, 1.0
    p = 1 / (1 + math.exp(-epsilon))
    hits, others = random.binomial(n, p, 400), random.binomial(n, 1 - p, 400)
    pairs = zip(hits.tolist(), others.tolist(), strict=True)
    wrong = sum(lower_bound(k, n, m, n, delta=0.0, error=0.05) > epsilon for k, m in pairs)
    assert wrong <= 34


def test_nothing_is_found_where_there_is_nothing():
    """Both sides are alike: whatever event is chosen, fresh runs show nothing."""
    assert bound_of(0.0) == 0.0
    same = [{"rows": 3.0}] * 50
    assert choose_event(same, same, delta=0.0) is NOTHING


def test_noise_that_two_figures_share_cancels():
    random = np.random.default_rng(3)

    def releases(shift):
        noise = random.normal(0, 100, 300)
        return [{"tea": 50 + shift + x, "coffee": 50 + x, "rows": 2.0} for x in noise.tolist()]

    event = choose_event(releases(1), releases(0), delta=0.0)
    assert event.weights.keys() >= {"tea", "coffee"}
    assert all(map(event.holds, releases(1)))
    assert not any(map(event.holds, releases(0)))


@pytest.mark.parametrize("above", [True, False])
def test_the_limit_belongs_to_the_event(above):
    event = Event({"rows": 1.0}, 3.0, above)
    assert [event.holds({"rows": float(n)}) for n in (2, 3, 4)] == (
        [False, True, True] if above else [True, True, False]
    )
    assert event.holds({}) == (not above)
    assert str(event) == f"rows {'>=' if above else '<='} 3"


def test_a_figure_that_is_on_one_side_only_is_found():
    one = [{"rows": 1.0, "rows of 'zebra'": float(i % 2)} for i in range(120)]
    event = choose_event(one, [{"rows": 1.0}] * 120, delta=0.0)
    assert event.weights == {"rows of 'zebra'": 1.0}
    assert event.above
