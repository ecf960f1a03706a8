"""The four conditions, each broken alone."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest
from sample_attacks import found
from sample_releases import statement

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.evaluation.advice import advise, judge
from querycloak.evaluation.limits import LIMITS, Limits, check_tasks
from querycloak.evaluation.run import Run
from querycloak.evaluation.utility import Utility
from querycloak.measures.score import Score

TASKS = ("topics",)
FINE = [
    found("relink", 0.1, high=0.15),
    found("claim", 0.05, risk="claim", high=0.08),
    found("membership", 0.0, risk="membership", high=0.09),
    found("membership, 1 %", 0.01, risk="membership at 1 %", high=0.04),
]


def useful(task="topics", *, low=0.8, blind_high=0.5, possible=True, scaled=0.7):
    return Utility(
        task=task, possible=possible, note="no users", cases=9, value=low + 0.05, low=low, high=low + 0.1, original=1.0,
        blind=blind_high - 0.1, blind_high=blind_high, scaled=scaled, scaled_low=scaled - 0.1, scaled_high=scaled + 0.1,
    )  # fmt: skip


def exposed(own=0.0, identifiers=0.0, **more):
    plain = {"own_row_share": own, "rows": 1000.0, "identifier_rows": 1000 * identifiers, "texts": 50, "people": 1000}
    counts = {
        "own_texts": int(own > 0),
        "identifier_texts": int(identifiers > 0),
        "unknown_texts": 0,
        "own_value_shares": {},
        "own_moment_share": None,
    }
    return SimpleNamespace(not_counted=(), **{**plain, **counts, **more})


def run(name="r", *, attacks=FINE, exposure=None, utility=None, not_run=None, proves=None, **more):
    says = dataclasses.replace(statement(**({"k": 5} if proves is None else proves)), settings={"min_query_users": 1})
    return Run(
        name=name, method="m", settings={}, statement=says, attacks=tuple(attacks), not_run=not_run or {},
        exposure=exposure or exposed(), utility=(useful(),) if utility is None else utility, **more,
    )  # fmt: skip


def failed(r, limits=LIMITS, tasks=TASKS):
    return [c.number for c in judge(r, limits, tasks).failed]


def test_a_run_that_keeps_all_four_is_recommended():
    assert failed(run()) == []
    advice = advise([run("naive", baseline=True), run("good")], LIMITS, TASKS)
    assert advice.publish == "good"
    assert "good may be published" in advice.text


def test_the_pseudonymous_baseline_is_never_recommended():
    assert advise([run("naive", baseline=True)], LIMITS, TASKS).publish is None


@pytest.mark.parametrize("proves", [{}, {"m": 3}, {"epsilon": 10.1}, {"epsilon": 100.0}])
def test_without_a_proof_it_is_not(proves):
    assert failed(run(proves=proves)) == [1]


def test_a_budget_at_the_limit_is_a_proof():
    assert failed(run(proves={"epsilon": 10.0})) == []
    assert failed(run(proves={"epsilon": 10.0}), Limits(epsilon=9.0)) == [1]


def test_what_protects_queries_and_not_users_proves_nothing():
    r = run(proves={"epsilon": 1.0})
    r = dataclasses.replace(r, statement=dataclasses.replace(r.statement, unit="query"))
    assert failed(r) == [1]


def test_what_only_passes_the_attacks_is_called_so():
    advice = advise([run("swept", proves={})], LIMITS, TASKS)
    assert advice.publish is None
    assert "swept passes the attacks we have, proves nothing" in advice.text


@pytest.mark.parametrize(
    ("risk", "limit"), [("link", 0.2), ("claim", 0.1), ("membership", 0.1), ("membership at 1 %", 0.05)]
)
def test_the_upper_end_counts_not_the_rate(risk, limit):
    assert failed(run(attacks=[found("a", 0.0, risk=risk, high=limit)])) == []
    assert failed(run(attacks=[found("a", 0.0, risk=risk, high=limit + 0.001)])) == [2]


def test_a_proved_bound_counts_where_it_is_smaller():
    assert failed(run(attacks=[found("a", 0.15, high=0.9, bound=0.2)])) == []
    assert failed(run(attacks=[found("a", 0.15, high=0.9, bound=0.3)])) == [2]
    assert failed(run(attacks=[found("a", 0.05, high=0.1, bound=0.3)])) == []


def test_counted_things_have_no_limit_here_and_nobody_to_attack_is_nothing():
    assert failed(run(attacks=[found("a", 1.0, risk="count"), found("b", 0.0, targets=0)])) == []


def test_an_attack_that_could_not_be_run_was_not_passed():
    assert failed(run(not_run={"membership": "why"})) == [2]
    assert failed(run(not_run={"intersection": "one release"})) == []


def test_own_texts_and_identifiers():
    assert failed(run(exposure=exposed(own=1e-9))) == [3]
    assert failed(run(exposure=exposed(identifiers=1e-9))) == [3]
    assert failed(run(exposure=exposed(own=0.01, identifiers=0.01)), Limits(own_texts=0.01, identifiers=0.01)) == []
    assert "--min-query-users to 5" in judge(run(exposure=exposed(own=0.5)), LIMITS, TASKS).failed[0].change


@pytest.mark.parametrize(
    "utility", [(), (useful(low=0.5, blind_high=0.5),), (useful(possible=False, blind_high=0.0),), (useful("other"),)]
)
def test_a_release_that_is_no_better_than_blind_is_not(utility):
    assert failed(run(utility=utility)) == [4]


def test_only_tasks_that_were_named_are_asked_for():
    assert failed(run(utility=()), tasks=()) == []
    assert failed(run(utility=(useful(), useful("profiles", low=0.1))), tasks=("topics", "profiles")) == [4]


def test_of_several_the_one_that_keeps_most_is_taken():
    runs = [run("less", utility=(useful(scaled=0.4),)), run("more", utility=(useful(scaled=0.6),))]
    assert advise(runs, LIMITS, TASKS).publish == "more"


def generalized(name, distortion, *, scaled, **settings):
    """A run of a generalizing method, with what its measure found."""
    details = {"mean level of items (root = 1)": 3.0, "density": 0.001}
    score = Score(measure="generalization", value=distortion, better="lower", details=details)
    made = run(name, utility=(useful(scaled=scaled),), scores=(score,))
    return dataclasses.replace(made, statement=dataclasses.replace(made.statement, settings=settings))


def test_of_generalized_releases_the_least_distorted_is_taken():
    """Topics alone would take the one that says least: without duplicates there is less to be wrong about."""
    drop, keep = generalized("drop", 0.68, scaled=0.9), generalized("keep", 0.41, scaled=0.7)
    for runs in ([drop, keep], [keep, drop]):
        advice = advise(runs, LIMITS, TASKS)
        assert advice.publish == "keep"
        assert "distortion 41.0% of the worst case, mean level 3.00 (root = 1), density 0.100%" in advice.text


def test_distortion_is_compared_where_it_is_the_same_figure():
    """Of another kind of release, or over another tree, it says nothing: there the tasks decide."""
    keep = generalized("keep", 0.41, scaled=0.7)
    assert advise([keep, run("texts", utility=(useful(scaled=0.8),))], LIMITS, TASKS).publish == "texts"
    assert advise([keep, run("texts", utility=(useful(scaled=0.6),))], LIMITS, TASKS).publish == "keep"
    for other in ({"prune": True}, {"transactions": "bags"}):
        assert advise([keep, generalized("other", 0.3, scaled=0.6, **other)], LIMITS, TASKS).publish == "keep"
        assert advise([keep, generalized("other", 0.5, scaled=0.8, **other)], LIMITS, TASKS).publish == "other"


def test_a_less_distorted_run_that_fails_a_condition_is_not_taken():
    bad = dataclasses.replace(generalized("bad", 0.1, scaled=0.9), exposure=exposed(own=0.5))
    assert advise([bad, generalized("good", 0.5, scaled=0.3)], LIMITS, TASKS).publish == "good"


def test_where_all_are_bad_it_says_so_and_which_condition_each_failed():
    advice = advise([run("a", proves={}, exposure=exposed(own=0.2)), run("b", utility=())], LIMITS, TASKS)
    assert advice.text.startswith("Publish none of these")
    assert [[c.number for c in v.failed] for v in advice.verdicts] == [[1, 3], [4]]


def test_a_method_that_failed_passes_nothing():
    assert not judge(Run(name="x", method="m", settings={}, error="broke"), LIMITS, TASKS).passes


@pytest.mark.parametrize(
    "bad", [{"link": -0.1}, {"claim": 1.5}, {"epsilon": float("nan")}, {"membership": float("nan")}]
)
def test_limits_that_are_none_are_refused(bad):
    with pytest.raises(ParameterError):
        Limits(**bad)


def test_unknown_tasks_are_refused():
    with pytest.raises(UnknownNameError, match="popularity"):
        check_tasks(("popularty",))


@pytest.mark.parametrize("k", [-1.0, 0.0, 0.5, 1.0])
def test_a_k_that_hides_nobody_is_no_proof(k):
    assert failed(run(proves={"k": k})) == [1]


def test_a_bound_that_the_attack_beats_does_not_count():
    beaten = found("record-linkage", 0.995, high=0.999, low=0.99, bound=0.1)
    assert failed(run(attacks=[beaten])) == [2]
    assert failed(run(attacks=[found("record-linkage", 0.1, high=0.3, low=0.05, bound=0.1)])) == []


def test_texts_that_cannot_be_read_are_no_pass():
    verdict = judge(run(exposure=exposed(unknown_texts=3)), LIMITS, TASKS)
    assert [(c.number, c.untested) for c in verdict.failed] == [(3, True)]
    assert "3 of its 50 texts hold words that nobody asked" in verdict.failed[0].says


def test_texts_in_rows_that_weigh_nothing_can_be_read_all_the_same():
    verdict = judge(run(exposure=exposed(own_texts=300, identifier_texts=2)), LIMITS, TASKS)
    assert [c.says for c in verdict.failed] == [
        "300 of its texts were asked by one person alone",
        "2 of its texts hold an identifier, such as a phone number",
    ]
    assert failed(run(exposure=exposed(own_texts=1)), Limits(own_texts=0.01)) == []


@pytest.mark.parametrize(("delta", "fails"), [(1e-5, []), (0.00099, []), (0.001, [1]), (0.5, [1])])
def test_a_delta_must_be_below_one_person(delta, fails):
    assert failed(run(proves={"epsilon": 1.0, "delta": delta}, exposure=exposed(people=1000))) == fails


@pytest.mark.parametrize("epsilon", [-5.0, 0.0, float("nan")])
def test_a_budget_that_is_none_proves_nothing(epsilon):
    assert failed(run(proves={"epsilon": epsilon})) == [1]


def test_a_further_column_with_values_of_one_person():
    verdict = judge(run(exposure=exposed(own_value_shares={"url": 0.5, "category": 0.0})), LIMITS, TASKS)
    assert [(c.number, c.change) for c in verdict.failed] == [(3, "leave out the column url")]


def test_where_the_interval_alone_is_too_wide_no_setting_is_to_blame():
    (chance,) = judge(run(attacks=[found("a", 0.0, risk="membership", high=0.2)]), LIMITS, TASKS).failed
    assert chance.change == "more people in the log"
    assert "9 are too few to tell" in chance.says
    (real,) = judge(run(attacks=[found("a", 0.15, high=0.25)]), LIMITS, TASKS).failed
    assert real.change == "raise --k to 10"
    assert "too few" not in real.says


def test_own_texts_where_texts_of_more_people_are_promised():
    r = run(exposure=exposed(own=0.5))
    r = dataclasses.replace(r, statement=dataclasses.replace(r.statement, text_users=20))
    assert "its statement promises texts of 20 people" in judge(r, LIMITS, TASKS).failed[0].change


@pytest.mark.parametrize(
    ("settings", "own", "identifiers"),
    [
        ({"as_in_paper": True, "rare": "keep", "identifiers": "keep"}, "leave out --as-in-paper", "leave out --as-in"),
        ({"rare": "keep", "identifiers": "drop"}, "--rare phrase", "--rare phrase"),
        ({"rare": "phrase", "identifiers": "keep"}, "raise --min-query-users to 5", "--identifiers drop"),
        ({"identifiers": False}, "raise --min-query-users to 5", "--identifiers drop"),
    ],
)
def test_settings_that_publish_rare_texts_or_identifiers_are_what_is_to_change(settings, own, identifiers):
    r = run(exposure=exposed(own=0.5, identifiers=0.5))
    said = dataclasses.replace(r.statement, settings={"min_query_users": 1, **settings})
    changes = [c.change for c in judge(dataclasses.replace(r, statement=said), LIMITS, TASKS).failed]
    assert own in changes[0]
    assert identifiers in changes[1]


def test_what_published_nothing_passed_nothing():
    """Attacks found nobody and all counts are 0: it must not read as a run that keeps its limits."""
    empty = run(exposure=exposed(rows=0.0, texts=0), utility=())
    assert failed(empty) == failed(empty, tasks=()) == [4]
    verdict = judge(empty, LIMITS, ())
    assert verdict.failed[0].says == "it published nothing: there is nothing to attack, and nothing to use"
    assert "--min-query-users" in verdict.failed[0].change
    assert failed(run(exposure=exposed(rows=0.0, texts=0), proves={})) == [4, 1]
    assert advise([empty], LIMITS, ()).publish is None
    weightless = exposed(rows=0.0, texts=3)  # counts of 0 are rows all the same, and can be read
    assert failed(run(exposure=weightless)) == []
