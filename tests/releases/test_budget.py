"""Whatever is taken from a budget, in whatever order: together never above what was asked for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import concentrated

from querycloak.errors import GateError
from querycloak.releases.budget import ADD_REMOVE, EMPTY, REPLACE, Budget

FRACTIONS = st.one_of(st.floats(0.001, 1.0), st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 1.0]))
TAKES = st.lists(
    st.one_of(
        st.tuples(st.just("take"), FRACTIONS, st.sampled_from([0.0, 1e-8, 3e-7, 1e-5])),
        st.tuples(st.just("rho"), FRACTIONS, st.none()),
        st.tuples(st.just("delta"), st.sampled_from([1e-8, 2.5e-7, 5e-7, 2e-6]), st.none()),
        st.tuples(st.just("rest"), st.none(), st.none()),
        st.tuples(st.just("rest rho"), st.none(), st.none()),
        st.tuples(st.just("draws"), st.integers(1, 9), st.floats(0.01, 2.0)),
    ),
    max_size=8,
)


def take(budget, what, first, second):
    match what:
        case "take":
            return budget.take("x", fraction=first, delta=second)
        case "rho":
            return budget.take_rho("x", fraction=first)
        case "delta":
            return budget.take_delta("x", delta=first)
        case "rest":
            return budget.take_rest("x")
        case "rest rho":
            return budget.take_rest_rho("x")
    return budget.take_draws("x", np.array([first]), np.array([second]))


@given(st.floats(0.05, 5.0), st.sampled_from([0.0, 1e-6, 1e-3]), st.sampled_from([0.0, 0.5, 1.0]), TAKES)
@settings(max_examples=60, deadline=None)
def test_whatever_is_taken_the_total_is_at_most_what_was_asked(epsilon, delta, reserved, takes):
    budget = Budget(epsilon, delta, reserved_delta=reserved * delta)
    for what in takes:
        before = budget.lines
        try:
            take(budget, *what)
        except GateError:
            assert budget.lines == before, "what is refused leaves no trace"
    total = budget.total()
    assert total[0] <= epsilon
    assert total[1] <= delta
    best = concentrated.total_epsilon(budget.lines, delta) if len(budget.lines) <= 6 else None
    if best is not None:  # by an independent computation, which knows nothing of the budget's own sums
        assert best <= epsilon * (1 + 1e-9)
    assert sum(Fraction(line.delta) for line in budget.lines) <= Fraction(delta)


@given(st.floats(0.05, 5.0), st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
def test_fractions_of_one_on_paper_can_all_be_taken(epsilon, weights):
    """The hair that `rho` leaves covers what rounding adds to the sum of fractions."""
    budget = Budget(epsilon, 1e-6, reserved_delta=4e-7)
    for weight in weights:
        budget.take_rho("x", fraction=weight / math.fsum(weights))
    for _ in range(4):
        budget.take_delta("x", delta=1e-7)
    assert epsilon * (1 - 1e-6) <= budget.total()[0] <= epsilon


def test_a_pure_budget_reads_as_it_was_asked():
    budget = Budget(1.0, 1e-6)
    budget.take("all")
    assert budget.total() == (1.0, 0.0)


@pytest.mark.parametrize(
    "take", [lambda b: b.take("x"), lambda b: b.take_rho("x"), lambda b: b.take_delta("x", delta=1e-7)]
)
def test_a_share_is_used_once(take):
    share = take(Budget(1.0, 1e-6))
    assert share.use() == (share.epsilon or share.rho or share.delta) > 0
    with pytest.raises(GateError, match="'x' was used twice"):
        share.use()


def test_all_of_rho_can_be_taken_once():
    budget = Budget(1.0, 1e-6)
    assert budget.take_rho("a").use() == budget.rho
    for more in (lambda: budget.take_rho("b", fraction=0.01), lambda: budget.take("b", fraction=0.01),
                 lambda: budget.take_rest_rho("b"), lambda: budget.take_delta("b", delta=5e-7)):  # fmt: skip
        with pytest.raises(GateError, match="'b' asks for more than is left"):
            more()


def test_the_reserved_delta_is_not_in_rho():
    whole, part = Budget(1.0, 1e-6), Budget(1.0, 1e-6, reserved_delta=5e-7)
    assert part.rho == pytest.approx(Budget(1.0, 5e-7).rho)
    assert part.rho < 0.99 * whole.rho
    part.take_rho("noise")
    part.take_delta("threshold", delta=5e-7)
    assert part.total() == (pytest.approx(1.0), 1e-6)
    assert Budget(1.0).rho == 0
    with pytest.raises(GateError, match="more than is left"):
        Budget(1.0).take_rho("noise")


def test_the_rest_is_rho_next_to_what_was_added():
    budget = Budget(1.0, 1e-6, reserved_delta=5e-7)
    budget.take("pure", fraction=0.4)
    rest = budget.take_rest_rho("noise").use()
    assert rest == pytest.approx(Budget(0.6, 5e-7).rho, rel=1e-6)
    budget.take_delta("threshold", delta=5e-7)
    assert budget.total()[0] == pytest.approx(1.0)
    with pytest.raises(GateError, match="part of the budget is rho"):
        budget.take_rest("more")


def test_a_share_of_another_relation_is_refused():
    budget = Budget(1.0, relation=REPLACE)
    assert budget.take("x", fraction=0.5, relation=REPLACE).line.relation == REPLACE
    for relation in (ADD_REMOVE, EMPTY):
        with pytest.raises(GateError, match="'y' is for the relation"):
            budget.take("y", fraction=0.1, relation=relation)
    assert Budget(1.0).relation == ADD_REMOVE


def test_nothing_is_taken_from_a_closed_budget():
    budget = Budget(1.0)
    budget.take("x", fraction=0.5)
    budget.closed = True
    with pytest.raises(GateError, match="after the ledger was charged"):
        budget.take("y", fraction=0.1)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e9])
def test_an_epsilon_that_bounds_nothing(epsilon):
    with pytest.raises(GateError, match="bounds nothing"):
        Budget(epsilon)


@pytest.mark.parametrize(
    ("delta", "reserved"), [(-1e-6, 0), (1.0, 0), (math.nan, 0), (1e-6, 2e-6), (1e-6, -1), (1e-6, math.nan)]
)
def test_a_delta_that_bounds_nothing(delta, reserved):
    with pytest.raises(GateError, match="bounds nothing"):
        Budget(1.0, delta, reserved_delta=reserved)


@pytest.mark.parametrize("delta", [0.0, -1e-9, math.nan, 2.0])
def test_a_threshold_needs_a_probability(delta):
    with pytest.raises(GateError, match="a probability"):
        Budget(1.0, 1e-6).take_delta("x", delta=delta)


def test_the_account_is_in_the_order_of_taking():
    budget = Budget(1.0, 1e-6, reserved_delta=5e-7)
    budget.take_delta("threshold", delta=5e-7)
    budget.take_rho("weights", fraction=0.5)
    assert [str(line).split(":")[0] for line in budget.lines] == ["threshold", "weights"]
    assert str(budget.lines[0]) == "threshold: delta 5e-07 (one user more or fewer)"
    assert budget.lines[1].guarantee.startswith("rho 0.0")


def test_a_share_that_is_rounded_to_nothing_is_refused_and_is_not_its_delta():
    for epsilon, fraction in ((5e-324, 0.5), (1e-300, 1e-300)):
        with pytest.raises(GateError, match="asks for more than is left"):
            Budget(epsilon, delta=1e-5).take("choosing", fraction=fraction, delta=1e-5).use()
