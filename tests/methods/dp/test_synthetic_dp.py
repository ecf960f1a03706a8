"""`synthetic-dp` as a whole: what it publishes, what it costs, and what the gate lets through."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.concentrated import delta_of_gaussian

import querycloak as qc
from querycloak.arrays.ragged import Ragged
from querycloak.errors import GateError, ParameterError
from querycloak.evaluation.workbench import INVENTED, Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.methods.dp._noise import gaussian_scale
from querycloak.methods.dp._synthetic_statistics import plans, take_all
from querycloak.methods.dp._synthetic_texts import (
    Labels,
    Vocabulary,
    choose_vocabulary,
    labels_of,
    longest_chosen,
    topics_of,
    write_texts,
)
from querycloak.methods.dp.synthetic_dp import SyntheticDp
from querycloak.randomness import Randomness
from querycloak.releases.budget import Budget
from querycloak.releases.publish import Evidence, publish_log
from querycloak.texts.word_runs import WordRuns

sums = importlib.import_module("querycloak.methods.dp._synthetic_sums")
union = importlib.import_module("querycloak.methods.dp._set_union")
table = importlib.import_module("querycloak.methods.dp._set_union_table")

MONDAY = 1_141_603_200
COMMON = ["tea", "green tea cup", "asthma", "used car"]


def crowd(users=400, extra=()):
    """A log of people who ask the same; `extra` are rows (user, query, time, url)."""
    rows = [
        (f"person {u}", q, MONDAY + 86_400 * (u % 7) + 3600 * (u % 24) + 60 * i, f"http://{q[:3]}.example")
        for u in range(users)
        for i, q in enumerate(COMMON)
    ]
    rows = [*rows, *extra]
    return QueryLog.of(
        [r[0] for r in rows], [r[1] for r in rows], times=[r[2] for r in rows], urls=[r[3] for r in rows]
    )


@pytest.fixture(scope="module")
def release():
    return qc.anonymize(crowd(), "synthetic-dp", seed=1, epsilon=20.0)


def test_a_log_of_invented_users_comes_out(release):
    log = release.log
    assert 380 < len(log.users) < 420
    assert set(COMMON[:3]) <= set(log.queries.to_list())
    assert log.time is not None
    assert log.time.min() >= np.datetime64("2000-01-03", "s").astype(np.int64)
    assert log.time.max() < np.datetime64("2000-04-03", "s").astype(np.int64)
    assert set(log.urls.to_list()) <= {"http://tea.example", "http://gre.example", "http://ast.example"} | {
        "http://use.example"
    }
    assert (log.url >= 0).any()
    assert log.rank is None
    assert (np.diff(log.user) >= 0).all()
    assert all(re.fullmatch("[0-9a-f]{16}", user) for user in log.users.to_list())


def test_times_rise_within_a_user(release):
    log = release.log
    same = log.user[1:] == log.user[:-1]
    assert (log.time[1:][same] >= log.time[:-1][same]).all()


def test_a_text_that_is_not_of_many_people_is_a_label_in_braces():
    own = [(f"person {u}", f"secret of {u}", MONDAY + 9000, None) for u in range(400)]
    texts = qc.anonymize(crowd(extra=own), "synthetic-dp", seed=1, epsilon=20.0).log.queries
    outside = texts.str.replace(r" ?\{.*\}$", "")
    assert set(outside.to_list()) <= {
        "",
        *COMMON,
        "green",
        "cup",
        "green tea",
        "tea cup",
        "used",
        "car",
        "secret",
        "secret of",
    }


def test_no_form_of_ids_tells_that_of_the_log():
    """One user with another form of id must not change the form of all."""
    rows = [(str(u), q, MONDAY, None) for u in range(300) for q in COMMON]
    digits = QueryLog.of([r[0] for r in rows], [r[1] for r in rows])
    shown = qc.anonymize(digits, "synthetic-dp", seed=1, epsilon=20.0).log
    assert shown.time is None
    assert shown.url is None
    assert all(re.fullmatch("[0-9a-f]{16}", user) for user in shown.users.to_list())


class Spy:
    """Stands in for `add_gaussian`, and adds nothing."""

    def __init__(self):
        self.calls = []

    def __call__(self, values, *, sensitivity, rho, random):
        self.calls.append((random._path, values.copy(), gaussian_scale(sensitivity, rho), rho))
        return values.copy()


@pytest.fixture
def spied(monkeypatch):
    def run(log, **values):
        spy = Spy()
        for module in (sums, union, table):
            monkeypatch.setattr(module, "add_gaussian", spy)
        return qc.anonymize(log, "synthetic-dp", seed=1, **values), spy.calls

    return run


@pytest.mark.parametrize("choose", ["sips", "gaussian"])
def test_all_noise_together_keeps_epsilon_and_delta(spied, choose):
    """One user more who asks what all ask, at the same second as others: the exact δ(ε) of all that is drawn."""
    epsilon, delta = 3.0, 1e-6
    own = [("one more", q, MONDAY, f"http://{q[:3]}.example") for q in COMMON]
    with_user, after = spied(crowd(extra=own), epsilon=epsilon, choose=choose)
    _, before = spied(crowd(), epsilon=epsilon, choose=choose)
    assert [c[0] for c in after] == [c[0] for c in before]
    assert len({c[0] for c in after}) == len(after), "each draw has randomness of its own"
    rho = 0.0
    for (name, more, scale, _), (_, less, other, _) in zip(after, before, strict=True):
        assert scale == other, name
        rho += float(((more - less).astype(float) ** 2).sum()) / (2 * scale**2)
    thresholds = sum(line.delta for line in with_user.statement.account)
    assert 0 < thresholds < delta
    assert delta_of_gaussian(rho, epsilon) + thresholds <= delta
    whole = Budget(epsilon, delta, reserved_delta=delta / 2).rho
    assert sum(c[3] for c in after) <= whole
    assert sum(line.rho for line in with_user.statement.account) == pytest.approx(sum(c[3] for c in after))


def test_the_statement_holds_the_account_and_nothing_exact(release):
    statement = release.statement
    assert statement.counts_in == statement.dropped == statement.figures == {}
    assert statement.ids == "invented"
    purposes = {line.purpose for line in statement.account}
    assert {"hours of the week", "events per user", "topics", "threshold of clicks, round 2"} <= purposes
    assert "400" not in statement.short().replace("http", "")
    other = qc.anonymize(crowd(300), "synthetic-dp", seed=1, epsilon=20.0).statement
    assert other.parameters == statement.parameters, "the numbers of the choice follow from the settings alone"


def test_the_gate_refuses_times_that_no_budget_paid_for(release):
    log = crowd()

    def publish(statement=release.statement, shown=release.log, truth=None, lines=("hours of the week",)):
        budget = Budget(20.0, 1e-6, reserved_delta=5e-7)
        for line in lines:
            budget.take_rho(line, fraction=0.1).use()
        budget.take_delta("threshold of clicks", delta=1e-7).use()
        return publish_log(shown, statement, truth, Evidence(log, budget=budget))

    assert publish().passed
    with pytest.raises(GateError, match=r"as they were: time\."):
        publish(lines=("topics",))
    with pytest.raises(GateError, match=r"as they were: time\."):
        publish(shown=replace(release.log, time=release.log.time + 91 * 86_400))
    with pytest.raises(GateError, match=r"as they were: time\."):
        publish(shown=replace(release.log, time=np.where(np.arange(len(release.log)) == 3, MONDAY, release.log.time)))
    with pytest.raises(GateError, match="are not new"):
        publish(statement=replace(release.statement, new_ids=False))
    few = replace(release.log.take(release.log.user < 300), users=release.log.users[:300])
    stated = replace(release.statement, ids="person", counts_out={})
    with pytest.raises(GateError, match=r"bound for people|as they were: time, url\."):
        publish(statement=stated, shown=few, truth=_truth(300))
    with pytest.raises(GateError, match="whom they stand for"):
        publish(truth=_truth(len(release.log.users)))
    with pytest.raises(GateError, match="differential privacy of users is not promised"):
        publish(statement=replace(release.statement, unit="query"))


def _truth(users):
    from querycloak.releases.release import Truth

    return Truth(user=np.arange(users, dtype=np.int32))


def test_invented_ids_without_a_budget_are_refused(release):
    stated = replace(release.statement, model="none", parameters={}, settings={})
    with pytest.raises(GateError, match="differential privacy of users is not promised"):
        publish_log(release.log, stated, None, Evidence(crowd()))


@pytest.mark.slow
def test_attacks_that_look_for_ids_have_nothing_to_attack_and_claims_are_at_their_baseline(release):
    bench = Workbench(crowd())
    found = bench.try_attacks(release, ["relink", "shape", "claim", "membership"], seed=1)
    assert found.nothing == {"relink": INVENTED, "shape": INVENTED}
    assert not found.not_run
    assert {r.attack.split(",")[0] for r in found.results} == {"claim", "membership"}
    for r in found.results:
        assert r.lift_low <= 0.02, r.attack


@pytest.mark.parametrize("epsilon", [1e-9, 0.01])
def test_a_budget_that_buys_nothing_publishes_next_to_nothing(epsilon):
    shown = qc.anonymize(crowd(60), "synthetic-dp", seed=3, epsilon=epsilon).log
    assert not set(shown.queries.to_list()) & set(COMMON)


def test_an_empty_log_gives_an_empty_release():
    shown = qc.anonymize(QueryLog.of([], [], times=[], urls=[]), "synthetic-dp", seed=1)
    assert len(shown.log) == 0


@pytest.mark.parametrize("start", ["2000-02-30", "today", "1969-12-31", "2000-01-03T00:00:00"])
def test_a_day_that_is_none_is_refused(start):
    with pytest.raises(ParameterError, match="a day such as 2000-01-03"):
        SyntheticDp(start=start)


def test_knowledge_learned_from_the_log_is_refused():
    log = crowd(50)
    bench = Workbench(log)
    module = importlib.import_module("querycloak.methods.dp.synthetic_dp")
    learned = replace(bench.concepts, learned=True)
    with pytest.raises(GateError, match="learned from the log"):
        module.synthetic_dp(log, SyntheticDp(), Randomness(1), concepts=learned, taxonomy=bench.taxonomy)


def test_labels_that_were_drawn_are_nobodys_texts_and_others_are_looked_up(release):
    """A label in braces that one person happens to mean exposes nobody; braces around a person's own words do."""
    own = [("one more", q, MONDAY, None) for q in ("chess", "my own zzqx", "green tea")]
    bench = Workbench(crowd(extra=own))
    texts = ["{chess}", "{-123}", "green tea {chess}", "{my own zzqx}", "tea"]
    shown = QueryLog.of(["a"] * len(texts), texts)
    askers = bench.askers_of(replace(release, log=shown))
    assert askers.public.tolist() == [True, True, False, False, False]
    assert askers.own.tolist() == [False, False, False, True, False]
    assert askers.people.tolist()[2:] == [401, 1, 401], "the phrase is held by all, and one person asked it whole"


