"""semantic-dp in the paper's shape: what is published, what is spent, what is said."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import budget as reference
from samples import Notes, sample_log

import querycloak as qc
from querycloak.errors import ParameterError, UnknownNameError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topics import read_topics
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp._semantic_dp_calibration import Calibration
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
from querycloak.methods.dp._semantic_dp_paper import epsilon_of_draws
from querycloak.methods.dp._semantic_dp_statement import promised
from querycloak.methods.dp.semantic_dp import SemanticDp, prepare, semantic_dp
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.ledger import make_ledger, read_ledger

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
    chosen = SemanticDp(**{"shape": "paper", **settings})
    made = semantic_dp(log, chosen, Randomness(seed), told or QUIET, concepts=concepts, taxonomy=FOOD)
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
    assert prepare(SemanticDp(shape="paper", domain="one", topics=str(tmp_path / "t")), FOOD).domains == (1,)


def test_per_user_queries_cut_the_budget_and_the_rows():
    told = Notes()
    log, release = run(epsilon=1e6, per_user_queries=2, told=told)
    assert texts(log, release) == {"ann": ["apple tennis"], "bob": ["golf", "golf"]}
    assert "1 beyond the user's budget" in told.notes[0]
    log, release = run(epsilon=1e6, per_user_queries=1)
    assert texts(log, release) == {"ann": ["pear"], "bob": ["golf"]}


def test_draws_of_a_user_never_add_up_to_more_than_epsilon():
    for m in (1, 3, 7, 10, 49, 1000):
        for more in ({}, {"per_user_queries": m}):
            shares = epsilon_of_draws(SemanticDp(shape="paper", epsilon=0.7, **more), np.zeros(m, dtype=np.int32), 1)
            assert sum(map(Fraction, shares.tolist())) <= Fraction(0.7)
            assert math.fsum(shares) == pytest.approx(0.7)
            times = SemanticDp(shape="paper", epsilon=0.7, per_user_queries=m, epsilon_times=3)
            shares = epsilon_of_draws(times, np.zeros(3 * m, dtype=np.int32), 1)
            assert sum(map(Fraction, shares.tolist())) <= Fraction(promised(times))
            assert math.fsum(shares) == pytest.approx(2.1)


def test_who_cannot_pay_has_as_many_rows_and_pays_nothing(tmp_path):
    path = tmp_path / "ledger.db"
    make_ledger(path, log="food", epsilon=6.5)
    kept = []
    for seed in range(3):
        log, release = run(seed=seed, shape="user", rows_per_user=2, epsilon=3.0, ledger=str(path), ledger_log="food")
        kept.append({u: len(t) for u, t in texts(log, release).items()})
    everybody = {"ann": 2, "bob": 2, "cem": 2}  # cem has no concept, and pays for blind rows all the same
    assert kept == [everybody, everybody, everybody]
    assert read_ledger(path).epsilons() == pytest.approx([6.0] * 3)
    assert release.statement.settings["ledger"] == "ledger.db"


def test_a_failure_after_the_reservation_gives_nothing_back(tmp_path, monkeypatch):
    from querycloak.methods.dp import semantic_dp as module

    def fail(*_, **__):
        raise RuntimeError("power cut")

    make_ledger(tmp_path / "l.db", log="food", epsilon=4.0)
    monkeypatch.setattr(module, "publish_log", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        run(shape="user", epsilon=3.0, ledger=str(tmp_path / "l.db"), ledger_log="food")
    assert read_ledger(tmp_path / "l.db").epsilons() == pytest.approx([3.0] * 3)


def test_a_ledger_needs_the_name_of_its_log():
    with pytest.raises(ParameterError, match="--ledger-log"):
        SemanticDp(ledger="x.db")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ledger": "x.db", "ledger_log": "x"}, "needs --shape user"),
        ({"epsilon_times": 2}, "needs --per-user-queries"),
        ({"rows_per_user": 5}, "option of --shape user"),
        ({"epsilon_for": "query", "per_user_queries": 3}, "no budget of a user is kept"),
    ],
)
def test_settings_that_mean_nothing_together_are_refused(settings, words):
    with pytest.raises(ParameterError, match=words):
        SemanticDp(shape="paper", **settings)


@pytest.mark.parametrize("shape", ["user", "paper"])
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e9, "1"])
def test_bad_epsilons_are_refused(epsilon, shape):
    with pytest.raises(ParameterError, match=r"SemanticDp.epsilon must be a finite number > 0"):
        SemanticDp(epsilon=epsilon, shape=shape)


def test_epsilon_for_a_query_is_for_each_unit_and_promises_nothing_for_users(monkeypatch):
    seen = spy_on_draws(monkeypatch)
    _, release = run(epsilon=2.0, epsilon_for="query")
    assert seen == [[2.0] * 5]
    assert release.statement.unit == "query"
    assert release.statement.parameters == {"epsilon": 2.0}
    assert release.statement.model.endswith("not of a user")
    assert any("nothing is promised for users" in line for line in release.statement.does_not_cover)


def test_times_epsilon_buys_further_draws_at_the_same_share(monkeypatch):
    """The second option of section 3.2: what goes beyond is published too, and the promise is a · ε."""
    seen = spy_on_draws(monkeypatch)
    log, release = run(epsilon=2.0, per_user_queries=1, epsilon_times=3)
    assert texts(log, release) == {"ann": ["apple tennis", "pear"], "bob": ["golf", "golf"]}
    assert seen == [[math.nextafter(2.0, 0.0)] * 5]
    assert release.statement.parameters == {"epsilon": 6.0}
    assert any("3 times the epsilon" in line for line in release.statement.does_not_cover)


def spy_on_draws(monkeypatch):
    seen = []

    def draw(self, concept, epsilon, random, block=0):
        seen.append(epsilon.tolist())
        return concept

    monkeypatch.setattr(Mechanism, "draw", draw)
    return seen


@pytest.mark.parametrize(
    ("settings", "digest"),
    [
        ({}, "4aca333e6f1c2900"),
        ({"domain": "topics", "criterion": "sqc2", "epsilon": 5.0}, "737a40576912e234"),
        ({"domain": "one", "criterion": "nsqc", "per_user_queries": 3}, "25f867716a4e3fae"),
        ({"rebuild": "paper", "domain": "disease", "epsilon": 50.0}, "55e03744499d1d71"),
    ],
)
def test_with_the_papers_rate_releases_are_those_of_before_the_calibration(monkeypatch, settings, digest):
    """Digests of releases made when the weights had ε/2 and there was no other shape: all else is as it was."""
    monkeypatch.setattr(Calibration, "rate", lambda self, epsilon, domain: epsilon / 2)
    log = sample_log(users=30, queries=9)
    release = qc.anonymize(log, "semantic-dp", seed=3, shape="paper", mapping="segments", **settings)
    people, queries = log.users.gather(release.truth.user).to_list(), release.log.queries.to_list()
    asked = [(people[u], queries[q]) for u, q in zip(release.log.user, release.log.query, strict=True)]
    rows = [f"{person}\t{query}" for person, query in sorted(asked, key=lambda row: row[0])]  # whatever the ids are
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16] == digest


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


@pytest.mark.needs_jit  # the worst case of a large domain, in plain Python
@pytest.mark.parametrize("rebuild", ["shape", "paper"])
def test_rebuilt_texts_keep_words_and_say_so(rebuild):
    log = QueryLog.of(["a", "a", "b"], ["exciting water sports in the mediterranean", "zzzqqq", "how to cure asthma"])
    notes = Notes()
    release = qc.anonymize(log, "semantic-dp", seed=2, shape="paper", epsilon=1e6, rebuild=rebuild, progress=notes)
    found = {q for t in texts(log, release).values() for q in t}
    keeps = "exciting " if rebuild == "paper" else ""
    assert any(t.startswith(f"{keeps}water sports in the ") for t in found), found
    assert not any("zzzqqq" in t for t in found), "a unit without a concept is left out with its words"
    assert any("epsilon does not cover" in n for n in notes.notes)
    assert any("as they were" in line for line in release.statement.does_not_cover)


def test_label_keeps_no_word_that_is_no_label():
    log = QueryLog.of(["a"] * 2, ["john smith of smalltown cheap asthma", "exciting tennis 1234"])
    release = qc.anonymize(log, "semantic-dp", seed=2, shape="paper", epsilon=0.01, domain="disease")
    words = " ".join(release.log.queries.to_list())
    assert "smalltown" not in words
    assert not any("as they were" in line for line in release.statement.does_not_cover)


@pytest.mark.needs_jit  # the worst case of a large domain, in plain Python
def test_a_sample_log_over_wordnet_is_reproducible_and_unlike_itself():
    log = sample_log()
    first, second = (qc.anonymize(log, "semantic-dp", seed=s, shape="paper", domain="one") for s in (1, 1))
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


def test_the_papers_weights_use_half_of_epsilon_and_need_the_papers_shape():
    with pytest.raises(ParameterError, match="--weights paper needs --shape paper"):
        SemanticDp(weights="paper")
    taxonomy = qc.load_taxonomy()
    settings = SemanticDp(shape="paper", weights="paper", domain="topics", criterion="nsqc", epsilon=4.0)
    assert prepare(settings, taxonomy).calibration.rate(4.0, 0) == 2.0
    calibrated = SemanticDp(shape="paper", domain="topics", criterion="nsqc", epsilon=4.0)
    assert prepare(calibrated, taxonomy).calibration.rate(4.0, 0) == 4.0


def test_the_fine_topics_of_the_paper_are_domains_of_their_own():
    taxonomy = qc.load_taxonomy()
    fine = read_topics("paper-fine", taxonomy)
    assert fine.main == fine.fine == read_topics("paper", taxonomy).fine
    assert len(fine.main) == 19
    settings = SemanticDp(shape="paper", domain="topics", topics="paper-fine")
    assert prepare(settings, taxonomy).domains == fine.main
