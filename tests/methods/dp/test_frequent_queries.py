"""frequent-queries: the published formula, and the guarantee computed on the noise that runs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import Notes

import querycloak as qc
from querycloak.errors import ParameterError, UserError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.dp import _noise
from querycloak.methods.dp._noise import add_noise, scale_for
from querycloak.methods.dp.frequent_queries import FrequentQueries, threshold
from querycloak.randomness import Randomness


def crowd(n=400, asks=("weather", "news")):
    """n users who all ask the same, and one query each that nobody else asks."""
    rows = [(f"u{i}", q) for i in range(n) for q in (*asks, f"secret of {i}")]
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows])


def tail(k, scale):
    """P(noise >= k), k >= 0, of the discrete Laplace distribution."""
    a = math.exp(-1 / scale)
    return a**k / (1 + a)


@given(st.integers(1, 50), st.floats(0.01, 20), st.floats(1e-12, 0.999))
def test_threshold_keeps_delta_and_is_never_below_the_published_one(d, epsilon, delta):
    scale = scale_for(d, epsilon)
    k = threshold(d, scale, delta)
    published = d * (1 - math.log(2 * delta / d) / epsilon)
    assert k >= published * (1 - 1e-12)
    assert k >= d
    # ways to spread d queries over queries of one's own: one query d times, or d queries once; the rest lie between
    for worst in (tail(k - d, scale), d * tail(k - 1, scale)):
        assert worst <= delta * (1 + 1e-9)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_guarantee_over_all_outcomes_of_choosing(d):
    """For every way that one user may add up to d queries: P(S | a) <= e^ε P(S | b) + δ for the worst S, both ways."""
    epsilon, delta = 1.0, 1e-3
    scale = scale_for(d, epsilon)
    k = threshold(d, scale, delta)

    def chosen(count):
        return tail(k - count, scale) if count <= k else 1 - tail(count - k + 1, scale)

    def outcomes(counts):
        probability = {}
        for mask in range(1 << len(counts)):
            bits = [mask >> i & 1 for i in range(len(counts))]
            probability[mask] = math.prod(
                (chosen(c) if c else 0.0) if b else 1 - (chosen(c) if c else 0.0)
                for b, c in zip(bits, counts, strict=True)
            )
        return probability

    shares = [(a, b) for a in range(d + 1) for b in range(d + 1 - a)]
    for others in [(0, 0), (0, k - 1), (k, 0), (k - 1, k + d)]:
        without = outcomes(others)
        for a, b in shares:
            with_user = outcomes((others[0] + a, others[1] + b))
            for p, q in ((with_user, without), (without, with_user)):
                excess = sum(max(0.0, p[s] - math.exp(epsilon) * q[s]) for s in p)
                assert excess <= delta * (1 + 1e-9)


def test_common_queries_are_published_and_secrets_are_not():
    release = qc.anonymize(crowd(), "frequent-queries", seed=1, per_user=3)
    assert sorted(release.log.queries.to_list()) == ["news", "weather"]
    assert release.kind == "counts"
    assert release.log.extra["count"].to_list() == pytest.approx([400, 400], abs=30)  # noise of scale 2.6
    assert release.truth is None


def test_only_the_first_queries_of_a_user_count():
    log = QueryLog.of(["a"] * 600 + [f"u{i}" for i in range(300)], ["spam"] * 600 + ["tea"] * 300)
    told = Notes()
    release = qc.anonymize(log, "frequent-queries", seed=1, per_user=2, progress=told)
    assert release.log.queries.to_list() == ["tea"]
    assert "598 beyond the first queries of a user" in told.notes[0]


def test_further_clicks_of_a_query_count_once():
    log = QueryLog.of(["a", "a", "b"], ["x", "x", "x"], times=[5, 5, 9], urls=["u", "v", "u"])
    told = Notes()
    qc.anonymize(log, "frequent-queries", seed=1, per_user=5, progress=told)
    assert "1 further clicks of a query" in told.notes[0]
    assert "2 query not frequent enough" in told.notes[0]


def test_the_filtered_log_is_said_to_be_none():
    log = crowd()
    release = qc.anonymize(log, "frequent-queries", seed=1, per_user=3, output_form="log")
    assert release.kind == "log"
    assert Counter(release.log.queries.gather(release.log.query).to_list()) == {"weather": 400, "news": 400}
    assert (release.statement.model, release.statement.unit, release.statement.parameters) == ("none", "none", {})
    assert "not differentially private" in release.statement.does_not_cover[0]
    # nothing goes to counts, so scale and threshold are the published ones
    assert release.statement.figures["noise scale of the choice"] == pytest.approx(3 / math.log(10))
    assert release.statement.figures["threshold"] >= 3 * (1 - math.log(2e-5 / 3) / math.log(10))


def test_the_order_of_the_table_is_its_own():
    log = QueryLog.of([f"u{i}" for i in range(900)], ["b"] * 300 + ["a"] * 600)
    assert qc.anonymize(log, "frequent-queries", seed=1).log.queries.to_list() == ["a", "b"]


@pytest.mark.parametrize("values", [{"epsilon": 0}, {"epsilon": math.nan}, {"epsilon": math.inf}, {"delta": 0},
                                    {"delta": 1}, {"delta": 2.0}, {"delta": math.nan}, {"per_user": 0},
                                    {"count_share": 1.0}])  # fmt: skip
def test_bad_settings_are_refused(values):
    with pytest.raises(ParameterError, match=f"FrequentQueries.{next(iter(values))} must be"):
        FrequentQueries(**values)


@pytest.mark.parametrize("seed", [3, None])
@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_noise_has_its_distribution(seed, scale):
    """Frequencies of OpenDP's and of NumPy's noise against the formula; 5 standard deviations, 12 numbers, 4 cases."""
    n = 20_000
    noise = add_noise(np.zeros(n, dtype=np.int64), sensitivity=1, epsilon=1 / scale, random=Randomness(seed))
    a = math.exp(-1 / scale)
    for k in (-3, -1, 0, 1, 3, 6):
        p = (1 - a) / (1 + a) * a ** abs(k)
        assert abs((noise == k).mean() - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-9


def test_without_the_library_an_unseeded_run_is_refused(monkeypatch):
    monkeypatch.setattr(_noise, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"querycloak\[dp\]"):
        qc.anonymize(crowd(5), "frequent-queries")
    qc.anonymize(crowd(5), "frequent-queries", seed=1)


def test_the_statement_names_the_source_of_noise():
    assert "OpenDP" in qc.anonymize(crowd(5), "frequent-queries").statement.randomness
    assert "NumPy" in qc.anonymize(crowd(5), "frequent-queries", seed=1).statement.randomness