# texts


def vocabulary_of(log, monkeypatch, calls=None):
    spy = Spy()
    for module in (union, table):
        monkeypatch.setattr(module, "add_gaussian", spy)
    budget = Budget(20.0, 1e-6, reserved_delta=5e-7)
    texts = plans(rounds=1, per_user=50, clicks=True)
    out = choose_vocabulary(log, texts, take_all(texts, budget, times=True).texts, Randomness(1))
    if calls is not None:
        calls += spy.calls
    return out


def test_texts_are_in_an_order_that_tells_nothing(monkeypatch):
    """Texts are dealt one after the other: in the order of the log, whoever asked first would decide who has which."""
    rows = [
        (f"person {u}", q, site)
        for u in range(400)
        for q in COMMON
        for site in ("http://a.example", "http://b.example")
    ]
    found = []
    for some in (rows, rows[::-1], [("first", "used car", "http://b.example"), *rows]):
        log = QueryLog.of(*zip(*[(user, q) for user, q, _ in some], strict=True), urls=[site for *_, site in some])
        one = vocabulary_of(log, monkeypatch)
        clicks = zip(one.text.gather(one.clicks.text).to_list(), one.clicks.url.to_list(), strict=True)
        found.append((one.text.to_list(), list(clicks)))
    assert found[0] == found[1] == found[2]
    assert found[0][0][: len(COMMON)] == sorted(COMMON)
    assert found[0][1] == sorted(found[0][1])
    assert len(found[0][1]) == 2 * len(COMMON)


