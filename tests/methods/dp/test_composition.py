"""The budget of a whole release: what all noise together costs, seen from outside and at the calls that draw it.

Parts that are right alone can be wrong together: a budget spent twice, a threshold other than the one that was proved,
counts that one user moves by more than the noise was made for.
"""

from __future__ import annotations

import importlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp._noise import scale_for
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
from querycloak.randomness import Randomness

frequent = importlib.import_module("querycloak.methods.dp.frequent_queries")
korolova = importlib.import_module("querycloak.methods.dp._korolova")
histogram = importlib.import_module("querycloak.methods.dp.histogram_dp")
semantic = importlib.import_module("querycloak.methods.dp.semantic_dp")

TREE = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["thing"], ["fruit"], ["meat"], ["apple"], ["pear"]])


class Spy:
    """Stands in for `add_noise`: adds nothing, and keeps what it was asked for."""

    def __init__(self):
        self.calls = []
        self.sources = []

    def __call__(self, counts, *, sensitivity, epsilon, random):
        self.calls.append((counts.copy(), sensitivity, epsilon))
        self.sources.append(random._path)
        return counts

    def by_name(self, counts, streams, *, sensitivity, epsilon):
        """Stand in for `add_noise_by_name`: each user's noise is from a stream of the user alone."""
        assert len(np.unique(streams.key, axis=0)) == len(streams.key)
        self.calls.append((counts.copy(), sensitivity, epsilon))
        return counts

    @property
    def spent(self):
        return sum(Fraction(epsilon) for _, _, epsilon in self.calls)


@pytest.fixture
def spy(monkeypatch):
    found = Spy()
    for module in (korolova, histogram):
        monkeypatch.setattr(module, "add_noise", found)
    monkeypatch.setattr(histogram, "add_noise_by_name", found.by_name)
    return found


def asked_by(*people):
    """A log in which query i is asked by people[i] users, each of whom asks nothing else."""
    rows = [(f"u{i}.{j}", f"q{i}") for i, n in enumerate(people) for j in range(n)]
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows])


def concept_log(log, concept):
    return ConceptLog(np.arange(len(log), dtype=np.int64), log.user, log.query, np.array(concept, dtype=np.int32))


# frequent-queries with Laplace noise; test_set_union_composition.py has the Gaussian one


def chosen_by_korolova(**values):
    return frequent.FrequentQueries(choose="korolova", **values)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("d", [1, 3])
def test_a_table_spends_its_budget_once(spy, share, d):
    chosen = chosen_by_korolova(epsilon=1.7, delta=1e-3, per_user=d, count_share=share)
    release = frequent.frequent_queries(asked_by(400, 300), chosen, Randomness(1))
    (_, of_choice, to_choose), (shown, of_counts, to_count) = spy.calls
    assert shown.tolist() == [400, 300]
    assert len(set(spy.sources)) == 2, "counts need noise of their own"
    assert of_choice == of_counts == d
    # both products are rounded once, so their sum may miss epsilon by an ulp or two
    assert float(spy.spent) == pytest.approx(1.7, rel=1e-15)
    assert to_count == pytest.approx(1.7 * share)
    said = {**release.statement.figures, **release.statement.parameters}
    assert said["noise scale of the choice"] == scale_for(d, to_choose)
    assert said["threshold"] == korolova.threshold(d, scale_for(d, to_choose), 1e-3)


def test_a_filtered_log_spends_its_budget_on_the_choice(spy):
    chosen = chosen_by_korolova(epsilon=1.7, per_user=2, output_form="log")
    frequent.frequent_queries(asked_by(400), chosen, Randomness(1))
    ((_, sensitivity, epsilon),) = spy.calls
    assert (sensitivity, epsilon) == (2, 1.7)


@pytest.mark.parametrize("form", ["table", "log"])
def test_a_query_is_chosen_at_the_threshold_and_not_below(spy, form):
    chosen = chosen_by_korolova(epsilon=2.0, delta=1e-2, output_form=form)
    of_choice = 2.0 * (0.5 if form == "table" else 1.0)
    least = korolova.threshold(1, scale_for(1, of_choice), 1e-2)
    log = asked_by(least - 1, least, least + 1)
    release = frequent.frequent_queries(log, chosen, Randomness(1))
    assert sorted(release.log.queries.to_list()) == ["q1", "q2"]


@pytest.mark.parametrize("seed", [1, 2, None])
def test_choice_and_counts_have_the_noise_of_the_proof(seed):
    """From outside: 4,000 queries of 5 askers each, threshold 6 by step 2 of the proof, b = b' = 1.

    Each is chosen with P(noise >= 1), and what is shown differs from 5 by fresh noise of scale 1. All three figures
    may miss by 6 standard deviations: twice the budget moves each of them by more than 20, a threshold one lower
    moves the first by 60.
    """
    log, n = asked_by(*[5] * 4000), 4000
    chosen = chosen_by_korolova(epsilon=2.0, delta=1e-2)
    release = frequent.frequent_queries(log, chosen, Randomness(seed))
    a = math.exp(-1.0)
    p = a / (1 + a)
    assert math.ceil(1 + math.log(1 / 1e-2) - math.log1p(a)) == 6
    assert abs(len(release.log) - n * p) < 6 * math.sqrt(n * p * (1 - p))
    noise = release.log.extra["count"].to_numpy() - 5
    deviation = math.sqrt(2 * a) / (1 - a)  # of discrete Laplace noise with a = exp(-1 / b)
    assert abs(noise.mean()) < 6 * deviation / math.sqrt(len(noise))
    zero = (1 - a) / (1 + a)
    assert abs((noise == 0).mean() - zero) < 6 * math.sqrt(zero * (1 - zero) / len(noise))


