"""Shards as processes: `--shards N` with kills and signals, and another number of shards over files and brokers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from broker_servers import SERVERS
from stream_logs import as_tsv
from test_shards import check_rules, published, rows, shard_run, stop_at, taking

from querycloak.live import runner
from querycloak.live.address import parse_place
from querycloak.live.runner import run_stream
from querycloak.live.shards import Shard

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]


def command(folder, *more, ids="original"):
    given = ["--from", "log", "--to", "release.tsv", "--k", "3", "--depth", "3", "--as-in-paper", "--ids", ids]
    words = [sys.executable, "-m", "querycloak", "stream", *given, *more]
    return subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def out_of(folder, count):
    lines = []
    for i in range(count):
        lines += (folder / f"release.{i}-of-{count}.tsv").read_text().splitlines()[1:]
    return [tuple(line.split("\t")) for line in lines]


def test_shards_of_one_command(tmp_path):
    table = rows(20_000, users=200)
    (tmp_path / "log").write_bytes(as_tsv(table))
    run = command(tmp_path, "--shards", "3", "--checkpoint", "state", "--truth", "truth", "--json", ids="run")
    said, told = run.communicate()
    assert run.returncode == 0, told
    found = json.loads(said)
    assert [f["stats"]["shard"] for f in found["shards"]] == ["0/3", "1/3", "2/3"]
    assert sum(f["stats"]["records in"] for f in found["shards"]) == len(table)
    assert (tmp_path / "state" / "secret").stat().st_mode & 0o777 == 0o600
    names = {}
    for i in range(3):
        for line in (tmp_path / f"truth.{i}-of-3").read_text().splitlines():
            if line.startswith("user\t"):
                _, made, original = line.split("\t")
                assert names.setdefault(original, made) == made
    again = command(tmp_path, "--shards", "3", "--checkpoint", "state", "--truth", "truth", ids="run")
    _, told = again.communicate()
    assert again.returncode == 0
    assert told.count("this run is finished; nothing was changed") == 3


def saves(folder):
    """How many of two shards have saved a state."""
    return sum((folder / "state" / f"{i}-of-2" / "state").exists() for i in range(2))


def test_the_command_and_its_children_are_killed_and_go_on(tmp_path):
    """Killed with SIGKILL, its children stop by themselves; one child killed, the others are stopped; it goes on."""
    table = rows(150_000, users=300)
    (tmp_path / "log").write_bytes(as_tsv(table))
    more = ("--shards", "2", "--checkpoint", "state", "--checkpoint-records", "1000")
    random, kills = Random(3), 0
    for attempt in range(12):
        run = command(tmp_path, *more)
        deadline = time.monotonic() + (60 if attempt in {0, 1, 11} else random.uniform(0.3, 4))
        while run.poll() is None and time.monotonic() < deadline:
            if attempt < 2 and saves(tmp_path) > attempt:  # else a fast machine is done before
                break
            time.sleep(0.01)
        if run.poll() is None and attempt < 11:
            children = children_of(run.pid)
            if attempt % 2 and children:
                was_running = kill_child(children[0])
                run.communicate()
                if not was_running and run.returncode == 0:
                    break
                assert run.returncode != 0
            else:
                run.kill()
                run.communicate()
            wait_until_gone(children)
            kills += 1
            continue
        run.communicate()
        assert run.returncode == 0
        break
    assert kills >= 1
    waiting = 0
    for i in range(2):
        statement = json.loads((tmp_path / f"release.{i}-of-2.tsv.statement.json").read_text())["statement"]
        waiting += statement["dropped"]["still waiting at the end"]
    check_rules(table, out_of(tmp_path, 2), waiting)


def kill_child(pid):
    """Kill a process; return whether it was still running, and did not come to its end just before."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    end = time.monotonic() + 10
    while state(pid) not in {"T", "Z"}:
        assert time.monotonic() < end, "a process does not stop"
        time.sleep(0.001)
    was_running = state(pid) == "T"
    if was_running:
        os.kill(pid, signal.SIGKILL)
    return was_running


def children_of(pid):
    found = []
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:  # noqa: PTH123
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found.append(int(entry))
    return found


def wait_until_gone(pids):
    end = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() and "Z" not in state(pid) for pid in pids):
        assert time.monotonic() < end, "a child was left behind"
        time.sleep(0.05)


