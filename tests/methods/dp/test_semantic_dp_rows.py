"""semantic-dp at user level: as many rows for everybody, and nothing of a user but through the draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import semantic_dp as reference
from samples import Notes, sample_log

import querycloak as qc
from querycloak.errors import GateError, ParameterError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp import _semantic_dp_rows as module
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
from querycloak.methods.dp._semantic_dp_rows import numbers_below
from querycloak.methods.dp.semantic_dp import SemanticDp, prepare, semantic_dp
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.ledger import make_ledger, read_ledger

FOOD = Taxonomy.from_parents(
    [-1, 0, 0, 1, 1, 2, 2],
    [["thing"], ["fruit"], ["sport"], ["apple"], ["pear"], ["tennis"], ["golf"]],
)  # depth-first: thing 0, fruit 1, apple 2, pear 3, sport 4, tennis 5, golf 6
LABELS = [FOOD.label(c) for c in range(len(FOOD))]
ROWS = (
    ("ann", "apple tennis", (2, 5)),
    ("ann", "unknown", (-1,)),
    ("ann", "pear", (3,)),
    ("bob", "golf", (6,)),
    ("bob", "golf xyz", (6, -1)),
    ("cem", "nothing here", (-1, -1)),
)


def log_of(*rows):
    """Rows (user, query, concepts) → log and concepts."""
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows])
    flat = [(i, c) for i, r in enumerate(rows) for c in r[2]]
    row = np.array([i for i, _ in flat], dtype=np.int64)
    concept = np.array([c for _, c in flat], dtype=np.int32)
    return log, ConceptLog(row, log.user[row], log.query[row], concept)


def run(rows=ROWS, seed=1, told=None, learned=False, **chosen):
    log, concepts = log_of(*rows)
    concepts = ConceptLog(concepts.row, concepts.user, concepts.query, concepts.concept, learned)
    made = semantic_dp(
        log, SemanticDp(**chosen), Randomness(seed), told or QUIET, concepts=concepts, taxonomy=FOOD
    )  # fmt: skip
    return log, made


def texts(log, release):
    out = {}
    for u, q in zip(release.log.user.tolist(), release.log.query.tolist(), strict=True):
        out.setdefault(log.users[int(release.truth.user[u])], []).append(release.log.queries[q])
    return out


# how many rows there are


@pytest.mark.parametrize("rows", [1, 7, 20])
def test_every_user_has_exactly_r_rows_whatever_was_asked(rows):
    """Nothing mapped, one unit, ten thousand units: r rows each."""
    many = [("dan", f"q{i}", (2 + i % 5,)) for i in range(10_000)]
    log, release = run((*ROWS, ("eve", "pear", (3,)), *many), rows_per_user=rows)
    assert {u: len(t) for u, t in texts(log, release).items()} == dict.fromkeys(log.users.to_list(), rows)
    assert release.statement.counts_out["rows"] == rows * len(log.users)


@pytest.mark.needs_jit  # the worst case of a large domain, in plain Python
def test_the_default_is_twenty_rows_over_a_real_mapping():
    log = sample_log()
    release = qc.anonymize(log, "semantic-dp", seed=1)
    assert set(Counter(release.log.user.tolist()).values()) == {20}
    assert len(release.log.users) == len(log.users)
    assert release.log.time is release.log.rank is release.log.url is None


def test_users_without_a_row_are_not_in_the_log():
    """Parts of a log keep the names of all users; who has no row is not in the part."""
    log, concepts = log_of(*ROWS)
    part = log.take(log.user != 1)
    kept = concepts.user != 1
    row = np.searchsorted(np.flatnonzero(log.user != 1), concepts.row[kept])
    fewer = ConceptLog(row, concepts.user[kept], concepts.query[kept], concepts.concept[kept])
    release = semantic_dp(part, SemanticDp(), Randomness(1), concepts=fewer, taxonomy=FOOD)
    assert sorted(release.truth.user.tolist()) == [0, 2]


def test_every_row_is_one_label_and_nothing_else():
    log, release = run(epsilon=1e6, rows_per_user=300)
    found = texts(log, release)
    assert set(found["ann"]) == {"apple", "tennis", "pear"}
    assert set(found["bob"]) == {"golf"}
    assert set(found["cem"]) == set(LABELS), "without a unit, a user draws from the whole domain"


# what a row is drawn from


def expected_row(mechanism, units, each):
    """The distribution of one row by its definition: the mean over the user's units; uniform without one."""
    if not units:
        return [Fraction(1, len(FOOD))] * len(FOOD)
    chances = [mechanism.probabilities(c, each) for c in units]
    return [sum(p[o] for p in chances) / len(units) for o in range(len(FOOD))]


