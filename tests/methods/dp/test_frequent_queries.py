"""frequent-queries: the published formula, and the guarantee computed on the noise that runs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import querycloak as qc
from querycloak.errors import ParameterError, UserError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.dp import _noise
from querycloak.methods.dp._korolova import first_queries, threshold
from querycloak.methods.dp._noise import add_noise, scale_for
from querycloak.methods.dp.frequent_queries import FrequentQueries
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


@pytest.mark.parametrize("choose", ["sips", "gaussian", "korolova"])
def test_common_queries_are_published_and_secrets_are_not(choose):
    release = qc.anonymize(crowd(), "frequent-queries", seed=1, per_user=3, choose=choose)
    assert sorted(release.log.queries.to_list()) == ["news", "weather"]
    assert release.kind == "counts"
    # noise of scale 2.6 (korolova), of deviation 10 (set union)
    assert release.log.extra["count"].to_list() == pytest.approx([400, 400], abs=60)
    assert release.log.extra.columns == ["count"]
    assert release.truth is None


def test_only_the_first_queries_of_a_user_count():
    log = QueryLog.of(["a"] * 600 + [f"u{i}" for i in range(300)], ["spam"] * 600 + ["tea"] * 300)
    for choose in ("sips", "korolova"):
        release = qc.anonymize(log, "frequent-queries", seed=1, per_user=2, choose=choose)
        assert release.log.queries.to_list() == ["tea"]


def test_further_clicks_of_a_query_count_once():
    log = QueryLog.of(["a", "a", "b"], ["x", "x", "x"], times=[5, 5, 9], urls=["u", "v", "u"])
    assert first_queries(log, 5).tolist() == [2]
    assert first_queries(log, 1).tolist() == [2]


def test_phrases_and_clicks_are_rows_of_their_own():
    """400 people ask "green tea", half of them click one site and each another one of their own; 300 ask "tea"."""
    rows = [(f"u{i}", "green tea", "tea.example" if i % 2 else f"own{i}.example") for i in range(400)]
    rows += [(f"v{i}", "tea", None) for i in range(300)]
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows], urls=[r[2] for r in rows])
    release = qc.anonymize(log, "frequent-queries", seed=1, epsilon=5, items="both", clicks=True)
    table = release.log
    found = dict(
        zip(
            zip(table.extra["kind"], table.queries.gather(table.query), table.url.tolist(), strict=True),
            table.extra["count"].to_list(),
            strict=True,
        )
    )
    expected = {
        ("query", "green tea", -1): 400,
        ("query", "tea", -1): 300,
        ("phrase", "tea", -1): 700,
        ("phrase", "green", -1): 400,
        ("phrase", "green tea", -1): 400,
        ("click", "green tea", 0): 200,
    }
    assert found == {key: pytest.approx(n, abs=60) for key, n in expected.items()}
    assert table.urls.to_list() == ["tea.example"]


@pytest.mark.parametrize("choose", ["sips", "gaussian"])
def test_a_set_union_takes_all_settings_to_their_ends(choose):
    log = crowd(60)
    release = qc.anonymize(log, "frequent-queries", seed=1, choose=choose, per_user=10_000, counted_per_user=10**6)
    assert sorted(release.log.queries.to_list()) == ["news", "weather"]
    release = qc.anonymize(log, "frequent-queries", seed=1, choose=choose, epsilon=1e-9)
    assert release.log.queries.to_list() == []
    release = qc.anonymize(log, "frequent-queries", seed=1, choose=choose, weights="equal", epsilon=20.0)
    assert sorted(release.log.queries.to_list()) == ["news", "weather"]


def test_the_filtered_log_is_said_to_be_none():
    log = crowd()
    release = qc.anonymize(log, "frequent-queries", seed=1, per_user=3, output_form="log", choose="korolova")
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
                                    {"count_share": 1.0}, {"epsilon": 1e9}, {"epsilon": -1}, {"delta": -1e-9},
                                    {"choose": "laplace"},
                                    {"items": "phrases", "choose": "korolova"}, {"items": "both", "output_form": "log"},
                                    {"clicks": True, "items": "phrases"}, {"clicks": True, "choose": "korolova"},
                                    {"rounds": 11}, {"counted_per_user": 0}])  # fmt: skip
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
        assert (
            abs((noise == k).mean() - p) < 5 * math.sqrt(p * (1 - p) / n) + 3 / n
        )  # 3: of what is seen once in a while


def test_without_the_library_an_unseeded_run_is_refused(monkeypatch):
    monkeypatch.setattr(_noise, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"querycloak\[dp\]"):
        qc.anonymize(crowd(5), "frequent-queries")
    qc.anonymize(crowd(5), "frequent-queries", seed=1)


def test_the_statement_names_the_source_of_noise():
    assert "OpenDP" in qc.anonymize(crowd(5), "frequent-queries").statement.randomness
    assert "NumPy" in qc.anonymize(crowd(5), "frequent-queries", seed=1).statement.randomness