@st.composite
def clicked_logs(draw):
    """Logs of few users, queries and seconds, with click rows of several users mixed."""
    row = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 1), st.sampled_from([None, "u", "v"]))
    rows = draw(st.lists(row, min_size=1, max_size=16))
    return QueryLog.of(
        [r[0] for r in rows], [r[1] for r in rows], times=[r[2] for r in rows], urls=[r[3] for r in rows]
    )


@given(clicked_logs(), st.integers(1, 3))
@settings(max_examples=60)
def test_no_user_moves_the_counts_by_more_than_the_noise_is_made_for(log, d):
    whole = korolova.first_queries(log, d)
    for user in range(len(log.users)):
        without = korolova.first_queries(log.take(log.user != user), d)
        assert np.abs(whole - without).sum() <= d


# histogram-dp


def histograms(spy, log, concept, most, seed=1, **more):
    chosen = histogram.HistogramDp(epsilon=0.7, per_user_queries=most, domain="all", **more)
    spy.calls.clear()
    histogram.histogram_dp(log, chosen, Randomness(seed), concepts=concept_log(log, concept), taxonomy=TREE)
    return chosen


@given(st.lists(st.integers(-1, 4), min_size=6, max_size=6), st.lists(st.integers(-1, 4), min_size=3, max_size=3),
       st.integers(1, 4))  # fmt: skip
@settings(max_examples=60)
def test_replacing_a_users_queries_stays_within_the_sensitivity(concept, other, most):
    log = QueryLog.of(["a", "a", "a", "b", "b", "b"], list("uvwxyz"))
    spy, true = Spy(), histogram.add_noise_by_name
    histogram.add_noise_by_name = spy.by_name
    try:
        histograms(spy, log, concept, most)
        ((before, sensitivity, epsilon),) = spy.calls
        histograms(spy, log, other + concept[3:], most)
        ((after, _, _),) = spy.calls
    finally:
        histogram.add_noise_by_name = true
    assert epsilon == 0.7
    assert sensitivity == 2 * most
    assert np.abs(before - after).sum() <= sensitivity


def test_the_sensitivity_of_histograms_is_reached(spy):
    """One user leaves `most` bins for `most` others: a smaller sensitivity would be wrong."""
    log = QueryLog.of(["a"] * 3, list("xyz"))
    histograms(spy, log, [2, 2, 2], 3)
    first, sensitivity, _ = spy.calls[0]
    histograms(spy, log, [3, 3, 3], 3, seed=None)
    assert np.abs(first - spy.calls[0][0]).sum() == sensitivity == 6


# semantic-dp


@pytest.mark.parametrize("per_user", [None, 2, 5])
def test_the_draws_of_every_user_add_up_to_at_most_epsilon(monkeypatch, per_user):
    seen = []

    def draw(self, concept, epsilon, random, block=0):
        seen.append(epsilon)
        return concept

    monkeypatch.setattr(Mechanism, "draw", draw)
    users = ["a"] * 7 + ["b"] * 3 + ["c"]
    log = QueryLog.of(users, [f"q{i}" for i in range(len(users))])
    concepts = concept_log(log, [1 + i % 4 for i in range(len(users))])
    chosen = semantic.SemanticDp(shape="paper", epsilon=0.9, per_user_queries=per_user)
    semantic.semantic_dp(log, chosen, Randomness(1), concepts=concepts, taxonomy=TREE)
    (epsilon,) = seen
    most = len(users) if per_user is None else per_user
    owner = [u for u in "abc" for _ in range(min(users.count(u), most))]
    assert len(epsilon) == len(owner)
    for user in "abc":
        spent = [Fraction(e) for e, o in zip(epsilon.tolist(), owner, strict=True) if o == user]
        assert sum(spent) <= Fraction(0.9)
        share = len(spent) if per_user is None else per_user
        assert [float(s) for s in spent] == pytest.approx([0.9 / share] * len(spent))


@pytest.mark.parametrize("rows", [1, 3, 20, 49])
def test_the_rows_of_every_user_add_up_to_at_most_epsilon(monkeypatch, rows):
    seen = []

    def draw(self, concept, epsilon, streams):
        seen.append(np.full(len(streams.key), epsilon))
        assert len(concept) == len(np.unique(np.column_stack([streams.key, streams.number]), axis=0))
        return concept

    monkeypatch.setattr(Mechanism, "draw_each", draw)
    users = ["a"] * 7 + ["b"]
    log = QueryLog.of(users, [f"q{i}" for i in range(len(users))])
    concepts = concept_log(log, [1 + i % 4 for i in range(len(users))])
    chosen = semantic.SemanticDp(epsilon=0.9, rows_per_user=rows)
    semantic.semantic_dp(log, chosen, Randomness(1), concepts=concepts, taxonomy=TREE)
    (epsilon,) = seen
    assert len(epsilon) == 2 * rows
    (each,) = set(epsilon.tolist())
    assert rows * Fraction(each) <= Fraction(0.9)
    assert rows * each == pytest.approx(0.9)
