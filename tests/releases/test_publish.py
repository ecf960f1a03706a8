"""The gate: a table that breaks what its statement promises cannot become a release, and cannot be written."""

from __future__ import annotations

import ast
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT
from samples import sample_directory, sample_log

import querycloak as qc
from querycloak.catalog import METHODS
from querycloak.errors import GateError
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.query_log import QueryLog
from querycloak.methods.microaggregation import _grouping
from querycloak.methods.microaggregation import plain_microaggregation as grouping
from querycloak.methods.suppression import click_graph_removal as removing
from querycloak.methods.suppression import sweep as sweeping
from querycloak.releases.account import AccountLine
from querycloak.releases.budget import Budget
from querycloak.releases.checks import check_departures
from querycloak.releases.classes import class_sizes
from querycloak.releases.publish import Evidence, publish_counts, publish_items, publish_log, publish_stream
from querycloak.releases.release import ItemRelease, Truth
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.text_checks import people_per_text
from querycloak.texts import phrases

LOG = QueryLog.of(
    ["ann", "bob", "cem", "dan", "ann", "bob"],
    ["tea", "tea", "tea", "cup", "cup", "mail bob@example.com"],
)


def statement(**changes) -> PrivacyStatement:
    values = {
        "method": "by hand", "settings": {}, "version": "0", "model": "m", "parameters": {}, "unit": "user",
        "covers": (), "does_not_cover": ("all",), "randomness": "none", "new_ids": True,
        "counts_in": {}, "counts_out": {}, "dropped": {},
    }  # fmt: skip
    return PrivacyStatement(**(values | changes))


def table(*logs: list[str]) -> QueryLog:
    """Publish one list of texts per id: x0, x1, …"""
    users = [f"x{i}" for i, texts in enumerate(logs) for _ in texts]
    return QueryLog.of(users, [text for texts in logs for text in texts])


def truth(n: int) -> Truth:
    return Truth(np.arange(n, dtype=np.int32))


EVIDENCE = Evidence(LOG)


