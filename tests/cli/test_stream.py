"""`querycloak stream` as a user runs it: in pipes, in files, with Ctrl-C."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time

import pytest
from cli.command import querycloak, refused
from stream_logs import as_tsv, read_back, rows

from querycloak import api
from querycloak.live import runner, summary


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.tsv").write_bytes(as_tsv(rows()))
    return tmp_path / "log.tsv"


def start(*words, **options):
    """Start a run of texts as they are: these tests are about when and where records leave."""
    return subprocess.Popen(
        [sys.executable, "-m", "querycloak", "stream", "--as-in-paper", *words],
        stdin=subprocess.PIPE,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **options,
    )


def test_file_to_file(log, tmp_path):
    done = querycloak(
        "stream", "-i", log, "-o", tmp_path / "out.tsv", "--k", 4, "--depth", 2, "--stats", tmp_path / "stats.json"
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(rows()):,} records in" in done.stderr
    stats = json.loads((tmp_path / "stats.json").read_text())
    kept_back = sum(stats["records not published"].values())
    assert stats["records in"] == stats["records out"] + stats["records waiting"] + kept_back == len(rows())
    assert stats["published as phrases"] > 0.9 * stats["records out"] > 0  # each query is asked once
    assert f"{stats['published as phrases']:,} published as phrases" in done.stderr
    assert stats["phrases counted"] > 0 < stats["phrase bytes"]
    assert sum(stats["waiting users per level"]) == stats["records waiting"]
    for name in ("mean delay", "records per second", "mean size of the query bags", "peak memory bytes"):
        assert stats[name] > 0
    release = api.read_release(tmp_path / "out.tsv")
    assert release.statement.method == "self-adjusting"
    assert release.statement.settings["k"] == 4
    assert "Shop" in " ".join(release.statement.does_not_cover)


def test_a_short_file_with_a_checkpoint(tmp_path):
    """Kernels are not compiled for a short file; what they count must fit into a checkpoint all the same."""
    path = tmp_path / "log.tsv"
    path.write_bytes(as_tsv(rows(60, users=12)))
    words = ["stream", "-i", path, "-o", tmp_path / "out.tsv", "--k", 2]
    done = querycloak(*words, "--checkpoint", tmp_path / "state", "--checkpoint-records", 5)
    assert done.returncode == 0, done.stderr
    assert "60 records in" in done.stderr


@pytest.mark.parametrize("method", ["fixed-depth", "flat"])
def test_the_other_methods(log, tmp_path, method):
    done = querycloak("stream", "-m", method, "-i", log, "-o", tmp_path / "out.tsv", "--k", 4)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_pipe(log, tmp_path):
    with log.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "querycloak", "stream", "--as-in-paper", "--k=3", f"--statement={tmp_path}/s.json"],
            stdin=file, capture_output=True, check=True, timeout=120,
        )  # fmt: skip
    assert len(read_back(done.stdout, "tsv")) > 0.96 * len(rows())
    assert json.loads((tmp_path / "s.json").read_text())["statement"]["settings"]["k"] == 3


@pytest.mark.slow
def test_a_live_stream_gives_what_can_leave_and_ends_on_ctrl_c():
    """What `tail -f` does: lines now and then, and no end."""
    process = start("--k", "2", "--depth", "1", "--max-wait", "0.2")
    try:
        lines = [f"u{i}\tquery {i}\tTop/News\n".encode() for i in range(12)]
        process.stdin.write(b"user\tquery\tcategory\n" + b"".join(lines[:6]))
        process.stdin.flush()
        first = read_some(process, 5)
        process.stdin.write(b"".join(lines[6:]))
        process.stdin.flush()
        second = read_some(process, 6)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)  # with its input still open
        rest, errors = process.communicate()
    finally:
        process.kill()
    assert first[0] == b"user\tquery\tcategory"
    assert len(first) == 5
    assert len(second) == 6
    assert rest == b""
    assert process.returncode == 130
    assert b"stopped: 12 records in, 10 out, 2 waiting" in errors


@pytest.mark.slow
def test_a_service_that_is_stopped_has_not_failed(tmp_path):
    process = start("--k", "2", "--depth", "1", "--max-wait", "0.2", "--statement", "s.json", cwd=tmp_path)
    process.stdin.write(b"user\tquery\tcategory\n" + b"".join(b"u%d\tq\tA\n" % i for i in range(6)))
    process.stdin.flush()
    read_some(process, 5)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)
    process.communicate()
    assert process.returncode == 0
    assert json.loads((tmp_path / "s.json").read_text())["statement"]["counts_out"]["rows"] == 4


@pytest.mark.slow
def test_a_named_pipe_as_output(log, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = start("--k", "3", "-i", log, "-o", tmp_path / "pipe")
    out = (tmp_path / "pipe").read_bytes()
    assert process.wait(timeout=120) == 0
    process.communicate()
    assert len(read_back(out, "tsv")) > 0.96 * len(rows())
    assert not (tmp_path / "pipe.statement.json").exists()


@pytest.mark.slow
def test_a_live_stream_lets_out_what_came_before_a_bad_line(tmp_path):
    words = ["--statement", "s.json", "--stats", "stats.json", "--truth", "truth.tsv"]
    process = start("--k", "2", "--depth", "1", "--max-wait", "5", *words, cwd=tmp_path)
    lines = [f"u{i}\tquery {i}\tTop/News\n".encode() for i in range(12)]
    out, errors = process.communicate(b"user\tquery\tcategory\n" + b"".join([*lines, b"bad\n", *lines]), timeout=120)
    assert process.returncode == 2
    assert b"standard input, line 14: expected 3 tab-separated fields, found 1" in errors
    assert len(out.splitlines()) == 11
    assert json.loads((tmp_path / "stats.json").read_text())["records out"] == 10
    statement = json.loads((tmp_path / "s.json").read_text())["statement"]
    assert statement["counts_in"]["rows"] == 12
    assert statement["figures"]["input ended"] == 0
    assert sum(line.startswith("user") for line in (tmp_path / "truth.tsv").read_text().splitlines()) > 2


def test_figures_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "STATS_SECONDS", 0.0)
    monkeypatch.setattr(runner, "PIECE", 8 * len(rows()))
    seen, write = [], summary.write_text

    def look(path, text):
        seen.append(json.loads(text))
        write(path, text)

    monkeypatch.setattr(summary, "write_text", look)
    (tmp_path / "log.tsv").write_bytes(as_tsv(rows()))
    words = ["-i", tmp_path / "log.tsv", "-o", tmp_path / "out.tsv", "--stats", tmp_path / "s.json"]
    assert querycloak("stream", *words, "--as-in-paper").returncode == 0
    stats = [s for s in seen if "records in" in s]
    assert len(stats) > 5
    assert [s["finished"] for s in stats] == [False] * (len(stats) - 1) + [True]
    assert all(s["records in"] == s["records out"] + s["records waiting"] for s in stats)
    assert [s["records in"] for s in stats] == sorted(s["records in"] for s in stats)


@pytest.mark.slow
@pytest.mark.needs_jit
def test_a_file_that_was_not_read_to_its_end_is_no_success(tmp_path):
    data = "user\tquery\n" + "".join(f"u{i % 99}\tsome words {i}\n" for i in range(400_000))
    (tmp_path / "log.tsv").write_text(data)
    process = start("--k", "3", "-i", "log.tsv", "-o", "out.tsv", cwd=tmp_path)
    out, deadline = tmp_path / "out.tsv", time.monotonic() + 90
    while time.monotonic() < deadline and not (out.exists() and out.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"stopped" in errors
    assert b"waiting (dropped)" in errors
    assert out.read_bytes().endswith(b"\n")


def test_a_failed_run_leaves_no_statement_of_an_earlier_one(log, tmp_path):
    assert querycloak("stream", "-i", log, "-o", tmp_path / "out.tsv").returncode == 0
    (tmp_path / "odd.tsv").write_text("user\tquery\tcategory\nu1\tq\tA\n" + "x" * 1_200_000)
    refused(querycloak("stream", "-i", tmp_path / "odd.tsv", "-o", tmp_path / "out.tsv"), "a line of more than")
    statement = json.loads((tmp_path / "out.tsv.statement.json").read_text())["statement"]
    assert statement["counts_in"]["rows"] == 1


@pytest.mark.slow
def test_a_dash_is_standard_input_and_output(log):
    words = [sys.executable, "-m", "querycloak", "stream", "--as-in-paper", "--k", "3", "-i", "-", "-o", "-"]
    with log.open("rb") as file:
        done = subprocess.run(words, stdin=file, capture_output=True, check=True, timeout=120)
    assert len(read_back(done.stdout, "tsv")) > 0.96 * len(rows())


def test_verify_looks_at_the_ids(log, tmp_path):
    for ids in ("run", "original"):
        out = tmp_path / f"{ids}.tsv"
        assert querycloak("stream", "-i", log, "-o", out, "--ids", ids).returncode == 0
    done = querycloak("verify", tmp_path / "run.tsv", "--log", log)
    assert done.returncode == 0, done.stdout
    assert "no id of the log is published" in done.stdout
    assert "stated number of users" in done.stdout
    path = tmp_path / "run.tsv"
    data = path.read_bytes()
    first = data.splitlines()[1].split(b"\t")[0]
    path.write_bytes(data.replace(first, b"1000"))
    done = querycloak("verify", path, "--log", log)
    assert done.returncode == 1
    assert "1 of" in done.stdout


def read_some(process, lines):
    """Read so many lines as they come, within a generous while."""
    data, deadline = b"", time.monotonic() + 90
    while data.count(b"\n") < lines and time.monotonic() < deadline:
        if select.select([process.stdout], [], [], 1)[0]:
            data += os.read(process.stdout.fileno(), 1 << 16)
    return data.splitlines()


@pytest.mark.slow
def test_a_live_stream_stopped_before_its_first_line():
    process = start("--k", "2")
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)  # with its input still open
    process.communicate()
    assert process.returncode in {0, 143}  # the latter where it had not begun to listen


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(log):
    read, write = os.pipe()
    process = start("--k", "3", "--depth", "2", "--quiet", stdout=write)
    os.close(write)
    os.close(read)
    _, errors = process.communicate(log.read_bytes(), timeout=120)
    assert process.returncode == 0
    assert errors == b""


def test_mistakes(log, tmp_path):
    out = tmp_path / "out.tsv"
    refused(querycloak("stream", "-i", log, "-o", out, "--k", 1), "k must be an integer >= 2, got 1")
    refused(querycloak("stream", "-i", log, "-o", out, "--depth", 0), "depth must be an integer >= 1 and < 1000, got 0")
    refused(querycloak("stream", "-m", "self-adjustng", "-i", log, "-o", out), "Did you mean 'self-adjusting'?")
    refused(querycloak("stream", "-m", "flat", "--depth", 3, "-i", log, "-o", out), "depth")
    refused(querycloak("stream", "-m", "flat", "--hold", 3, "-i", log, "-o", out), "an option of self-adjusting")
    refused(querycloak("stream", "-i", log, "-o", out, "--checkpoint", log), "--checkpoint must be a directory")
    refused(querycloak("stream", "-i", tmp_path / "none", "-o", out), "none", "no such file")
    refused(querycloak("stream", "-i", log, "-o", log), "is also the input")
    refused(querycloak("stream", "-i", log, "-o", out, "--on-error", "ignore"), "stop, skip")
    refused(querycloak("stream", "-i", log, "-o", out, "--stats", out), "is also the output")
    refused(querycloak("stream", "-i", log, "-o", out, "--truth", f"{out}.statement.json"), "is also the output")
    linked, before = tmp_path / "linked.tsv", log.read_bytes()
    linked.hardlink_to(log)
    refused(querycloak("stream", "-i", log, "-o", linked), "is also the input")
    beside = tmp_path / "out.tsv.statement.json"
    beside.write_bytes(before)
    refused(querycloak("stream", "-i", beside, "-o", tmp_path / "out.tsv"), "is also the input")
    assert log.read_bytes() == beside.read_bytes() == before
    refused(querycloak("stream", "-i", log, "--checkpoint", tmp_path / "c"), "--to")
    for option in ("--k", "--hold", "--min-query-users"):
        refused(querycloak("stream", "-i", log, "-o", out, option, 10**20), "and < 2,147,483,648")
    refused(querycloak("stream", "-i", log, "-o", out, "--separator", ""), "at least one character")
    os.mkfifo(tmp_path / "pipe")
    words = ["stream", "--checkpoint", tmp_path / "c"]
    refused(querycloak(*words, "-i", tmp_path / "pipe", "-o", out), "a pipe cannot be wound back")
    refused(querycloak(*words, "-i", log, "-o", tmp_path / "pipe"), "a pipe cannot be wound back")
    bad = tmp_path / "bad.tsv"
    bad.write_bytes(log.read_bytes() + b"1005\tsecret\n")
    message = refused(querycloak("stream", "-i", bad, "-o", out), f"bad.tsv, line {len(rows()) + 2}", "--on-error skip")
    assert "secret" not in message
    assert querycloak("stream", "-i", bad, "-o", out, "--on-error", "skip").returncode == 0


@pytest.mark.slow
def test_a_sweep_over_k_and_depth(log, tmp_path):
    done = querycloak(
        "compare", log, "--methods", "self-adjusting", "--grid", "k=2,5 depth=1,2", "-o", tmp_path / "comparison"
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "comparison" / "results.json").read_text())
    names = [run["name"] for run in results["runs"]]
    assert [n for n in names if n.startswith("self-adjusting")] == [
        f"self-adjusting k={k} depth={d}" for k in (2, 5) for d in (1, 2)
    ]
    for run in results["runs"][1:]:
        assert any(a["attack"] == "stream-linkage, full" for a in run["attacks"])