def chi_square_normal(found, wanted):
    """The chi-square statistic as a standard normal number (Wilson and Hilferty); 4.3 is a p-value of 1e-5."""
    statistic, freedom = ((found - wanted) ** 2 / wanted).sum(), len(found) - 1
    return ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / (2 / (9 * freedom)) ** 0.5


@pytest.mark.parametrize("units", [(), (2,), (2, 2, 2, 5), (0, 1, 2, 3, 4, 5, 6)])
def test_rows_follow_the_mean_over_the_units(units):
    rows = 6000
    log, release = run((("a", "x", units or (-1,)), ("b", "y", (4,))), epsilon=3.0 * rows, rows_per_user=rows)
    mechanism = Mechanism.over(FOOD, [0], criterion="sqc1")
    wanted = np.array([float(p) for p in expected_row(mechanism, units, 3.0)]) * rows
    seen = Counter(texts(log, release)["a"])
    assert chi_square_normal(np.array([seen[label] for label in LABELS]), wanted) < 4.3


@given(
    st.lists(st.integers(0, 6), max_size=4),
    st.lists(st.integers(0, 6), max_size=4),
    st.sampled_from(["sqc1", "sqc2", "nsqc"]),
    st.sampled_from([0.05, 0.15, 1.0, 5.0]),
)
@settings(deadline=None, max_examples=100)
def test_no_two_logs_of_a_user_differ_by_more_than_epsilon_in_a_row(one, other, criterion, each):
    """Exact, over logs of any length, an empty one among them: the mixture counts for no more than its worst unit."""
    mechanism = Mechanism.over(FOOD, [0], criterion=criterion, profile=[1])
    ratio = max(
        a / b
        for a, b in zip(expected_row(mechanism, one, each), expected_row(mechanism, other, each), strict=True)
    )  # fmt: skip
    assert reference.loss_of(ratio) <= Decimal(each)


def test_a_whole_release_keeps_epsilon_over_all_of_its_outcomes():
    """Two rows of one user, over all pairs of logs of up to two units, and all 49 outcomes: exact."""
    each = math.nextafter(2.0 / 2, 0.0)
    mechanism = prepare(SemanticDp(epsilon=2.0, rows_per_user=2), FOOD)
    logs = [units for n in range(3) for units in itertools.combinations_with_replacement(range(7), n)]
    row = {units: expected_row(mechanism, units, each) for units in logs}
    worst = max((max(a / b for a, b in zip(row[x], row[y], strict=True)), x, y) for x in logs for y in logs)
    tight = reference.loss_of(worst[0] ** 2)
    assert Decimal("0.98") * 2 <= tight <= 2


def test_order_within_a_user_tells_nothing():
    """Five units in the order of the log, drawn as they are: each is in each row with the same chance."""
    units = tuple(("a", f"q{i}", (c,)) for i, c in enumerate((2, 3, 4, 5, 6)) for _ in range(3))
    rows = 4000
    log, release = run(units, epsilon=1e8, rows_per_user=rows)
    found = texts(log, release)["a"]
    for part in (found[: rows // 2], found[rows // 2 :]):
        seen = Counter(part)
        assert chi_square_normal(np.array([seen[LABELS[c]] for c in range(2, 7)]), np.full(5, rows / 10)) < 4.3
    follows = Counter(zip(found[::2], found[1::2], strict=True))
    pairs = np.array([follows[LABELS[a], LABELS[b]] for a in range(2, 7) for b in range(2, 7)])
    assert chi_square_normal(pairs, np.full(25, rows / 50)) < 4.3


def test_rows_are_put_in_random_order(monkeypatch):
    """Draws that tell their number come out in another order, so no part of the method can leak through it."""
    monkeypatch.setattr(Mechanism, "draw_each", lambda self, concept, epsilon, streams: concept)
    monkeypatch.setattr(module, "numbers_below", lambda bound, turn: np.arange(len(bound)) % bound)
    units = tuple(("a", f"q{c}", (c,)) for c in range(7))
    log, release = run(units, rows_per_user=700)
    first = texts(log, release)["a"][:7]
    assert first != LABELS
    assert Counter(texts(log, release)["a"]) == dict.fromkeys(LABELS, 100)


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=20))
def test_numbers_are_below_their_bound(bounds):
    random = Randomness(3)
    found = numbers_below(np.array(bounds, dtype=np.int64), lambda _: random.words(len(bounds)))
    assert ((found >= 0) & (found < np.array(bounds))).all()