def test_a_phrase_that_reads_like_a_chosen_query_does_not_fill_in_for_it(monkeypatch):
    more = [(f"person {u}", f"Tea number{u}", MONDAY + 9000, None) for u in range(400)]
    found = vocabulary_of(crowd(extra=more), monkeypatch)
    queries, phrases = found.text[: found.queries].to_list(), found.text[found.queries :].to_list()
    assert sorted(queries) == sorted(COMMON)
    assert "tea" not in phrases
    assert "cup" in phrases
    assert found.people[queries.index("tea")] == 400
    # "green tea cup" is represented by itself, and by no part of it
    parts = [p for p in phrases if p in "green tea cup"]
    assert "green tea" in parts
    assert all(found.people[found.queries + phrases.index(p)] == 0 for p in parts)


def test_an_event_is_represented_by_its_longest_chosen_phrase(monkeypatch):
    more = [(f"person {u}", f"w{u} fresh lemon cake", MONDAY + 9000 + i, None) for u in range(300) for i in range(2)]
    found = vocabulary_of(crowd(extra=more), monkeypatch)
    people = dict(zip(found.text.to_list(), found.people.tolist(), strict=True))
    assert people["fresh lemon cake"] == 300, "a person counts once"
    assert people["lemon cake"] == people["cake"] == 0


