"""What Spark counts of a release equals what one machine counts, on the same log and the same release."""

import random
from dataclasses import asdict

import pytest

import querycloak as qc

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged(spark):
    """A log, a release of it by one machine, and both as tables of Spark."""
    draw = random.Random(7)
    texts = ["green tea", "tea", "cheap green tea", "Tea ", "who is ada smith", "mail ann@example.com", "jaguar"]
    rows = [(f"u{draw.randrange(15)}", draw.choice([*texts, f"own {i}"])) for i in range(260)]
    log = qc.QueryLog.of([user for user, _ in rows], [query for _, query in rows])
    release = qc.anonymize(log, "sweep", as_in_paper=True, seed=2)
    original = spark.createDataFrame(rows, "user string, query string").repartition(2)
    published = release.log.to_polars().select("user", "query").rows()
    released = spark.createDataFrame(published, "user string, query string").repartition(2)
    people = [log.users[int(code)] for code in release.truth.user]
    truth = spark.createDataFrame(list(zip(release.log.users.to_list(), people, strict=True)), "id string, user string")
    return log, release, original, released, truth


def test_exposure_is_that_of_one_machine(judged):
    from querycloak.evaluation.workbench import Workbench
    from querycloak.spark import exposure

    log, release, original, released, _ = judged
    expected = asdict(Workbench(log).for_release(release).exposure_of(release))
    found = asdict(exposure(original, released, release.statement))
    left_out = {
        "most_own_in_one_log", "logs_with_own", "logs_naming_member", "classes_with_sensitive",
        "classes_sharing_sensitive", "own_value_shares", "own_moment_share", "not_counted",
    }  # fmt: skip
    assert {name: found[name] for name in found if name not in left_out} == {
        name: expected[name] for name in expected if name not in left_out
    }
    assert found["own_texts"] > 0
    assert found["identifier_texts"] == 1


def test_linking_without_a_limit_is_that_of_one_machine_and_with_one_a_lower_bound(judged):
    from querycloak.spark import attack

    log, release, original, released, truth = judged
    expected = qc.attack(log, release, names=["record-linkage"], rerun=False)[0]
    (found,) = attack(original, released, release.statement, truth, "record linkage", most_people=10**6)
    assert found.rate == pytest.approx(expected.rate)
    assert (found.low, found.high, found.lift_high) == pytest.approx((expected.low, expected.high, expected.lift_high))
    assert found.details == pytest.approx(expected.details)
    assert found.targets == expected.targets == 15
    (less,) = attack(original, released, release.statement, truth, most_people=3)
    assert less.details["share of rows in blocks left out"] > 0.3
    assert less.rate <= found.rate
    with pytest.raises(qc.errors.UserError, match="does not run on Spark"):
        attack(original, released, release.statement, truth, "timing")


def test_measures_are_those_of_one_machine(judged):
    from querycloak.spark import measure

    log, release, original, released, truth = judged
    expected = {s.measure: s.value for s in qc.measure(log, release, names=["kept", "unchanged"])}
    found = {s.measure: s.value for s in measure(original, released, release.statement, truth, ["kept", "unchanged"])}
    assert found == pytest.approx({name: expected[name] for name in found})
    assert set(found) == {"volume kept", "distinct queries kept", "rows per user", "queries unchanged"}
