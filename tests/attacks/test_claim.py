from __future__ import annotations

import numpy as np
import pytest
from reference.claim import claims
from sample_releases import distinct_log, release_of
from sample_trials import HandTrials, all_alike, as_it_is, in_groups, nonsense_log
from samples import sample_log

from querycloak.attacks.claim import claim, ranking_spaces
from querycloak.attacks.likeness import Likeness
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.similarity import Similarity
from querycloak.evaluation.trials import NoTrials
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.progress import QUIET
from querycloak.randomness import Randomness

LOG = distinct_log()
PLAIN = ["tea", "coffee", "milk", "water", "wine", "beer"]


def attack(log, release, publish=None, bench=None):
    bench = bench or Workbench(log)
    trials = NoTrials("not again") if publish is None else HandTrials(bench, publish)
    return claim(
        log,
        release,
        Randomness(1),
        QUIET,
        halves=bench.halves(1),
        askers=bench.askers_of(release),
        trials=trials,
        concepts=bench.concepts,
        release_concepts=bench.concepts_of(release),
        taxonomy=bench.taxonomy,
    )


def asked_in_order(people):
    """people: {user: queries}, asked one after the other."""
    rows = [(u, q) for u, queries in people.items() for q in queries]
    return QueryLog.of([u for u, _ in rows], [q for _, q in rows], times=list(range(len(rows))))


def test_a_release_that_leaks_all():
    first, five = attack(LOG, as_it_is(LOG), as_it_is)
    assert first.rate == five.rate == 1.0
    assert (first.targets, first.baseline.kind, first.baseline.rate) == (40, "people held out", 0.0)
    assert first.baseline.targets == 8
    assert first.lift_low > 0.5
    assert first.details["rate for another person"] == 0.0


def test_what_everybody_asks_is_no_harm():
    log = QueryLog.of([f"u{u}" for u in range(30) for _ in PLAIN], PLAIN * 30, times=list(range(180)))
    for publish in (lambda part: all_alike(part, PLAIN), None):
        first, five = attack(log, all_alike(log, PLAIN), publish)
        assert first.rate == five.rate == 1.0
        assert first.baseline.rate == 1.0
        assert first.lift == 0.0
        assert first.lift_low < 0.0 < first.lift_high
        assert first.baseline.kind == ("another person" if publish is None else "people held out")


@pytest.mark.slow
def test_groups_without_a_hint():
    # Groups of four; what a member asks tells nothing of the member: 6 of the 42 new texts are right.
    log = nonsense_log(200, shared=lambda u: f"topic{u // 4}")
    first, five = attack(log, in_groups(log, 4), lambda part: in_groups(part, 4))
    assert first.low < 1 / 7 < first.high
    assert five.low < 1 / 7 < five.high
    assert first.baseline.rate == 0.0


def test_a_claim_of_the_known_half_is_none():
    log = asked_in_order({"a": ["tea", "cups"], "b": ["windsurfing", "boats"]})
    release = release_of(log, [["tea"], ["windsurfing"]], [0, 1])
    first, _ = attack(log, release)
    assert first.rate == 0.0
    assert first.details["people without a claim"] == 2.0


def test_a_query_asked_again_is_known():
    log = asked_in_order({"a": ["tea", "tea"], "b": ["windsurfing", "boats"]})
    first, _ = attack(log, as_it_is(log))
    assert first.rate == 0.5


def test_logs_that_fit_equally_share_the_claim():
    log = asked_in_order({"a": ["tea", "abcde"], "b": ["tea", "fghij"]})
    first, five = attack(log, as_it_is(log))
    np.testing.assert_allclose([first.rate, five.rate], 0.5)
    np.testing.assert_allclose(first.details["rate for another person"], 0.5)


def test_first_five_count_each():
    # Known: 4 queries about boats. The group's log has 2 of the person's new ones and 4 of another's, all like boats.
    boats = [f"sailing boats {i}" for i in range(6)]
    other = [f"sailing boats {i}" for i in range(10, 14)]
    log = asked_in_order({"a": ["boats a", "boats b", *boats[:2]], "b": ["cats", "dogs", *other[:2]]})
    release = release_of(log, [["boats a", *boats[:2], *other[:2], "zebra"], ["cats", "dogs"]], [0, 1])
    five = attack(log, release)[1]
    np.testing.assert_allclose(five.rate, (2 / 5 + 0) / 2)


def test_the_baseline_counts_people_who_are_not_in_the_release():
    # Everybody asks for tea last. Published: the own words of each, and tea.
    rows = {f"u{u}": [f"word{u} a", f"word{u} b", "tea", "tea"] for u in range(20)}
    log = asked_in_order(rows)
    publish = lambda part: release_of(part, [["tea"]] * len(u := np.unique(part.user)), u.tolist())  # noqa: E731
    first, _ = attack(log, publish(log), publish)
    assert first.rate == first.baseline.rate == 1.0
    assert first.baseline.targets == 4


def test_people_with_many_known_events():
    rows = {"a": [f"word thing {i}" for i in range(120)], "b": ["cats", "dogs", "cows"]}
    first, _ = attack(asked_in_order(rows), as_it_is(asked_in_order(rows)))
    assert first.details["people with 50 known events or more"] == 1.0
    np.testing.assert_allclose(first.details["rate with 50 known events or more"], 1.0)


def test_people_with_one_event_and_people_left_out_are_no_targets():
    log = asked_in_order({"a": ["tea", "cups"], "b": ["windsurfing"], "c": ["cats", "dogs"]})
    first, _ = attack(log, as_it_is(log, who=lambda u: u < 2))
    assert first.targets == 1
    assert first.details["people not published"] == 1.0


def test_one_person_without_times():
    log = QueryLog.of(["a"] * 4, ["tea one", "tea two", "tea three", "tea four"])
    first, _ = attack(log, as_it_is(log))
    assert first.rate == 1.0
    assert first.knows.startswith("a random half")


def test_empty_release():
    with pytest.raises(CannotAttackError, match="nobody"):
        attack(LOG, release_of(LOG, [], []))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("semantic-microaggregation", {"k": 3}),
        ("clump", {"k": 3}),
        pytest.param("semantic-dp", {"epsilon": 5.0}, marks=pytest.mark.needs_jit),
        ("sweep", {}),
    ],
)
def test_against_the_reference(method, settings):
    log = sample_log(users=30, queries=9)
    bench = Workbench(log)
    release = bench.anonymize(method, seed=1, **settings)
    first, five = attack(log, release, bench=bench)
    fits = Similarity.of(
        log,
        release,
        concepts=bench.concepts,
        release_concepts=bench.concepts_of(release),
        taxonomy=bench.taxonomy,
    )
    people = release.truth.user[np.unique(release.log.user)]
    halves = bench.halves(1)
    spaces = ranking_spaces(fits.spaces, holds_concepts=release.holds_concepts)
    texts = np.arange(len(release.log.queries))
    compared = Likeness.of(spaces, halves.known, people, texts)
    likeness = np.stack([compared.of_person(p, texts) for p in range(len(people))])
    scores, askers = fits.scores(halves.known, people), bench.askers_of(release)
    for most, result in ((1, first), (5, five)):
        expected = claims(halves, release, askers, scores, likeness, people, most).mean(axis=0)
        np.testing.assert_allclose([result.rate, result.details["rate for another person"]], expected, atol=1e-12)
