"""Where a release goes, in which form, and who may write there."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time

import polars as pl
import pytest
from cli.command import querycloak, querycloak_process, refused

import querycloak as qc

HEADER = "user\tquery\ttime\tshop\n"
ROWS = [(f"u{u}", q, "2006-03-01 10:00:00", "a,b") for u in range(5) for q in ("green tea", 'the "best"', "wéather")]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(HEADER + "".join("\t".join(row) + "\n" for row in ROWS))
    return path


@pytest.mark.parametrize(
    "name", ["o.parquet", "o.csv", "o.tsv", "o.jsonl", "o.csv.gz", "o.jsonl.zst", "o", "o.gz", "O.CSV", "o.pq"]
)
@pytest.mark.parametrize("source", ["tsv", "csv", "jsonl", "parquet"])
def test_the_suffix_says_the_form_whatever_came_in(log, tmp_path, name, source):
    given = tmp_path / f"in.{source}"
    qc.write_log(qc.read_log(log), given)
    expected = qc.read_log(log)
    assert qc.read_log(given).users.equals(expected.users)
    release = qc.anonymize(qc.read_log(given), "sweep", min_query_users=3, seed=1)
    qc.write_release(release, tmp_path / name)
    back = qc.read_release(tmp_path / name)
    queries = back.log.queries.gather(back.log.query).to_list()
    assert queries == [row[1] for row in ROWS]
    found = qc.read_log(tmp_path / name).form
    format_of = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
    wanted = next((f for suffix, f in format_of.items() if suffix in name.lower()), source)
    assert found.format == wanted
    if wanted != "parquet":
        assert found.compression == ("gz" if ".gz" in name else "zst" if ".zst" in name else "")


@pytest.mark.parametrize("source", ["tsv", "csv", "jsonl", "parquet"])
@pytest.mark.parametrize("target", ["tsv", "csv", "jsonl", "parquet", "json"])
def test_a_log_keeps_its_values_from_form_to_form(log, tmp_path, source, target):
    qc.write_log(qc.read_log(log), tmp_path / f"in.{source}")
    qc.write_log(qc.read_log(tmp_path / f"in.{source}"), tmp_path / f"out.{target}")
    if target == "json":
        rows = json.loads((tmp_path / "out.json").read_text())
        assert [(r["user"], r["query"], r["shop"]) for r in rows] == [(r[0], r[1], r[3]) for r in ROWS]
        return
    back = qc.read_log(tmp_path / f"out.{target}")
    assert back.users.gather(back.user).to_list() == [row[0] for row in ROWS]
    assert back.time.tolist() == qc.read_log(log).time.tolist()
    shops = back.extra["shop"].to_list()
    assert shops == ['"a,b"' if target == "jsonl" else "a,b"] * len(ROWS)  # JSON is kept as its text


def test_an_array_of_nothing(tmp_path):
    qc.write_log(qc.QueryLog.of([], []), tmp_path / "o.json")
    assert json.loads((tmp_path / "o.json").read_text()) == []


def test_parquet_has_times_of_its_own(log, tmp_path):
    qc.write_log(qc.read_log(log), tmp_path / "o.parquet")
    assert pl.read_parquet(tmp_path / "o.parquet").schema["time"] == pl.Datetime("us")


@pytest.mark.slow
def test_a_dash_is_standard_output(log, tmp_path):
    words = ["anonymize", log, "-m", "sweep", "--min-query-users", 3, "--seed", 1]
    done = querycloak_process(*words, "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert querycloak(*words, "-o", tmp_path / "o.tsv").returncode == 0
    assert done.stdout == (tmp_path / "o.tsv").read_text()
    assert "sweep" in done.stderr
    assert "--statement FILE" in done.stderr
    assert not (tmp_path / "-").exists()


@pytest.mark.slow
@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_the_statement_of_what_goes_to_standard_output(log, tmp_path, output):
    out, statement = tmp_path / "got.tsv", tmp_path / "got.tsv.statement.json"
    words = ["anonymize", log, "-m", "sweep", "--min-query-users", "3", "-o", output, "--statement", statement]
    with out.open("wb") as file:
        subprocess.run([sys.executable, "-m", "querycloak", *map(str, words)], stdout=file, check=True, timeout=120)
    assert len(qc.read_release(out).log) == len(ROWS)


@pytest.mark.slow
def test_a_named_pipe(log, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = ["anonymize", log, "-m", "sweep", "--min-query-users", "3", "-o", pipe]
    process = subprocess.Popen([sys.executable, "-m", "querycloak", *map(str, words)], stderr=subprocess.PIPE)
    reader = subprocess.run(["timeout", "60", "cat", pipe], capture_output=True, check=True)
    assert process.wait(timeout=60) == 0
    process.communicate()
    assert reader.stdout.count(b"\n") == 1 + len(ROWS)
    assert pipe.is_fifo()


@pytest.mark.slow
def test_generate_to_standard_output(tmp_path):
    done = querycloak_process("generate", "--users", 5, "--queries", 40, "--seed", 1, "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("AnonID\t")
    assert "query events" in done.stderr
    assert list(tmp_path.iterdir()) == []


HOLD = """
import sys
from pathlib import Path
from querycloak.logs.locks import locked, locked_directory
with (locked_directory if sys.argv[1] == "d" else locked)(Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held():
    """Another process that writes a file or a directory until it is told to end."""
    processes = []

    def start(kind, path):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, kind, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout.readline() == b"held\n"
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_a_second_writer_is_refused_before_any_work(log, tmp_path, held):
    out = tmp_path / "o.tsv"
    words = ["anonymize", log, "-m", "sweep", "-o", out]
    other = held("f", out)
    refused(querycloak(*words), "o.tsv: another run is writing it")
    refused(querycloak("stream", "-i", log, "-o", out, "--columns", "category=shop"), "another run is writing it")
    refused(querycloak("generate", "--users", 5, "--queries", 40, "-o", out), "another run is writing it")
    refused(querycloak("anonymize", log, "-m", "sweep", "-o", tmp_path / "p", "--truth", out), "another run")
    assert not out.exists()
    assert not (tmp_path / "p").exists()
    other.kill()
    other.wait()
    assert (tmp_path / ".o.tsv.lock").exists(), "a killed process leaves its lock file"
    assert querycloak(*words).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.tsv", "o.tsv", "o.tsv.statement.json"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc, which takes no files")
