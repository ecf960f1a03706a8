"""An invented log on a cluster: statistics of one machine to the last digit, and users that nobody is."""

import numpy as np
import pytest
from test_spark_frequent_queries import frame_of, log_of

from querycloak.evaluation.workbench import Workbench
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.knowledge.named import load_taxonomy
from querycloak.methods.dp._synthetic_domain import topic_bins
from querycloak.methods.dp._synthetic_events import read_events as read_on_one_machine
from querycloak.methods.dp._synthetic_statistics import find_statistics as find_on_one_machine
from querycloak.methods.dp._synthetic_statistics import plans, take_all
from querycloak.methods.dp.synthetic_dp import SyntheticDp
from querycloak.randomness import Randomness
from querycloak.releases.budget import Budget

pytestmark = pytest.mark.slow

TEXTS = ["tennis", "green tea", "cheap hotels", "football boots", "zxqv", "new york marathon", "apple pie recipe"]


def rows_of(seed=1, n=1500):
    """No two events of a user in one second: a cluster would put them in the order of their texts."""
    draw = np.random.default_rng(seed)
    time = 1_141_000_000 + np.cumsum(draw.choice([0, 1, 5, 20, 60], n)).astype(int)
    rows, last = [], {}
    for t in time.tolist():
        user = f"u{int(60 * draw.random() ** 2)}"
        last[user] = max(t, last.get(user, 0) + 1)
        rows.append((user, str(draw.choice(TEXTS)), last[user], draw.choice([None, "a.example", "b.example"])))
    return rows


def taken_of(settings, *, times=True, clicks=True):
    texts = plans(rounds=2, per_user=settings.per_user, clicks=clicks)
    budget = Budget(settings.epsilon, settings.delta, reserved_delta=settings.delta / 2)
    return take_all(texts, budget, times=times)


def test_statistics_are_those_of_one_machine_to_the_last_digit(spark):
    """With a seed the noise is the same too: clusters, which begin with noisy topics, then agree in every round."""
    from querycloak.spark.dp.statistics import find_statistics
    from querycloak.spark.dp.user_events import read_events
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

    rows, settings = rows_of(), SyntheticDp(epsilon=20.0, delta=1e-4, clusters=5)
    log, topics = log_of(rows), topic_bins(load_taxonomy("wordnet"))
    bench = Workbench(log)
    concepts = bench.concepts
    everybody = np.ones(len(log.users), dtype=np.bool_)
    read = read_on_one_machine(log, concepts, topics, everybody)
    assert np.bincount(read.kind, minlength=7).min() > 0, "every kind of event is there"
    expected = find_on_one_machine(
        read,
        topics,
        len(log.users),
        5,
        taken_of(settings),
        Randomness(3),
    )
    events = read_events(SparkLog.of(frame_of(spark, rows)), Knowledge.of(spark), topics, Randomness(3))
    found = find_statistics(events, topics, 5, taken_of(settings), Randomness(3))
    for name, sums in expected._asdict().items():
        if name != "cluster":
            assert getattr(found, name).deviation == sums.deviation, name
            assert getattr(found, name).value.tolist() == sums.value.tolist(), name
    events.frame.unpersist()


def test_an_invented_log_passes_the_gate_and_is_the_same_whenever_it_is_looked_at(spark, monkeypatch):
    from querycloak.spark import anonymize
    from querycloak.spark.dp import synthetic_dp as module

    monkeypatch.setattr(module, "USERS", 25)  # several blocks
    rows = rows_of()
    settings = {"epsilon": 40.0, "delta": 1e-4, "clusters": 4, "choose": "gaussian"}
    table, statement = anonymize(frame_of(spark, rows), "synthetic-dp", seed=4, **settings)
    release = Workbench(log_of(rows)).anonymize("synthetic-dp", seed=4, **settings)
    for name in ("settings", "parameters", "model", "ids", "covers", "does_not_cover", "assumptions", "account"):
        assert getattr(statement, name) == getattr(release.statement, name), name
    published = table.collect()
    assert table.columns == ["user", "query", "time", "url"]
    assert 0.7 < len(published) / len(release.log) < 1.4
    assert 0.7 < statement.counts_out["users"] / release.statement.counts_out["users"] < 1.4
    assert {row.query for row in published} & set(TEXTS)
    assert {row.url for row in published} <= {None, "a.example", "b.example"}
    assert {row.user for row in published}.isdisjoint({row[0] for row in rows})
    assert sorted(map(tuple, published), key=str) == sorted(map(tuple, table.repartition(5).collect()), key=str)


def test_blocks_share_out_all_users():
    from querycloak.methods.dp.synthetic_dp import Source

    class Model:
        sizes = (np.array([10, 0, 7]), np.array([1, 2, 3]), np.array([1, 2, 9]))

        def _replace(self, sizes):
            other = Model()
            other.sizes = sizes
            return other

    source = Source(Model(), None, None, None, np.array([8.0, 4.0]), np.array([2.0, 0.0]), 3)
    parts = [source.block(i, 4) for i in range(4)]
    assert sum(part.model.sizes[0] for part in parts).tolist() == [10, 0, 7]
    assert np.allclose(sum(part.wanted for part in parts), source.wanted)
    assert np.allclose(sum(part.filler for part in parts), source.filler)
    drawn = [KeyedRandomness(Randomness(1)).of(str(i)).words(1)[0] for i in range(4)]
    assert len(set(drawn)) == 4