def test_the_longest_chosen_run_of_equally_long_ones_is_the_first():
    import polars as pl

    runs = WordRuns.of(pl.Series(["red fish blue bird", "blue bird", "green"]))
    text = runs.texts(np.arange(len(runs.words))).to_list()
    chosen = np.array([text.index("red fish"), text.index("blue bird"), text.index("blue")])
    best = longest_chosen(runs, chosen)
    assert [None if b < 0 else text[b] for b in best.tolist()] == ["red fish", "blue bird", None]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([*COMMON, "tea cup", "my green tea cup", "car asthma", "own words"]), max_size=30))
def test_one_user_more_changes_counts_of_people_by_what_is_said(own):
    rows = [("one more", q, MONDAY, None) for q in own]
    with pytest.MonkeyPatch.context() as patch:
        after, before = [], []
        vocabulary_of(crowd(extra=rows), patch, after)
        vocabulary_of(crowd(), patch, before)
    for (name, more, scale, rho), (_, less, *_) in zip(after, before, strict=True):
        if name.endswith("counts"):
            assert len(more) == len(less)
            assert ((more - less).astype(float) ** 2).sum() <= 2 * rho * scale**2


def test_clicks_are_of_chosen_queries_alone(monkeypatch):
    own = [("one more", "my own", MONDAY, "http://own.example")]
    found = vocabulary_of(crowd(extra=own), monkeypatch)
    assert "http://own.example" not in found.clicks.url.to_list()
    assert (np.diff(found.clicks.text) >= 0).all()
    assert (found.clicks.text < found.queries).all()
    shown = dict(zip(found.text.gather(found.clicks.text).to_list(), found.clicks.url.to_list(), strict=True))
    assert shown == {q: f"http://{q[:3]}.example" for q in COMMON}


@pytest.mark.slow
def test_topics_of_texts_follow_from_their_letters():
    import polars as pl

    from querycloak.evaluation.workbench import load_taxonomy
    from querycloak.methods.dp._synthetic_domain import topic_bins

    taxonomy = load_taxonomy()
    topics = topic_bins(taxonomy)
    found = topics_of(pl.Series(["zzqx {-123456}", "tea", "{tea}", "the tea"]), taxonomy, topics)
    assert found[0] == topics.none
    assert found[1] == found[2] == found[3] != topics.none
    assert (np.diff(topics.field) >= 0).all(), "topics of a field are next to each other"
    labels = labels_of(taxonomy)
    topic = np.repeat(np.arange(topics.total), 3)
    drawn = labels.draw(topic, Randomness(1))
    assert (drawn[topic == topics.none] == -1).all()
    there = drawn >= 0
    assert 0.7 < there.mean() < 1  # some topics have no label that is read so
    shown = "{" + labels.text.gather(drawn[there]) + "}"
    np.testing.assert_array_equal(topics_of(shown, taxonomy, topics), topic[there])


def test_texts_are_written_as_queries_phrases_with_labels_labels_and_numbers():
    import polars as pl

    labels = Labels(pl.Series(["oolong", "matcha"]), Ragged.of_lists([[0], [], [1]], np.int64))
    found = Vocabulary(pl.Series(["tea", "cup of"]), np.array([5.0, 5.0]), 1, None, {})
    text = np.array([0, 1, 1, 2, 3, 4, 5])
    topic = np.array([0, 0, 1, 0, 1, 2, 3])
    shown = write_texts(text, topic, found, labels, Randomness(1)).to_list()
    assert [shown[i] for i in (0, 1, 3, 5)] == ["tea", "cup of {oolong}", "{oolong}", "{matcha}"]
    assert re.fullmatch(r"cup of \{-\d+\}", shown[2])
    assert all(re.fullmatch(r"\{-\d+\}", one) for one in (shown[4], shown[6]))