def test_what_holds_passes_and_can_be_written(tmp_path):
    promised = statement(parameters={"k": 2}, text_users=2)
    release = publish_log(table(["tea"], ["tea"]), promised, truth(2), EVIDENCE)
    assert release.passed
    qc.write_release(release, tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "user\tquery\nx0\ttea\nx1\ttea\n"


@pytest.mark.parametrize(
    ("published", "promised", "why"),
    [
        (table(["tea"], ["tea"], ["cup"]), {"parameters": {"k": 2}}, "1 of 3 published users are in a class of fewer"),
        (table(["tea", "cup"], ["tea"]), {"parameters": {"k": 2}}, "2 of 2"),
        (table(["tea", "tea"], ["tea"]), {"parameters": {"k": 2}}, "2 of 2"),
        (table(["cup"]), {"text_users": 3}, "1 published texts were asked by fewer than 3"),
        (table(["tea", "never asked"]), {"text_users": 2}, "1 published texts"),
        (table(["mail bob@example.com"]), {"identifiers_dropped": True}, "hold a personal identifier"),
        (replace(table(["tea"]), users=pl.Series(["ann"])), {}, "1 published ids are ids of the log"),
        (replace(table(["tea", "tea"]), query=np.array([0, -1], np.int32)), {}, "a row without a text"),
        (table(["tea"]), {"settings": {"min_query_users": 2}}, "texts of 2 people were asked for"),
        (table(["tea"]), {"settings": {"identifiers": True}}, "were to be dropped"),
        (table(["tea"]), {"settings": {"identifiers": "drop"}}, "were to be dropped"),
        (table(["Tea"]), {"text_users": 2}, "1 published texts were asked by fewer than 2"),
        (table(["tea"], ["tea"]), {"settings": {"k": 3}, "parameters": {"k": 2}}, "k is 3 in the settings"),
    ],
)  # fmt: skip
def test_what_breaks_its_promise_does_not_pass(published, promised, why):
    with pytest.raises(GateError, match=why) as raised:
        publish_log(published, statement(**promised), truth(len(published.users)), EVIDENCE)
    for word in ("ann", "tea", "cup", "example.com"):
        assert word not in str(raised.value)


def test_classes_of_items_are_told_apart_by_path_and_count():
    log = table(["bank"], ["bank"])
    paths = replace(log, category=np.array([0, 1], np.int32), categories=pl.Series(["money/bank", "river/bank"]))
    promised = statement(parameters={"k": 2})
    assert publish_items(log, promised, truth(2), EVIDENCE).passed
    for other in (paths, replace(log, extra=pl.DataFrame({"count": [1, 2]}))):
        with pytest.raises(GateError, match="class of fewer than 2"):
            publish_items(other, promised, truth(2), EVIDENCE)


def test_a_label_that_few_people_asked_is_refused():
    with pytest.raises(GateError, match="1 published texts were asked by fewer than 3 people"):
        publish_log(table(["cup"]), statement(text_users=3), truth(1), replace(EVIDENCE, public={"cup"}))


def test_public_texts_need_no_askers_and_readings_are_what_is_counted():
    promised = statement(text_users=3)
    assert publish_log(table(["drink"]), promised, truth(1), replace(EVIDENCE, public={"drink"})).passed
    assert publish_log(table(["f00d"]), promised, truth(1), replace(EVIDENCE, readings=pl.Series(["tea"]))).passed
    for readings in (["cup"], ["tea", "tea"]):
        with pytest.raises(GateError):
            publish_log(table(["f00d"]), promised, truth(1), replace(EVIDENCE, readings=pl.Series(readings)))


def test_two_ids_of_one_person_do_not_pass():
    with pytest.raises(GateError, match="stand for one person"):
        publish_log(table(["tea"], ["tea"]), statement(), Truth(np.array([1, 1], np.int32)), EVIDENCE)
    with pytest.raises(GateError, match="the truth knows 1"):
        publish_log(table(["tea"], ["tea"]), statement(), truth(1), EVIDENCE)


class TestDifferentialPrivacy:
    COUNTS = replace(QueryLog.of(["all"], ["tea"]), extra=pl.DataFrame({"count": [3]}))

    def publish(self, table=None, budget=None, learned=False, **changes):
        promised = statement(**{"parameters": {"epsilon": 1.0, "delta": 0.1}, **changes})
        return publish_counts(table or self.COUNTS, promised, Evidence(LOG, budget=budget, learned=learned))

    def spent(self, *fractions):
        budget = Budget(2.0, 0.1)
        for fraction in fractions:
            budget.take("x", fraction=fraction).use()
        return budget

    def test_within_the_budget(self):
        assert self.publish(budget=self.spent(0.25, 0.25)).passed

    def test_more_than_promised(self):
        with pytest.raises(GateError, match="more than promised"):
            self.publish(budget=self.spent(0.5, 0.25))

    def test_no_account(self):
        for budget in (None, Budget(1.0)):
            with pytest.raises(GateError, match="differential privacy is promised, and no"):
                self.publish(budget=budget)

    def test_a_share_that_no_mechanism_used(self):
        budget = self.spent(0.25)
        budget.take("counts", fraction=0.25)
        with pytest.raises(GateError, match="never used: counts"):
            self.publish(budget=budget)

    @pytest.mark.parametrize("field", ["counts_in", "dropped", "figures"])
    def test_an_exact_count_in_the_statement(self, field):
        with pytest.raises(GateError, match="exact counts of the log"):
            self.publish(budget=self.spent(0.5), **{field: {"rows": 3}})

    def test_an_exact_count_among_the_numbers_of_the_model(self):
        numbers = {"epsilon": 1.0, "delta": 0.1, "threshold of queries": 3.0, "deviation of the noise": 2.0}
        assert self.publish(budget=self.spent(0.5), parameters=numbers).passed
        with pytest.raises(GateError, match="no bound and no setting"):
            self.publish(budget=self.spent(0.5), parameters={**numbers, "users": 3.0})

    @pytest.mark.parametrize("model", ["epsilon-differential privacy", "Differentially private"])
    def test_a_promise_in_words_alone(self, model):
        with pytest.raises(GateError, match="in words"):
            self.publish(model=model, parameters={}, counts_in={"rows": 3})

    @pytest.mark.parametrize(
        "column", [{"time": np.array([1])}, {"extra": pl.DataFrame({"count": [3], "city": ["y"]})}]
    )
    def test_a_kept_column(self, column):
        with pytest.raises(GateError, match=r"published as they were: (time|city)"):
            self.publish(table=replace(self.COUNTS, **column), budget=self.spent(0.5))

    def test_counts_with_digits_after_the_point(self):
        """Noise on numbers of floating point can be told from its last digits."""
        counts = replace(self.COUNTS, extra=pl.DataFrame({"count": [3.25]}))
        with pytest.raises(GateError, match="no whole numbers"):
            self.publish(table=counts, budget=self.spent(0.5))

    def test_the_account_is_that_of_the_budget(self):
        budget = self.spent(0.25, 0.25)
        false = AccountLine(purpose="little", relation="add-remove", epsilon=0.01)
        release = self.publish(budget=budget, account=(false,))
        assert release.statement.account == budget.lines != ()
        assert release.passed
        assert (
            publish_log(table(["tea"], ["tea"]), statement(account=(false,)), truth(2), EVIDENCE).statement.account
            == ()
        )

    def test_a_ledger_that_was_not_charged(self):
        budget = self.spent(0.5)
        with pytest.raises(GateError, match="nothing was charged"):
            self.publish(budget=budget, settings={"ledger": "l.db"})
        budget.closed = True
        assert self.publish(budget=budget, settings={"ledger": "l.db"}).passed

    def test_a_mapping_learned_from_the_log(self):
        with pytest.raises(GateError, match="learned from the log"):
            self.publish(budget=self.spent(0.5), learned=True)


def test_a_stream_that_breaks_its_rule():
    promised = statement(parameters={"candidates": 2}, unit="query")
    published, askers = table(["tea"], ["cup"]), np.array([1, 0], np.int32)
    enough = replace(EVIDENCE, candidates=np.array([2, 3]))
    assert publish_stream(published, promised, Truth(np.array([0, 1], np.int32), askers), enough).passed
    few = replace(EVIDENCE, candidates=np.array([2, 1]))
    with pytest.raises(GateError, match="1 records would leave with fewer than 2"):
        publish_stream(published, promised, Truth(np.array([0, 1], np.int32), askers), few)
    own = np.array([0, 0], np.int32)
    with pytest.raises(GateError, match="1 records would leave under the user who asked"):
        publish_stream(published, promised, Truth(np.array([0, 1], np.int32), own), enough)
    check_departures(2, np.array([1]), np.array([0]), np.array([2]))


def test_what_was_changed_after_the_gate_cannot_be_written(tmp_path):
    release = publish_log(table(["tea"], ["tea"]), statement(parameters={"k": 2}), truth(2), EVIDENCE)
    other = replace(release, log=table(["tea"], ["cup"]))
    stronger = replace(release, statement=replace(release.statement, parameters={"k": 9}))
    promising = replace(release, statement=replace(release.statement, covers=("nobody can be found",)))
    silent = replace(release, statement=replace(release.statement, does_not_cover=()))
    other_kind = ItemRelease(release.log, release.statement, release.truth, release.seal)
    for changed in (other, stronger, promising, silent, other_kind, replace(release, seal=None)):
        with pytest.raises(GateError, match="has not passed the gate"):
            qc.write_release(changed, tmp_path / "out.tsv")
    assert not list(tmp_path.iterdir())
    assert pickle.loads(pickle.dumps(release)).passed
    assert replace(release, statement=release.statement.seeded()).passed


def test_what_was_written_to_after_the_gate_cannot_be_written(tmp_path):
    def fresh():
        log = replace(table(["tea"], ["tea"]), queries=pl.Series(["tea", "cup"]), extra=pl.DataFrame({"n": [1, 1]}))
        return publish_log(log, statement(parameters={"k": 2}), truth(2), EVIDENCE)

    def query(release):
        release.log.query[1] = 1

    def user(release):
        release.log.users[0] = "ann"

    def parameter(release):
        release.statement.parameters["k"] = 9.0

    def extra(release):
        release.log.extra[0, "n"] = 2

    for change in (query, user, parameter, extra):
        release = fresh()
        assert release.passed
        change(release)
        with pytest.raises(GateError, match="has not passed the gate"):
            qc.write_release(release, tmp_path / "out.tsv")


class TestOddStatementsAndTables:
    """What a wrong method could hand over next to a table that looks right."""

    SAME = table(["tea", "cup"], ["tea", "cup"])

    def refused(self, match, published=None, known=None, **promised):
        published = published or self.SAME
        promised = {"parameters": {"k": 2}, **promised}
        with pytest.raises(GateError, match=match):
            publish_log(published, statement(**promised), known or truth(len(published.users)), EVIDENCE)

    @pytest.mark.parametrize(
        "columns",
        [
            {"time": np.array([1, 2, 3, 4])},
            {"rank": np.array([1, 2, 3, 4], np.int32)},
            {"url": np.array([0, 1, 2, -1], np.int32), "urls": pl.Series(["http://a", "http://b", "http://c"])},
        ],
    )
    def test_a_column_that_tells_users_apart(self, columns):
        self.refused("class of fewer than 2", replace(self.SAME, **columns))

    def test_rows_in_another_order(self):
        self.refused("class of fewer than 2", table(["tea", "cup"], ["cup", "tea"]))

    def test_categories_of_missing_texts(self):
        missing = replace(table(["tea"], ["tea"]), query=np.full(2, -1, np.int32))
        by_path = replace(missing, category=np.array([0, 1], np.int32), categories=pl.Series(["a", "b"]))
        self.refused("a row without a text", by_path)

    def test_one_id_twice(self):
        self.refused("have the same id", replace(self.SAME, users=pl.Series(["x0", "x0"])))

    def test_an_original_id_in_another_case(self):
        self.refused("ids of the log", replace(self.SAME, users=pl.Series(["x0", "ANN"])))

    def test_ids_that_stand_for_nobody(self):
        for codes in ([-1, -1], [0, 99]):
            self.refused("stand for nobody", known=Truth(np.array(codes, np.int32)))
        with pytest.raises(GateError, match="not said whom"):
            publish_log(self.SAME, statement(), None, EVIDENCE)

    @pytest.mark.parametrize("k", [2.5, float("nan"), float("inf"), -2, 0])
    def test_a_k_that_is_no_number_of_users(self, k):
        self.refused("promises nothing|whole number", parameters={"k": k})

    def test_people_per_text_that_are_no_number(self):
        self.refused("no whole number", text_users=float("nan"))

    @pytest.mark.parametrize("settings", [{"k": 5}, {"epsilon": 1.0}])
    def test_settings_without_a_promise(self, settings):
        self.refused("not promised", settings=settings, parameters={})
        unnamed = statement(settings=settings, model="none")
        assert publish_log(self.SAME, unnamed, truth(2), EVIDENCE).passed

    def test_k_for_another_unit(self):
        self.refused("promise for users", unit="query")

    def test_counts_that_are_not_so(self):
        self.refused("7 rows are stated, 4 are published", counts_out={"rows": 7})

    def test_a_stream_of_fewer_candidates_than_asked_for(self):
        promised = statement(parameters={"candidates": 2}, unit="query", settings={"k": 10})
        known, enough = Truth(np.array([0, 1], np.int32), np.array([1, 0], np.int32)), np.array([2, 2])
        with pytest.raises(GateError, match="k is 10"):
            publish_stream(table(["tea"], ["cup"]), promised, known, replace(EVIDENCE, candidates=enough))
        fewer = replace(EVIDENCE, candidates=enough[:1])
        with pytest.raises(GateError, match="without their asker"):
            publish_stream(table(["tea"], ["cup"]), replace(promised, settings={}), known, fewer)


class TestOddDifferentialPrivacy:
    def refused(self, match, published=None, **promised):
        budget = Budget(1.0)
        budget.take("x").use()
        promised = statement(**{"parameters": {"epsilon": 1.0}, **promised})
        with pytest.raises(GateError, match=match):
            publish_log(published or table(["cup"]), promised, truth(1), Evidence(LOG, budget=budget))

    @pytest.mark.parametrize("epsilon", [float("nan"), float("inf"), -1.0])
    def test_an_epsilon_that_is_no_number(self, epsilon):
        self.refused("promises nothing", parameters={"epsilon": epsilon})

    def test_texts_are_counted_here_too(self):
        self.refused("asked by fewer than 3", text_users=3)

    def test_a_category_of_the_log(self):
        kept = replace(table(["cup"]), category=np.zeros(1, np.int32), categories=pl.Series(["a"]))
        self.refused("published as they were: category", kept)

    def test_original_ids(self):
        self.refused("ids of the log are published", new_ids=False)

    def test_a_count_that_the_table_does_not_show(self):
        self.refused("counts what the table does not show", counts_out={"rows": 1, "rows before": 6})

    def test_a_delta_below_nothing_does_not_refill_the_budget(self):
        for delta in (-0.5, float("nan"), 2.0):
            with pytest.raises(GateError, match="a probability is expected"):
                Budget(1.0, 1e-6).take("x", fraction=0.5, delta=delta)


def shared_by_two() -> QueryLog:
    """A text, a phrase and a label that two people share, with clicks to several sites each."""
    rows = [(u, q) for u in "ab" for q in ("whole green tea", f"{u}xq steep mountain", f"{u}violin")]
    return QueryLog.of(
        [u for u, _ in rows for _ in range(2)],
        [q for _, q in rows for _ in range(2)],
        urls=[f"http://{q.replace(' ', '-')}{i}.example/" for _, q in rows for i in range(2)],
    )


class TestMethodsMadeWrong:
    """Each of these faults in a method must end in GateError, with no file written."""

    def refused(self, tmp_path, method, **settings):
        with pytest.raises(GateError) as raised:
            qc.write_release(qc.anonymize(sample_log(), method, seed=1, **settings), tmp_path / "out.tsv")
        assert not list(tmp_path.iterdir())
        return str(raised.value)

    def test_a_group_of_k_less_one(self, tmp_path, monkeypatch):
        right = _grouping.mdav

        def wrong(bags, k, progress):
            group = right(bags, k, progress)
            group = group.copy()
            alone = np.flatnonzero(group == np.bincount(group).argmin())
            group[alone[1:]] = (group[alone[1:]] + 1) % (group.max() + 1)
            return group

        monkeypatch.setattr(_grouping, "mdav", wrong)
        assert "in a class of fewer than 3" in self.refused(tmp_path, "plain-microaggregation", k=3)

    def test_a_rare_text(self, tmp_path, monkeypatch):
        right = phrases.shared_texts

        def wrong(log, rule, **needs):
            return right(log, replace(rule, people=1), **needs)

        monkeypatch.setattr(sweeping, "shared_texts", wrong)
        monkeypatch.setattr(removing, "shared_texts", wrong)
        for method in ("sweep", "click-graph-removal"):
            for rare in ("phrase", "label", "drop"):
                log = shared_by_two()
                with pytest.raises(GateError, match="asked by fewer than 3"):
                    qc.anonymize(log, method, seed=1, min_query_users=3, rare=rare)

    def test_a_rare_text_of_a_group(self, tmp_path, monkeypatch):
        def of_anybody(log, rule, **needs):
            return phrases.shared_texts(log, replace(rule, people=1), **needs)

        monkeypatch.setattr(grouping, "shared_texts", of_anybody)
        assert "asked by fewer than" in self.refused(tmp_path, "plain-microaggregation", min_query_users=4)

    def test_an_original_id(self, tmp_path, monkeypatch):
        users = sample_log().users.to_list()
        monkeypatch.setattr(KeyedRandomness, "identifiers", lambda self, names, **_: users[: len(names)])
        for method in ("sweep", "clump", "semantic-dp"):
            assert "are ids of the log" in self.refused(tmp_path, method)

    def test_double_spending(self, tmp_path, monkeypatch):
        right, right_rho = Budget.take, Budget.take_rho

        def whole(self, purpose, *, fraction=1.0, delta=0.0):
            return right(self, purpose, fraction=1.0, delta=delta)

        def whole_rho(self, purpose, *, fraction=1.0):
            return right_rho(self, purpose, fraction=1.0)

        monkeypatch.setattr(Budget, "take", whole)
        monkeypatch.setattr(Budget, "take_rho", whole_rho)
        for choose in ("sips", "gaussian", "korolova"):
            assert "budget is spent" in self.refused(tmp_path, "frequent-queries", choose=choose)

    def test_an_identifier(self, tmp_path, monkeypatch):
        monkeypatch.setattr(phrases, "find_identifiers", lambda texts: np.zeros(len(texts), np.uint8))
        log = QueryLog.of(list("abcde"), ["call 555-010-1234"] * 5)
        with pytest.raises(GateError, match="personal identifier"):
            qc.anonymize(log, "sweep", seed=1)

    def test_a_name_that_is_not_famous(self, tmp_path, monkeypatch):
        monkeypatch.setattr(phrases, "find_rare_names", lambda texts, *_, **__: np.zeros(len(texts), np.bool_))
        log = QueryLog.of(list("abcde"), ["dr jane miller"] * 5)
        with pytest.raises(GateError, match="a name that fewer than 6 people asked"):
            qc.anonymize(log, "sweep", seed=1, famous=6)
        assert len(qc.anonymize(log, "sweep", seed=1, famous=5).log) == 5

    def test_a_release_checked_against_another_log(self, monkeypatch):
        def wrong(published, promised, truth, evidence):
            other = replace(sample_log(), problems={})
            return publish_log(published, promised, truth, replace(evidence, original=other))

        monkeypatch.setattr(sweeping, "publish_log", wrong)
        with pytest.raises(GateError, match="against another log"):
            qc.anonymize(sample_log(), "sweep", seed=1)

    def test_a_release_made_without_the_gate(self, monkeypatch):
        def wrong(published, promised, truth, evidence):
            return replace(publish_log(published, promised, truth, evidence), seal=None)

        monkeypatch.setattr(sweeping, "publish_log", wrong)
        with pytest.raises(GateError, match="did not pass the gate"):
            qc.anonymize(sample_log(), "sweep", seed=1)


def test_a_share_is_used_once_and_the_account_is_exact():
    budget = Budget(0.3)
    first, second = budget.take("a", fraction=0.1), budget.take_rest("b")
    assert budget.total()[0] <= 0.3
    assert (first.use(), second.use()) == pytest.approx((0.03, 0.27))
    with pytest.raises(GateError, match="used twice"):
        first.use()
    for fraction in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(GateError):
            Budget(1.0).take("x", fraction=fraction)
    with pytest.raises(GateError, match="budget is spent"):
        budget.take("c", fraction=0.01)
    with pytest.raises(GateError, match="budget is spent"):
        Budget(1.0, delta=1e-6).take("x", fraction=0.5, delta=2e-6)


def test_draws_cost_what_the_most_expensive_user_costs():
    budget = Budget(1.0)
    budget.take_draws("draws", np.array([2, 4]), np.array([0.5, 0.125]))
    assert budget.total()[0] == 1.0
    with pytest.raises(GateError):
        Budget(1.0).take_draws("draws", np.array([3]), np.array([1 / 3 + 1e-16]))
    Budget(1.0).take_draws("draws", np.zeros(0, np.int64), np.zeros(0))
    tenths = Budget(1.0).take_draws("draws", np.array([3]), np.array([0.1]))
    assert Fraction(tenths.epsilon) >= 3 * Fraction(0.1)  # the account never says less than was drawn


TEXTS = st.sampled_from(["a", "b", "c", "d"])
ROWS = st.lists(st.tuples(st.integers(0, 4), TEXTS), min_size=1, max_size=30)


@given(ROWS)
def test_classes_equal_the_reference(rows):
    log = QueryLog.of([str(u) for u, _ in rows], [q for _, q in rows])
    bags = {u: sorted(q for v, q in rows if str(v) == u) for u in log.users.to_list()}
    expected = [sum(other == bags[u] for other in bags.values()) for u in log.users.to_list()]
    assert class_sizes(log).tolist() == expected


@given(ROWS, st.lists(st.sampled_from(["a", "b", "c", "d", "never"]), unique=True))
def test_people_per_text_equal_the_reference(rows, wanted):
    log = QueryLog.of([str(u) for u, _ in rows], [q for _, q in rows])
    expected = [len({u for u, q in rows if q == text}) for text in wanted]
    assert people_per_text(log, pl.Series(wanted, dtype=pl.String)).tolist() == expected
    counts = dict(zip(log.queries.to_list(), log.users_per_query().tolist(), strict=True))
    assert counts == {text: len({u for u, q in rows if q == text}) for text in counts}


def test_only_the_gate_seals():
    """No other file of the package sets a seal: releases come through the gate."""
    sealing = []
    for path in sorted((ROOT / "src" / "querycloak").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.startswith("Seal") or any(k.arg == "seal" for k in getattr(node, "keywords", [])):
                sealing.append(path.name)
    assert set(sealing) == {"publish.py", "release.py", "gate.py", "spark_release.py"}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_goes_through_the_gate(name):
    needed = {"directory": sample_directory()} if "directory" in METHODS[name].needs else {}
    assert qc.anonymize(sample_log(), name, seed=1, **needed).passed
