from __future__ import annotations

import numpy as np
import pytest
from reference.claim import attributions
from sample_releases import distinct_log, release_of
from sample_trials import all_alike, as_it_is, in_groups, nonsense_log

from querycloak.attacks.attribute import attribute
from querycloak.attacks.claim import ranking_spaces
from querycloak.attacks.likeness import Likeness
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.vectors import text_spaces
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.progress import QUIET
from querycloak.randomness import Randomness

LOG = distinct_log()


def attack(log, release, bench=None):
    bench = bench or Workbench(log)
    return attribute(
        log, release, Randomness(1), QUIET, halves=bench.halves(1), askers=bench.askers_of(release)
    )  # fmt: skip


def test_members_with_words_of_their_own_are_told_apart():
    every, fifth = attack(LOG, in_groups(LOG, 4))
    assert every.rate == fifth.rate == 1.0
    assert (every.targets, fifth.targets) == (240, 48)  # 6 of 12 queries of each person are new
    np.testing.assert_allclose([every.baseline.rate, fifth.baseline.rate], 0.25)
    assert every.details["known already"] == 240
    assert (every.unit, every.risk, every.question) == ("query", "claim", "inference")


def test_members_without_a_hint_are_guessed():
    log = nonsense_log(120, shared=lambda u: f"topic{u // 4}")
    every, _ = attack(log, in_groups(log, 4))
    assert every.low < 0.25 < every.high
    assert every.lift_low < 0.0 < every.lift_high
    np.testing.assert_allclose(every.baseline.rate, 0.25)


def test_exact_ties_share_the_text():
    log = QueryLog.of(["a", "a", "b", "b"], ["tea", "abcd", "tea", "efgh"], times=[1, 2, 3, 4])
    every, fifth = attack(log, in_groups(log, 2))
    assert every.rate == fifth.rate == 0.5
    assert every.targets == 2


def test_half_of_the_members_are_told_apart_and_the_attacker_knows_which():
    # Even groups have words of their own; odd groups share all but nonsense.
    log = nonsense_log(160, shared=lambda u: f"topic{u}" if u // 4 % 2 == 0 else f"topic{u // 4}")
    every, fifth = attack(log, in_groups(log, 4))
    assert every.low < 0.5 + 0.5 / 4 < every.high
    assert fifth.rate == 1.0


def test_a_class_of_one_needs_no_guess():
    every, fifth = attack(LOG, as_it_is(LOG))
    np.testing.assert_allclose([every.rate, fifth.rate], 1.0)
    np.testing.assert_allclose([every.baseline.rate, fifth.baseline.rate], 1 / 40)
    assert every.details["share of texts in classes of one"] == 1.0


def test_texts_of_other_groups_are_no_targets():
    log = QueryLog.of(["a", "a", "b", "b"], ["tea", "abcd", "tea", "efgh"], times=[1, 2, 3, 4])
    release = release_of(log, [["tea", "efgh"], ["tea", "tea"]], [0, 1])  # b's own text under a
    with pytest.raises(CannotAttackError, match="only one person"):
        attack(log, release)


def test_one_more_row_is_another_class():
    log = QueryLog.of(["a", "a", "b", "b"], ["tea", "abcd", "tea", "efgh"], times=[1, 2, 3, 4])
    both = ["tea", "abcd", "efgh"]
    every, _ = attack(log, release_of(log, [both, [*both, "tea"]], [0, 1]))
    assert every.details["mean members of a class"] == 1.0


def test_what_everybody_asks_is_no_target():
    plain = ["tea", "coffee", "milk", "water"]
    log = QueryLog.of([f"u{u}" for u in range(6) for _ in plain], plain * 6)
    with pytest.raises(CannotAttackError, match="only one person"):
        attack(log, all_alike(log, plain))


def test_empty_release():
    with pytest.raises(CannotAttackError, match="only one person"):
        attack(LOG, release_of(LOG, [], []))


def test_one_person_without_times():
    log = QueryLog.of(["a"] * 4, ["tea one", "tea two", "tea three", "tea four"])
    every, _ = attack(log, as_it_is(log))
    assert every.rate == every.baseline.rate == 1.0  # there is nobody else in the log
    assert "a random half" in every.knows


@pytest.mark.parametrize("size", [1, 3, 4])
def test_against_the_reference(size):
    log = nonsense_log(24, queries=5, shared=lambda u: f"topic{u % 3}", seed=3)
    bench = Workbench(log)
    release = in_groups(log, size)
    every, _ = attack(log, release, bench)
    halves, askers = bench.halves(1), bench.askers_of(release)
    people, texts = np.arange(24, dtype=np.int32), np.arange(len(release.log.queries))
    spaces = ranking_spaces(text_spaces(log, release), holds_concepts=False)
    compared = Likeness.of(spaces, halves.known, people, texts)
    likeness = np.stack([compared.of_person(p, texts) for p in range(24)])
    expected = attributions(halves, log, release, askers, likeness)
    assert every.targets == len(expected)
    np.testing.assert_allclose(every.rate, np.mean(list(expected.values())))