def test_words_beyond_the_last_full_multiple_are_drawn_again():
    """2^64 is 3 · k + 1: the last word would make 0 more likely than 1 and 2."""

    given = [[2**64 - 1, 2**64 - 2], [2**64 - 1, 7], [5, 7]]

    def turn(t):
        return np.array(given[t], dtype=np.uint64)

    assert numbers_below(np.array([3, 3]), turn).tolist() == [5 % 3, (2**64 - 2) % 3]
    assert numbers_below(np.array([2**32, 1]), turn).tolist() == [2**32 - 1, 0]


@pytest.mark.parametrize("seed", [1, None])
def test_the_rows_of_a_user_do_not_depend_on_the_order_of_the_log(seed):
    """With a seed they are the same whoever else is there; without one another release draws others."""
    units = (("a", "x", (2,)), ("b", "y", (4,)), ("a", "z", (5, 6)))
    one, other = (run(rows, epsilon=40.0, seed=seed) for rows in (units, units[::-1]))
    same = sorted(texts(*one)["a"]) == sorted(texts(*other)["a"])
    assert same == (seed is not None)


# what is said, refused and spent


def test_the_statement_promises_a_whole_log_and_counts_nothing_of_it():
    told = Notes()
    _, release = run(told=told, domain="fruit")
    statement = release.statement
    assert statement.unit == "user"
    assert statement.parameters == {"epsilon": 1.0}
    assert "whole log" in statement.model
    assert statement.counts_in == statement.dropped == statement.figures == {}
    assert any("exactly 20 rows" in line for line in statement.covers)
    assert any("how many users" in line for line in statement.does_not_cover)
    assert "2 of 3 users have no concept" in told.notes[0]


def test_statements_of_neighbouring_logs_are_the_same_but_for_what_was_drawn():
    other = (*ROWS[:3], ("bob", "unknown", (-1,)), *ROWS[5:])
    one, two = (run(rows, seed=None)[1].statement for rows in (ROWS, other))
    assert one.counts_out["rows"] == two.counts_out["rows"]
    for name in ("settings", "model", "parameters", "covers", "does_not_cover", "counts_in", "dropped", "figures"):
        assert getattr(one, name) == getattr(two, name), name


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"domain": "topics"}, "A domain per topic needs --shape paper"),
        ({"rebuild": "paper"}, "--rebuild paper needs --shape paper"),
        ({"rebuild": "shape"}, "--rebuild shape needs --shape paper"),
        ({"per_user_queries": 5}, "--per-user-queries 5 needs --shape paper"),
        ({"epsilon_for": "query"}, "--epsilon-for query needs --shape paper"),
        ({"epsilon_times": 2}, "--epsilon-times 2 needs --shape paper"),
        ({"rows_per_user": 0}, "rows_per_user must be an integer >= 1"),
        ({"rows_per_user": 10_001}, "rows_per_user must be an integer >= 1"),
    ],
)
def test_what_a_whole_log_cannot_be_promised_with_is_refused(chosen, words):
    with pytest.raises(ParameterError, match=words):
        SemanticDp(**chosen)


def test_a_mapping_learned_from_the_log_does_not_pass_the_gate():
    with pytest.raises(GateError, match="learned from the log"):
        run(learned=True)


def test_an_empty_log_gives_an_empty_release():
    release = qc.anonymize(QueryLog.of([], []), "semantic-dp", seed=1)
    assert len(release.log) == 0


def test_a_tiny_epsilon_is_not_overspent():
    _, release = run(epsilon=5e-324)
    assert release.statement.parameters == {"epsilon": 5e-324}


def test_who_cannot_pay_draws_blindly_and_the_others_do_not(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    make_ledger(path, log="food", epsilon=4.0)
    paid = {"epsilon": 3.0, "ledger": str(path), "ledger_log": "food"}
    log, release = run(rows=ROWS[:3], **paid)
    assert set(texts(log, release)) == {"ann"}
    drawn_for, draw = [], Mechanism.draw_each
    monkeypatch.setattr(
        Mechanism, "draw_each", lambda self, c, *rest: drawn_for.extend(c.tolist()) or draw(self, c, *rest)
    )
    log, release = run(**paid)
    assert set(texts(log, release)) == {"ann", "bob", "cem"}, "how many can pay would tell who was there before"
    assert drawn_for == [6] * 20, "the golf of bob: ann has nothing left, cem no concept"
    assert read_ledger(path).epsilons() == pytest.approx([3.0] * 3), "a user who draws blindly has spent as much"


def test_a_failure_after_the_reservation_gives_nothing_back(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("power cut")

    make_ledger(tmp_path / "l.db", log="food", epsilon=4.0)
    monkeypatch.setattr(module, "label_words", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        run(epsilon=3.0, ledger=str(tmp_path / "l.db"), ledger_log="food")
    assert read_ledger(tmp_path / "l.db").epsilons() == pytest.approx([3.0] * 3)
