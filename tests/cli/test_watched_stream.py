"""`querycloak stream --metrics --log`: what a stream shows of itself while it runs, and that it shows no person."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from broker_servers import free_port
from cli.command import querycloak, refused
from prometheus_client.parser import text_string_to_metric_families

QUERY, USER, PLACE = "zebrafish-query", "quokka-user", "wombat-category"
HEAD = "user\tquery\tcategory\n"
LINES = "".join(f"{USER}{n % 9}\t{QUERY} {n}\t{PLACE}/{n % 2}\n" for n in range(400))


def asked(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.slow
def test_a_stream_is_watched_while_it_runs(tmp_path):
    port, log = free_port(), tmp_path / "events.jsonl"
    words = ("--k", "3", "--depth", "2", "--as-in-paper", "--metrics", str(port), "--log", str(log))
    run = subprocess.Popen(
        [sys.executable, "-m", "querycloak", "stream", *words, "--on-error", "skip", "--max-wait", "0.1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        run.stdin.write((HEAD + LINES + f"{USER} {QUERY}\n").encode())
        run.stdin.flush()
        deadline = time.monotonic() + 60
        while True:
            try:
                status, health = asked(port, "/health")
                text = asked(port, "/metrics")[1]
                if status == 200 and "querycloak_records_in_total 400" in text:
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline
            time.sleep(0.05)
        found = {s.name: s.value for f in text_string_to_metric_families(text) for s in f.samples if not s.labels}
        assert found["querycloak_records_in_total"] == 400
        assert (
            found["querycloak_records_in_total"]
            == found["querycloak_records_out_total"] + (found["querycloak_records_waiting"])
        )
        assert found["querycloak_candidates_fewest"] >= 3 == found["querycloak_candidates_required"]
        assert found["querycloak_ready"] == 1
        assert 'querycloak_lines_skipped_total{reason="lines with a wrong number of fields"} 1' in text
        assert json.loads(health)["lag_seconds"] < 60
    finally:
        out, err = run.communicate(timeout=60)
    assert run.returncode == 0
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [one["event"] for one in told] == ["started", "skipped", "finished"]
    assert told[-1]["records_in"] == 400
    assert out.count(b"\n") == told[-1]["records_out"] + 1
    for shown in (text, health, log.read_text(), err.decode()):
        for planted in (QUERY, USER, PLACE):
            assert planted not in shown


@pytest.mark.parametrize("form", ["json", "text"])
def test_events_in_place_of_notes(tmp_path, form):
    source = tmp_path / "log.tsv"
    source.write_text(HEAD + LINES)
    words = ("--k", 3, "--depth", 2, "--checkpoint", tmp_path / "state", "--yes")
    done = querycloak("stream", "-i", source, "-o", tmp_path / "out.tsv", "--log-format", form, *words)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    names = [json.loads(line)["event"] if form == "json" else line.split()[1] for line in lines]
    assert names == ["started", "finished"]
    for planted in (QUERY, USER, PLACE):
        assert planted not in done.stderr


def test_a_run_that_fails_says_so(tmp_path):
    source, log = tmp_path / "log.tsv", tmp_path / "events.jsonl"
    source.write_text(HEAD + LINES + f"{USER} {QUERY}\n")
    done = querycloak("stream", "-i", source, "-o", tmp_path / "out.tsv", "--log", log, "--k", 3, "--yes")
    assert done.returncode == 2
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["event"], last["kind"], last["records_in"]) == ("failed", "InputError", 400)
    for planted in (QUERY, USER, PLACE):
        assert planted not in log.read_text()


def test_a_resumed_run_says_so(tmp_path, monkeypatch):
    from querycloak.live import state

    source, log = tmp_path / "log.tsv", tmp_path / "events.jsonl"
    source.write_text(HEAD + LINES * 40)
    words = ("stream", "-i", source, "-o", tmp_path / "out.tsv", "--log", log, "--k", 3, "--yes")
    words += ("--checkpoint", tmp_path / "state", "--checkpoint-records", 1000)

    def crash(*_):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(state.Checkpoint, "finish", crash)
        with pytest.raises(RuntimeError):
            querycloak(*words)
    assert querycloak(*words).returncode == 0
    told = [json.loads(line) for line in log.read_text().splitlines()]
    names = [one["event"] for one in told]
    assert names[0] == "started"
    assert "saved" in names
    assert names[names.index("failed") + 1] == "resumed"
    assert names[-1] == "finished"
    assert all(one["state_bytes"] > 0 for one in told if one["event"] == "saved")


def test_wrong_words(tmp_path):
    source = tmp_path / "log.tsv"
    source.write_text(HEAD + LINES)
    refused(querycloak("stream", "-i", source, "--metrics", "everywhere"), "--metrics must be PORT or HOST:PORT")
    refused(querycloak("stream", "-i", source, "--log-format", "xml"), "--log-format must be json or text")
    refused(querycloak("stream", "-i", source, "--log", tmp_path), "directory")
    refused(querycloak("stream", "-i", source, "--log", source), "is also the input")
    refused(querycloak("stream", "-i", source, "--log", "-"), "name a file")


def test_a_port_that_is_taken(tmp_path):
    source = tmp_path / "log.tsv"
    source.write_text(HEAD + LINES)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = querycloak("stream", "-i", source, "-o", tmp_path / "out.tsv", "--metrics", port)
    refused(done, f"cannot listen on 127.0.0.1:{port}")
    assert not (tmp_path / "out.tsv").exists()
