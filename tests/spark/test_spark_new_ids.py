"""New ids are those of one machine, also where two users draw the same one."""

import sys

import pytest

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.randomness import Randomness

pytestmark = pytest.mark.slow


class FewIds(KeyedRandomness):
    """So few ids that users must draw again."""

    def candidates(self, names, turn=0, *, digits=False):
        return [f"{int(word) % 300:x}" for word in self.words(names, turn=turn)[:, 0].tolist()]


def frame_of(spark, names, column="user"):
    return spark.createDataFrame([(name,) for name in names], f"{column} string").repartition(3)


@pytest.mark.parametrize("digits", [True, False])
def test_ids_are_those_of_one_machine(spark, digits):
    from querycloak.spark.new_ids import NewIds

    names = [f"user {i}" for i in range(200)]
    expected = KeyedRandomness(Randomness(seed=3).child("ids")).identifiers(names, digits=digits)
    users = frame_of(spark, names)
    ids = NewIds.of(users, Randomness(seed=3), avoid=users, digits=digits)
    rows = ids.put_on(users.union(users)).collect()
    assert len(rows) == 400
    assert {(row.user, row.id) for row in rows} == set(zip(names, expected, strict=True))


def test_who_draws_an_id_that_is_taken_draws_again(spark):
    from pyspark import cloudpickle

    from querycloak.spark.new_ids import NewIds

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    names = [f"user {i}" for i in range(40)]
    avoid = [f"{i:x}" for i in range(0, 300, 4)]
    keyed = FewIds(Randomness(seed=5))
    expected = keyed.identifiers(names, avoid=frozenset(avoid))
    assert len(set(expected)) == 40
    assert set(expected) != set(keyed.candidates(names))
    users = frame_of(spark, names)
    ids = NewIds.drawn_by(keyed, users, avoid=frame_of(spark, avoid), digits=False)
    assert ids.later is not None
    assert sorted((r.user, r.id) for r in ids.put_on(users).collect()) == sorted(zip(names, expected, strict=True))


def test_digits_are_for_logs_whose_ids_are_numbers(spark):
    from querycloak.spark.new_ids import all_digits

    assert all_digits(frame_of(spark, ["17", "4"]))
    assert not all_digits(frame_of(spark, ["17", "a4"]))
