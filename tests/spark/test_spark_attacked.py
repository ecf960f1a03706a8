"""What attackers of the Spark part found: each of these once published, lost or told what it should not."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from cli_of_tests import querycloak

from querycloak.errors import GateError, OutputError, ParameterError

pytest.importorskip("pyspark", reason="pyspark is not installed")

FAST = ["--method", "sweep", "--rare", "keep", "--identifiers", "keep", "--seed", 1, "--yes"]
PRIVATE = ["--method", "frequent-queries", "--epsilon", 20, "--delta", 0.01, "--yes"]


def run(*words):
    return querycloak("spark", "anonymize", *words)


def refused(*words):
    done = run(*words)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def log_of(path, rows, header="user\tquery\ttime\trank\turl"):
    path.write_text(header + "\n" + "".join("\t".join(row) + "\n" for row in rows))
    return path


def usual(n=40):
    return [(f"u{i % 7}", f"tea {i % 3}", "2006-03-01 07:17:12", "", "") for i in range(n)]


@pytest.mark.slow
def test_of_json_a_private_release_asks_for_the_columns_and_tells_nothing_of_the_records(spark, tmp_path):
    """One more record with another key changed which columns the statement named."""
    usual = [{"user": f"u{i}", "query": "café crème"} for i in range(80)]
    forms = []
    for name, more in (("a", []), ("b", [{"user": "victim", "query": "caf\u00e9", "url": "http://x.example"}])):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=name == "b") + "\n" for row in [*more, *usual]))
        assert "JSON does not say which columns there are" in refused(path, "-o", tmp_path / "no", *PRIVATE)
        out = tmp_path / f"release-{name}"
        done = run(path, "-o", out, *PRIVATE, "--columns", "user=user,query=query")
        assert done.returncode == 0, done.stderr
        forms.append(json.loads(out.with_name(out.name + ".statement.json").read_text())["form"])
    assert forms[0] == forms[1]


@pytest.mark.slow
def test_whole_numbers_are_times_as_on_one_machine(spark):
    from querycloak.logs.query_log import MISSING_TIME
    from querycloak.logs.times import choose_pattern, parse_each
    from querycloak.spark.spark_log import SparkLog

    for numbers in (
        [1141197432, 5, -5, 0, None],
        [1141197432123, 20060301, 20060301071712, 10**16, -(2**63), 99_999_999_999, None],
    ):
        frame = spark.createDataFrame(
            [("ann", f"q{i}", n) for i, n in enumerate(numbers)], "user string, query string, time bigint"
        )
        log = SparkLog.of(frame)
        found = {row.query: row.time for row in log.frame.collect()}
        texts = pl.Series(["" if n is None else str(n) for n in numbers])
        expected = np.asarray(parse_each(texts, choose_pattern(texts))).tolist()
        expected = [None if t == MISSING_TIME else t for t in expected]
        assert [found[f"q{i}"] for i in range(len(numbers))] == expected
        bad = sum(t is None and n is not None for t, n in zip(expected, numbers, strict=True))
        assert log.missing == {"times that do not parse, taken as missing": bad}


@pytest.mark.slow
def test_a_rank_that_is_none_is_missing_and_nobody_reads_it(spark, tmp_path):
    rows = [*usual(), ("u1", "tea 1", "2006-03-01 07:17:12", "SECRETVALUE", "http://a.example")]
    done = run(log_of(tmp_path / "a.tsv", rows), "-o", tmp_path / "out", *FAST)
    assert done.returncode == 0, done.stderr
    assert "1 ranks that are not numbers, taken as missing" in done.stderr
    assert "SECRETVALUE" not in done.stderr


@pytest.mark.slow
def test_a_file_is_read_by_its_name_whatever_patterns_it_looks_like(spark, tmp_path):
    log_of(tmp_path / "log1.tsv", [("other", "secret of others", "", "", "")] * 3)
    ours = log_of(tmp_path / "log[12].tsv", usual())
    done = run(ours, "-o", tmp_path / "out", *FAST)
    assert done.returncode == 0, done.stderr
    assert "40 rows, 7 users" in done.stderr
    assert not any("secret" in part.read_text() for part in (tmp_path / "out").glob("part-*"))


@pytest.mark.slow
def test_a_log_is_not_replaced_by_its_release(spark, tmp_path):
    """Every folder of Spark has `_SUCCESS`; that of a log, too."""
    folder = tmp_path / "log"
    folder.mkdir()
    part = log_of(folder / "part-0.tsv", usual())
    (folder / "_SUCCESS").touch()
    assert "no release that may be replaced" in refused(folder, "-o", folder, "--overwrite", *FAST)
    (tmp_path / "log.statement.json").touch()
    assert "the log is there" in refused(folder, "-o", folder, "--overwrite", *FAST)
    assert part.exists()


@pytest.mark.slow
def test_a_truth_stays_neither_with_the_release_nor_without_one(spark, tmp_path, monkeypatch):
    log, truth = log_of(tmp_path / "a.tsv", usual()), tmp_path / "truth"
    assert "leave .zst out" in refused(log, "-o", tmp_path / "out.tsv.zst", "--truth", truth, *FAST)
    assert "two folders apart" in refused(log, "-o", truth / "out", "--truth", truth, *FAST)

    def fails(*_, **__):
        assert truth.exists()
        raise OutputError("the disk is full")

    monkeypatch.setattr("querycloak.spark.files.write_folder", fails)
    assert "the disk is full" in refused(log, "-o", tmp_path / "out", "--truth", truth, *FAST)
    assert not truth.exists()


@pytest.mark.slow
def test_only_what_passed_the_gate_is_written(spark, tmp_path):
    from querycloak.logs.form import LogForm
    from querycloak.spark.gate import publish
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.release_on_spark import make_draft
    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import SparkRelease
    from querycloak.spark.writer import write_folder

    frame = spark.createDataFrame([(f"u{i % 7}", f"tea {i % 3}") for i in range(40)], "user string, query string")
    log, knowledge = SparkLog.of(frame), Knowledge.of(spark)
    settings = {"rare": "keep", "identifiers": "keep"}
    release = publish(make_draft(log, "sweep", knowledge, seed=1, settings=settings), log, knowledge)
    form = LogForm("tsv", ())
    better = replace(release.statement, text_users=50, identifiers_dropped=True)
    for forged in (
        SparkRelease("log", frame, release.statement),
        replace(release, frame=frame),
        replace(release, statement=better),
        replace(release, statement=replace(release.statement, does_not_cover=())),
    ):
        with pytest.raises(GateError, match="has not passed the gate"):
            write_folder(forged, str(tmp_path / "out"), form)
    assert not (tmp_path / "out").exists()
    write_folder(replace(release, statement=release.statement.seeded()), str(tmp_path / "out"), form)


@pytest.mark.slow
def test_a_rule_finds_its_columns_in_files_of_text(spark, tmp_path):
    rows = [(f"u{i % 7}", "tea", "x", "no 7") for i in range(60)]
    log = log_of(tmp_path / "a.tsv", rows, "AnonID\tQuery\tcountry\tstate")
    rules = tmp_path / "rules.toml"
    rules.write_text('[columns]\nkeep = ["country", "state"]\n')
    done = run(log, "-o", tmp_path / "out", "--method", "policy", "--rules", rules, "--seed", 1, "--yes")
    assert done.returncode == 0, done.stderr
    (first, *_) = sorted((tmp_path / "out").glob("part-*"))
    header, row, *_ = first.read_text().splitlines()
    values = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (values["country"], values["state"]) == ("x", "no 7")


@pytest.mark.slow
def test_texts_of_white_space_and_bytes_that_are_no_text(spark, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from querycloak.spark.spark_log import SparkLog

    frame = spark.createDataFrame([("ann", "\t\t"), ("ann", "tea")], "user string, query string")
    assert SparkLog.of(frame, on_error="skip").dropped == {"rows without a user": 0, "rows without a query": 1}
    broken = pa.array([b"t\xe9a", b"tea"]).view(pa.string())
    pq.write_table(pa.table({"user": ["ann", "bob"], "query": broken}), tmp_path / "a.parquet")
    done = run(tmp_path / "a.parquet", "-o", tmp_path / "out", "--method", "sweep")
    assert done.returncode == 2
    assert "holds text that is no UTF-8" in done.stderr


def test_the_normal_form_of_an_id_does_not_depend_on_the_ids_beside_it():
    import pyarrow as pa

    from querycloak.logs.user_ids import normal_user
    from querycloak.spark.spark_log import _normal_users

    ids = ["ann", "ann\x1f", "\x1cann", " ann\t", "\x0bbob\r\n", "\x00x", ""]
    expected = [normal_user(text) for text in ids]
    assert _normal_users(pa.array(ids)).to_pylist() == expected
    assert _normal_users(pa.array([*ids, "é"])).to_pylist() == [*expected, "é"]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("partition", {"output_form": "classes"}),
        ("semantic-dp", {"shape": "paper"}),
        ("frequent-queries", {"epsilon": 1.0, "delta": 1e-6, "ledger": "a.ledger"}),
        ("semantic-microaggregation", {"as_in_paper": True}),
    ],
)
def test_what_is_for_one_machine_is_refused_by_its_settings_alone(method, settings):
    from querycloak.catalog import method as find_method
    from querycloak.spark.refusals import refuse_on_spark

    entry = find_method(method)
    plain = {name: value for name, value in settings.items() if name in {"epsilon", "delta"}}
    refuse_on_spark(entry.name, entry.settings.from_json({**entry.given, **plain}))
    with pytest.raises(ParameterError):
        refuse_on_spark(entry.name, entry.settings.from_json({**entry.given, **settings}))
