"""semantic-dp as a method: what is published, what is spent, what is said."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import budget as reference
from samples import Notes, sample_log

import querycloak as qc
from querycloak.errors import ParameterError, UnknownNameError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp.semantic_dp import SemanticDp, prepare, semantic_dp
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.ledger import read_ledger

FOOD = Taxonomy.from_parents(
    [-1, 0, 0, 1, 1, 2, 2],
    [["thing"], ["fruit"], ["sport"], ["apple"], ["pear"], ["tennis"], ["golf"]],
)  # depth-first: thing 0, fruit 1, apple 2, pear 3, sport 4, tennis 5, golf 6


def log_of(*rows):
    """Rows (user, query, concepts) → log and concepts."""
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows])
    flat = [(i, c) for i, r in enumerate(rows) for c in r[2]]
    row = np.array([i for i, _ in flat], dtype=np.int64)
    concept = np.array([c for _, c in flat], dtype=np.int32)
    return log, ConceptLog(row, log.user[row], log.query[row], concept)


ROWS = (
    ("ann", "apple tennis", (2, 5)),
    ("ann", "unknown", (-1,)),
    ("ann", "pear", (3,)),
    ("bob", "golf", (6,)),
    ("bob", "golf xyz", (6, -1)),
    ("cem", "nothing here", (-1, -1)),
)


def run(rows=ROWS, seed=1, told=None, **settings):
    log, concepts = log_of(*rows)
    made = semantic_dp(log, SemanticDp(**settings), Randomness(seed), told or QUIET, concepts=concepts, taxonomy=FOOD)
    return log, made


def texts(log, release):
    out = {}
    for u, q in zip(release.log.user.tolist(), release.log.query.tolist(), strict=True):
        out.setdefault(log.users[int(release.truth.user[u])], []).append(release.log.queries[q])
    return out


def test_with_a_huge_epsilon_every_query_is_its_own_label():
    told = Notes()
    log, release = run(epsilon=1e6, told=told)
    assert texts(log, release) == {"ann": ["apple tennis", "pear"], "bob": ["golf", "golf"]}
    assert "2 no concept" in told.notes[0]


def test_as_many_rows_per_user_as_queries_that_map_and_nothing_of_the_original():
    log, release = run(epsilon=1e-9)
    found = texts(log, release)
    assert {u: len(t) for u, t in found.items()} == {"ann": 2, "bob": 2}
    labels = {FOOD.label(c) for c in range(len(FOOD))}
    assert {w for t in found.values() for text in t for w in text.split()} <= labels
    assert [len(t.split()) for t in found["ann"]] == [2, 1]


def test_topics_keep_their_topic(tmp_path):
    (tmp_path / "topics.txt").write_text("fruit\nsport\n")
    for seed in range(5):
        log, release = run(seed=seed, epsilon=0.1, domain="topics", topics=str(tmp_path / "topics.txt"))
        first, second = texts(log, release)["ann"][0].split()
        assert first in {"fruit", "apple", "pear"}
        assert second in {"sport", "tennis", "golf"}
    assert any("topic of every query is visible" in line for line in release.statement.does_not_cover)
    assert release.statement.settings["topics"] == "topics.txt"


def test_a_domain_by_name_leaves_the_rest_out():
    told = Notes()
    log, release = run(epsilon=1e6, domain="fruit", told=told)
    assert texts(log, release) == {"ann": ["apple", "pear"]}
    assert "2 concept outside the domain" in told.notes[0]


def test_one_domain_is_the_lowest_above_all_topics(tmp_path):
    (tmp_path / "t").write_text("apple\npear\n")
    assert prepare(SemanticDp(domain="one", topics=str(tmp_path / "t")), FOOD).domains == (1,)


def test_per_user_queries_cut_the_budget_and_the_rows():
    told = Notes()
    log, release = run(epsilon=1e6, per_user_queries=2, told=told)
    assert texts(log, release) == {"ann": ["apple tennis"], "bob": ["golf", "golf"]}
    assert "1 beyond the user's budget" in told.notes[0]
    log, release = run(epsilon=1e6, per_user_queries=1)
    assert texts(log, release) == {"ann": ["pear"], "bob": ["golf"]}


def test_draws_of_a_user_never_add_up_to_more_than_epsilon():
    from querycloak.methods.dp.semantic_dp import _epsilon_of_draws

    for m in (1, 3, 7, 10, 49, 1000):
        for settings in (SemanticDp(epsilon=0.7), SemanticDp(epsilon=0.7, per_user_queries=m)):
            shares = _epsilon_of_draws(settings, np.zeros(m, dtype=np.int32), 1)
            assert sum(map(float_to_fraction, shares.tolist())) <= float_to_fraction(0.7)
            assert math.fsum(shares) == pytest.approx(0.7)


def float_to_fraction(x):
    from fractions import Fraction

    return Fraction(x)


def test_the_ledger_takes_what_fits_and_counts_the_rest(tmp_path):
    path = str(tmp_path / "ledger.db")
    kept = []
    for seed in range(3):
        told = Notes()
        log, release = run(seed=seed, epsilon=3.0, per_user_queries=4, ledger=path, told=told)
        kept.append({u: len(t) for u, t in texts(log, release).items()})
    assert kept == [{"ann": 2, "bob": 2}, {"ann": 1, "bob": 2}, {}]
    assert "4 beyond the user's budget" in told.notes[0]
    assert read_ledger(path).spent == (4, 4)
    assert release.statement.settings["ledger"] == "ledger.db"
    assert "all releases of this ledger" in release.statement.covers[0]


def test_a_failure_after_the_reservation_gives_nothing_back(tmp_path, monkeypatch):
    from querycloak.methods.dp import semantic_dp as module

    def fail(*_, **__):
        raise RuntimeError("power cut")

    monkeypatch.setattr(module, "publish_log", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        run(epsilon=3.0, per_user_queries=4, ledger=str(tmp_path / "l.db"))
    assert read_ledger(tmp_path / "l.db").spent == (2, 3)


def test_a_ledger_needs_a_number_of_draws():
    with pytest.raises(ParameterError, match="--per-user-queries"):
        SemanticDp(ledger="x.db")


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1"])
def test_bad_epsilons_are_refused(epsilon):
    with pytest.raises(ParameterError, match=r"SemanticDp.epsilon must be a finite number > 0"):
        SemanticDp(epsilon=epsilon)


def test_an_unknown_domain_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="'apple'"):
        run(domain="aple")


def test_the_statement_says_what_is_not_covered():
    _, release = run()
    said = " ".join(release.statement.does_not_cover)
    for words in ("how many queries each user has", "left out", "add up"):
        assert words in said
    assert release.statement.unit == "user"
    assert release.statement.parameters == {"epsilon": 1.0}


@pytest.mark.parametrize("rebuild", ["shape", "paper"])
def test_rebuilt_texts_keep_words_and_say_so(rebuild):
    log = QueryLog.of(["a", "a", "b"], ["exciting water sports in the mediterranean", "zzzqqq", "how to cure asthma"])
    notes = Notes()
    release = qc.anonymize(log, "semantic-dp", seed=2, epsilon=1e6, rebuild=rebuild, progress=notes)
    found = {q for t in texts(log, release).values() for q in t}
    keeps = "exciting " if rebuild == "paper" else ""
    assert any(t.startswith(f"{keeps}water sports in the ") for t in found), found
    assert not any("zzzqqq" in t for t in found), "a unit without a concept is left out with its words"
    assert any("epsilon does not cover" in n for n in notes.notes)
    assert any("as they were" in line for line in release.statement.does_not_cover)


def test_label_keeps_no_word_that_is_no_label():
    log = QueryLog.of(["a"] * 2, ["john smith of smalltown cheap asthma", "exciting tennis 1234"])
    release = qc.anonymize(log, "semantic-dp", seed=2, epsilon=0.01, domain="disease")
    words = " ".join(release.log.queries.to_list())
    assert "smalltown" not in words
    assert not any("as they were" in line for line in release.statement.does_not_cover)


def test_a_sample_log_over_wordnet_is_reproducible_and_unlike_itself():
    log = sample_log()
    first, second = (qc.anonymize(log, "semantic-dp", seed=s, criterion="sqc2", domain="one") for s in (1, 1))
    assert first.log.queries.equals(second.log.queries)
    before = Counter(log.queries.to_list())
    assert sum((Counter(first.log.queries.to_list()) & before).values()) < 5


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=20),
    st.lists(st.integers(0, 6), min_size=3, max_size=3),
)
def test_taking_what_fits(rows, left):
    user, units = [r[0] for r in rows], [r[1] for r in rows]
    found = take_fitting(np.array(user, np.int32), np.array(units, np.int64), np.array(left, np.int64))
    assert found.tolist() == reference.take_fitting(user, units, left)
