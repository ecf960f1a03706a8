"""The methods of streams over a whole log of Spark, and their gate."""

from dataclasses import replace

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import polars as pl
from spark.test_stream_branch import some_rows

from querycloak import Workbench, read_log
from querycloak.errors import GateError
from querycloak.methods.stream.stream_statement import SelfAdjustingSettings
from querycloak.randomness import Randomness
from querycloak.spark.gate_stream import check_stream
from querycloak.spark.knowledge import Knowledge
from querycloak.spark.methods import method_on_spark
from querycloak.spark.spark_log import SparkLog
from querycloak.spark.spark_release import Draft
from querycloak.spark.streams.tallies import Figures, stated

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("method", ["self-adjusting"])
def test_a_log_passes_as_on_one_machine_whatever_its_partitions_are(spark, method):
    rows = pl.concat([some_rows(300), some_rows(200, seed=2, top="Food")])
    frame = spark.createDataFrame(rows.to_pandas().astype({"rank": object}).where(lambda t: t.notna(), None), SCHEMA)
    settings = SelfAdjustingSettings(k=3)
    tables = []
    for parts in (1, 3):
        log = SparkLog.of(frame.repartition(parts))
        draft = method_on_spark(method)(log, settings, Randomness(1), Knowledge.of(spark))
        tables.append(sorted(map(str, draft.frame.collect())))
    assert tables[0] == tables[1]
    release = Workbench(read_log(rows.sort("time"))).anonymize(method, k=3, seed=1)
    theirs, ours = release.statement, draft.statement
    same = ("settings", "parameters", "model", "covers", "counts_in", "assumptions", "new_ids", "ids", "text_users")
    assert all(getattr(ours, name) == getattr(theirs, name) for name in same)
    assert ours.counts_in["rows"] - sum(ours.dropped.values()) == len(tables[0])
    assert 0.9 < len(tables[0]) / len(release.log) < 1.1
    stated_out = replace(draft, statement=replace(ours, counts_out={"rows": len(tables[0])}))
    check_stream(stated_out)
    departures = draft.also["departures"]
    for wrong, message in (
        (departures.withColumn("asker", departures["stands_for"]), "under the user who asked"),
        (departures.withColumn("candidates", departures["candidates"] - 1), "fewer than 3"),
        (departures.limit(5), "not known who asked"),
    ):
        with pytest.raises(GateError, match=message):
            check_stream(replace(stated_out, also={"departures": wrong}))


def test_a_stream_whose_askers_are_not_told_is_not_published():
    statement = stated("flat", SelfAdjustingSettings(), Randomness(0), Figures(()), ("user", "query"), {}, {})
    with pytest.raises(GateError, match="without their asker"):
        check_stream(Draft("stream", None, statement))


SCHEMA = "user string, query string, time bigint, rank int, url string, category string"