def test_a_directory_that_takes_no_file(log):
    refused(querycloak("anonymize", log, "-o", "/proc/r.tsv", "--method", "sweep"), "no file can be made")


def test_a_directory_has_one_writer(log, tmp_path, held):
    other = held("d", tmp_path / "c")
    words = ["compare", log, "--methods", "sweep", "--min-query-users", 3, "-o", tmp_path / "c"]
    refused(querycloak(*words), "c: another run is writing it")
    stream = ["stream", "-i", log, "-o", tmp_path / "o", "--columns", "category=shop", "--checkpoint", tmp_path / "c"]
    refused(querycloak(*stream), "c: another run is writing it")
    other.kill()
    other.wait()
    assert querycloak(*words).returncode == 0
    assert (tmp_path / "c" / "report.html").exists()


def test_what_a_killed_process_left_is_removed(log, tmp_path):
    (tmp_path / ".o.tsv.part").write_text("half")
    (tmp_path / ".o.tsv.statement.json.part").write_text("half")
    assert querycloak("anonymize", log, "-m", "sweep", "-o", tmp_path / "o.tsv").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.tsv", "o.tsv", "o.tsv.statement.json"]


@pytest.mark.slow
def test_two_real_runs_at_once_give_one_whole_release(log, tmp_path):
    """Many pairs of runs over two logs: each release belongs to its statement, and one of each pair may be refused."""
    other = tmp_path / "other.tsv"
    other.write_text(log.read_text().replace("u1", "v1"))
    for _ in range(4):
        processes = []
        for source in (log, other):
            words = ["anonymize", source, "-m", "sweep", "-o", tmp_path / "o.csv.gz"]
            command = [sys.executable, "-m", "querycloak", *map(str, words)]
            processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
            time.sleep(0.05)
        for process in processes:
            _, errors = process.communicate(timeout=120)
            assert process.returncode in {0, 2}
            assert process.returncode == 0 or b"another run is writing it" in errors
        assert len(qc.read_release(tmp_path / "o.csv.gz").log) == len(ROWS)
        gzip.decompress((tmp_path / "o.csv.gz").read_bytes())