def state(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def stop_after_first_save(run, folder):
    """Hold each of two shards as soon as it has saved a state, and stop the command when both are held.

    Without holding them, one shard may be finished before the other has saved, on a fast machine or a slow one.
    """
    held = {}
    while len(held) < 2:
        assert run.poll() is None, run.communicate()[1]
        for pid in children_of(run.pid):
            name = next((i for i in range(2) if f"{i}/2" in words_of(pid)), None)
            if name is not None and name not in held and (folder / "state" / f"{name}-of-2" / "state").exists():
                os.kill(pid, signal.SIGSTOP)
                held[name] = pid
        time.sleep(0.005)
    run.send_signal(signal.SIGTERM)
    end = time.monotonic() + 60
    while not all(has_signal(pid, signal.SIGTERM) for pid in held.values()):  # it hands the signal on to both
        assert time.monotonic() < end, "a signal is not handed on"
        time.sleep(0.01)
    for pid in held.values():
        os.kill(pid, signal.SIGCONT)
    return run.communicate()[1]


def has_signal(pid, number):
    """Whether a signal waits for a process that is held."""
    lines = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    return any(int(lines[name], 16) & 1 << number - 1 for name in ("SigPnd", "ShdPnd"))


def words_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


def test_a_signal_stops_all_and_the_same_command_goes_on(tmp_path):
    table = rows(150_000, users=300)
    (tmp_path / "log").write_bytes(as_tsv(table))
    run = command(tmp_path, "--shards", "2", "--checkpoint", "state", "--checkpoint-records", "1000")
    told = stop_after_first_save(run, tmp_path)
    assert run.returncode == 128 + signal.SIGTERM, told
    assert "kept in the checkpoints" in told
    more = ("--shards", "3", "--checkpoint", "state", "--take-over", "state")
    run = command(tmp_path, *more)
    _, told = run.communicate()
    assert run.returncode == 0, told
    waiting = 0
    for i in range(3):
        statement = json.loads((tmp_path / f"release.{i}-of-3.tsv.statement.json").read_text())["statement"]
        waiting += statement["dropped"]["still waiting at the end"]
    check_rules(table, out_of(tmp_path, 2) + out_of(tmp_path, 3), waiting)


def test_events_say_whose_they_are(tmp_path):
    (tmp_path / "log").write_bytes(as_tsv(rows(2000)))
    run = command(tmp_path, "--shards", "2", "--log-format", "json")
    _, told = run.communicate()
    assert run.returncode == 0, told
    events = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    found = sorted((event["event"], event["shard"]) for event in events)
    assert found == [(name, shard) for name in ("finished", "started") for shard in ("0/2", "1/2")]


def test_a_finished_shard_is_not_taken_over(tmp_path):
    (tmp_path / "log").write_bytes(as_tsv(rows(2000)))
    more = ("--checkpoint", "state", "--to", "other.tsv")
    run = command(tmp_path, "--shards", "2", *more)
    _, told = run.communicate()
    assert run.returncode == 0, told
    run = command(tmp_path, "--shards", "3", "--take-over", "state", *more)
    _, told = run.communicate()
    assert run.returncode == 2
    assert "state/0-of-2: this shard came to the end of its input" in told


def test_what_goes_wrong_is_said_once(tmp_path):
    table = rows(500)
    (tmp_path / "log").write_bytes(as_tsv(table) + b"no record\n")
    run = command(tmp_path, "--shards", "3")
    _, told = run.communicate()
    assert run.returncode == 2
    assert told.count("expected 5 tab-separated fields, found 1") == 1
    for more, problem in (
        (("--shard", "0/2", "--shards", "2"), "give one of the two"),
        (("--shard", "3/2"), "i from 0 to N - 1"),
        (("--secret", "x"), "--secret is for shards"),
    ):
        run = command(tmp_path, *more)
        assert problem in run.communicate()[1]
        assert run.returncode == 2
    run = command(tmp_path, "--shard", "0/2", ids="run")
    assert "All shards make their ids of one secret" in run.communicate()[1]


def forked(run, seconds, number):
    """Run in a child of its own, and send it a signal after a while."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            push = runner.Converter.push

            def slowly(self, batch):
                time.sleep(0.02)
                return push(self, batch)

            runner.Converter.push = slowly
            run_stream(run)
            code = 0
        finally:
            os._exit(code)
    time.sleep(seconds)
    os.kill(child, number)
    os.waitpid(child, 0)


@pytest.mark.parametrize("kind", ["files", *SERVERS])
def test_shards_are_added_while_all_are_killed(kind, tmp_path, monkeypatch):
    """Two shards, killed and stopped; three that take over, killed, too: each record out once, or waiting."""
    monkeypatch.setattr(runner, "SAMPLE", 4000)
    monkeypatch.setattr(runner, "LINE", 10)
    table = rows(6000, users=100)
    data, random = as_tsv(table), Random(8)
    (tmp_path / "log").write_bytes(data)
    server = None
    if kind != "files":
        (tmp_path / "server").mkdir()
        server = SERVERS[kind](tmp_path / "server")
        server.make("searches")
        lines = data.splitlines(keepends=True)
        server.publish("searches", [b"".join(lines[i : i + 40]) for i in range(0, len(lines), 40)])

    def of(run):
        if server is None:
            return run
        name = f"out{run.shard.index}of{run.shard.count}"
        server.make(name)
        source = parse_place(server.address("searches", "?end=now"))
        statement = tmp_path / f"{name}.json"
        return replace(run, source=source, output=parse_place(server.address(name)), statement=statement)

    def out(run):
        if server is None:
            return published(run)
        text = b"".join(server.read(run.output.name)).decode()
        return [tuple(line.split("\t")) for line in text.splitlines()[1:]]

    try:
        warm = replace(shard_run(tmp_path, Shard(0, 1)), checkpoint=None, truth=None)
        run_stream(warm)  # kernels are compiled
        old = [of(replace(shard_run(tmp_path, Shard(i, 2), seed=None), checkpoint_records=200)) for i in range(2)]
        for run in old:
            for _ in range(2):
                forked(run, random.uniform(0.05, 0.3), signal.SIGKILL)
            for turns in (4, 8, 16, 32):  # one that has not caught up with its own output has not stopped properly
                with monkeypatch.context() as patch:
                    stop_at(patch, turns)
                    run_stream(run)
                if (run.checkpoint / "stopped").exists():
                    break
            assert (run.checkpoint / "stopped").exists()
            assert not (run.checkpoint / "finished").exists()
        new = [of(replace(taking(tmp_path, i, 3, old, seed=None), checkpoint_records=200)) for i in range(3)]
        waiting = 0
        for run in new:
            for _ in range(3):
                forked(run, random.uniform(0.05, 0.5), signal.SIGKILL)
            done = run_stream(run)
            statement = json.loads(run.statement_path.read_text())["statement"]
            assert done is None or done.finished
            waiting += statement["dropped"]["still waiting at the end"]
        check_rules(table, [row for run in [*old, *new] for row in out(run)], waiting)
    finally:
        if server is not None:
            server.stop()
