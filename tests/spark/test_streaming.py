"""Structured Streaming: a query that goes on, a micro-batch that runs again, and what is refused before it starts."""

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("google.protobuf", reason="protobuf is not installed")

from spark.test_stream_branch import some_rows

from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.spark import stream

pytestmark = pytest.mark.slow

SCHEMA = "user string, query string, time bigint, rank int, url string, category string"


def open_stream(spark, folder: Path, **settings):
    log = spark.readStream.schema(SCHEMA).option("header", True).option("maxFilesPerTrigger", 1)
    settings = {"k": 3, **settings}
    return stream(log.csv(str(folder / "in")), "nearest", checkpoint=folder / "state", **settings)


def run(spark, folder: Path, **settings) -> list[str]:
    shuffles = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        released = open_stream(spark, folder, **settings)
        query = released.write(folder / "out", trigger={"availableNow": True})
        query.awaitTermination()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", shuffles)
    return sorted(map(str, spark.read.parquet(str(folder / "out")).drop("batch").collect()))


def forget_commits(folder: Path, batch: int) -> None:
    """Bring the checkpoint to where it is when a query is killed after its sink had the batch."""
    for path in (folder / "state" / "commits").glob(f"*{batch}*"):
        path.unlink()


def test_a_batch_that_runs_again_publishes_nothing_twice_and_nothing_else(tmp_path, spark):
    (tmp_path / "in").mkdir()
    rows = some_rows(400)
    rows[:250].write_csv(tmp_path / "in" / "0.csv")
    first = run(spark, tmp_path)
    assert len(first) > 100

    forget_commits(tmp_path, 0)
    assert run(spark, tmp_path) == first

    rows[250:].write_csv(tmp_path / "in" / "1.csv")
    both = run(spark, tmp_path)
    assert len(both) > len(first)
    assert set(first) <= set(both)
    statement = json.loads((tmp_path / "out" / "_statement.json").read_text())
    assert statement["counts_in"]["rows"] == 400
    assert statement["counts_out"]["rows"] == len(both) == 400 - sum(statement["dropped"].values())
    assert statement["figures"]["fewest candidates"] >= 3
    key = tmp_path / "state" / "querycloak" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_bytes()) == 32

    with pytest.raises(InputError, match="another settings"):
        open_stream(spark, tmp_path, k=4)

    # another secret draws other users: what is published stays, and the query ends
    forget_commits(tmp_path, 1)
    shutil.rmtree(tmp_path / "state" / "querycloak")
    with pytest.raises(Exception, match="makes other rows"):
        run(spark, tmp_path)
    assert sorted(map(str, spark.read.parquet(str(tmp_path / "out")).drop("batch").collect())) == both


def test_what_cannot_be_is_refused_before_the_query_starts(tmp_path, spark):
    (tmp_path / "in").mkdir()
    frame = spark.createDataFrame([("a", "b")], "user string, query string")
    with pytest.raises(ParameterError, match="no stream"):
        stream(frame, checkpoint=tmp_path / "state")
    with pytest.raises(ParameterError, match="epoch"):
        open_stream(spark, tmp_path, epoch="100")
    with pytest.raises(UnknownNameError, match="sweep"):
        stream(frame, "sweep", checkpoint=tmp_path / "state")
    assert not (tmp_path / "state").exists()
