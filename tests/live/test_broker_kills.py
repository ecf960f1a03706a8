"""Our process and the brokers killed at random moments: nothing is lost, nothing is published twice or changed.

Half of the kills are at random times of the run, from its start to its end. The other half are at chosen points, where
a crash is worst: just before or after a write, before the state is renamed, between state and journal, between the last
byte and the statement, the marker, and the removal of the state. How much of the output was there at each kill is
written down, and the tests ask that kills were spread over the whole run.

Children are forked, so that kernels are loaded and one more start costs little. `QUERYCLOAK_KILLS=50` kills our process
50 times for each broker, and four times as often from file to file; without it CI kills it fewer times.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import traceback
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from broker_servers import SERVERS
from stream_logs import as_tsv, rows

from querycloak.live import runner, state
from querycloak.live.address import parse_place
from querycloak.live.brokers.messages import MessageSink
from querycloak.live.pipes import FileSink
from querycloak.live.runner import Run, run_stream
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_statement import StreamSettings

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]

KILLS = int(os.environ.get("QUERYCLOAK_KILLS", "0"))
TABLE = rows(4000, users=100)
DATA = as_tsv(TABLE)
SETTINGS = StreamSettings(k=3, depth=2, as_in_paper=True)
BY_CLOCK = StreamSettings(k=3, depth=2, as_in_paper=True, max_age=0.3)
"""decisions of the clock, which a run that goes on must not take anew"""
PATIENT = 40
"""seconds that a run may take to its end"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an unbroken run with the seed writes, from file to file."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "log").write_bytes(DATA)
    run_stream(Run("self-adjusting", SETTINGS, folder / "log", folder / "out", seed=7))
    return (folder / "out").read_bytes()


POINTS = {
    "before a write": ((MessageSink, "write"), (FileSink, "write")),
    "after a write": ((MessageSink, "write"), (FileSink, "write")),
    "before a rename": ((Path, "replace"),),
    "between state and journal": ((state.Checkpoint, "clear_journal"),),
    "after a save": ((runner._Session, "save"),),
    "before the statement": ((runner, "write_statement"),),
    "after the statement": ((runner, "write_stats"),),
    "before the marker": ((state.Checkpoint, "finish"),),
    "before the state is removed": ((state.Checkpoint, "_clear"),),
}
LAST = 4
"""so many of them are in the last moments"""


def die_at(point, count):
    """Let this process kill itself at a point, when it comes there for the count-th time."""
    left = [count]
    for owner, name in POINTS[point]:
        found = getattr(owner, name)

        def dying(*args, found=found, **given):
            left[0] -= 1
            if left[0] == 0 and not point.startswith("after"):
                os.kill(os.getpid(), signal.SIGKILL)
            out = found(*args, **given)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return out

        setattr(owner, name, dying)


def start(run, point=None, count=1):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            push = runner.Converter.push

            def slowly(self, batch):  # else it would be over before it can be killed
                time.sleep(0.005)
                return push(self, batch)

            runner.Converter.push = slowly
            if point is not None:
                die_at(point, count)
            run_stream(run)
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def is_killed(child, seconds=None):
    """Kill a child after some seconds, None = it kills itself; False = it had ended, and well."""
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


class Pace:
    """How long a run takes, about: what was timed on a busy machine takes less on a quiet one."""

    def __init__(self, seconds):
        self.seconds = seconds

    def kills(self, run, random):
        """Kill the run at a random moment; False = it had ended."""
        seconds = random.uniform(0, self.seconds)
        killed = is_killed(start(run), seconds)
        self.seconds = 1.1 * self.seconds if killed else min(self.seconds, seconds)
        return killed


def killed_once(run, random, pace):
    """Start the run, and kill it somewhere; what it was killed by, None = it had ended."""
    if random.random() < 0.5:
        return "the clock" if pace.kills(run, random) else None
    points = list(POINTS)
    point = random.choice(points[-LAST:] if random.random() < 0.4 else points[:-LAST])
    count = 1 if point in points[-LAST:] else random.randint(1, 12)
    return point if is_killed(start(run, point, count)) else None


def runs(monkeypatch, folder, source, output, number):
    """Every third run has a seed, every third one draws freely, every third one by the clock."""
    monkeypatch.setattr(runner, "SAMPLE", 4000)
    monkeypatch.setattr(runner, "LINE", 10)  # small batches
    folder.mkdir(exist_ok=True)
    return Run(
        "self-adjusting",
        BY_CLOCK if number % 3 == 2 else SETTINGS,
        source,
        output,
        checkpoint=folder / "state",
        checkpoint_records=300,
        seed=7 if number % 3 == 0 else None,
        stats=folder / "stats",
        # Children are forked: Polars, which judges the columns, does not survive a fork.
        options=ReadOptions(assume_yes=True),
    )


def in_messages(lines=50):
    parts = DATA.splitlines(keepends=True)
    return [b"".join(parts[i : i + lines]) for i in range(0, len(parts), lines)]


def check(out, run, whole):
    """Every query once, or waiting, or dropped; with a seed, to the byte what an unbroken run writes."""
    queries = [line.split(b"\t")[1] for line in out.splitlines()[1:]]
    assert len(queries) == len(set(queries))
    assert set(queries) <= {row[1].encode() for row in TABLE}
    stats = json.loads(run.stats.read_text())
    assert stats["records in"] == len(TABLE)
    assert len(queries) == stats["records out"] > 0.9 * len(TABLE)
    assert len(queries) + stats["records waiting"] + stats["records dropped"] == len(TABLE)
    if run.seed is not None:
        assert out == whole


class Moments:
    """How much of the output was there at each kill, and what killed."""

    def __init__(self):
        self.parts, self.by = Counter(), Counter()

    def add(self, kills, out):
        for by, seen in kills:
            assert out.startswith(seen)  # nothing that could be read is taken back, or under another user
            share = len(seen) / len(out)
            self.by[by] += 1
            self.parts["none" if share < 0.01 else "all" if share == 1 else f"{int(3 * share) + 1}. third"] += 1

    def missing(self, wanted):
        """What must still be killed: so many in all, some by the clock, and in every part of the run."""
        found = [part for part in ("none", "1. third", "2. third", "3. third", "all") if not self.parts[part]]
        found += ["by the clock"] if self.by["the clock"] <= wanted / 5 else []
        return found + (["more"] if sum(self.parts.values()) < wanted else [])

    def go_on(self, wanted):
        """Tell whether more must be killed; how fast the machine is decides how many that takes."""
        missing = self.missing(wanted)
        if not missing:
            print(f"\n{sum(self.parts.values())} kills; output there: {dict(self.parts)}; by: {dict(self.by)}")
        assert not missing or sum(self.parts.values()) < 10 * wanted, missing
        return bool(missing)


def killed_until_it_ends(run, random, pace, read):
    """Kill a run and start it again until it ends; the first time before anything is written."""
    assert is_killed(start(run, "before a write"))
    kills, begin = [("before a write", read())], time.monotonic()
    while (by := killed_once(run, random, pace)) is not None:
        kills.append((by, read()))
        assert time.monotonic() - begin < 4 * PATIENT
    assert run_stream(run) is None  # a run that finished is not drawn again
    return kills


def length_of(run):
    begin = time.monotonic()
    assert not is_killed(start(run))
    return time.monotonic() - begin


@pytest.mark.parametrize("kind", SERVERS)
def test_our_process_is_killed(kind, tmp_path, monkeypatch, whole):
    (tmp_path / "server").mkdir()
    server = SERVERS[kind](tmp_path / "server")
    random, wanted, number, moments, pace = Random(5), KILLS or 25, 0, Moments(), None
    try:
        server.make("searches")
        server.publish("searches", in_messages())
        source = parse_place(server.address("searches", "?end=now"))
        while moments.go_on(wanted):
            name = f"published{number}"
            server.make(name)
            run = runs(monkeypatch, tmp_path / str(number), source, parse_place(server.address(name)), number)
            read = lambda name=name: b"".join(server.read(name))  # noqa: E731
            if pace is None:
                pace = Pace(length_of(run))
            else:
                kills = killed_until_it_ends(run, random, pace, read)
                moments.add(kills, read())
            check(read(), run, whole)
            number += 1
    finally:
        server.stop()


def test_file_to_file(tmp_path, monkeypatch, whole):
    random, wanted, number, moments = Random(7), 4 * KILLS or 50, 0, Moments()
    (tmp_path / "log").write_bytes(DATA)
    first = runs(monkeypatch, tmp_path / "first", tmp_path / "log", tmp_path / "first" / "out", 0)
    pace = Pace(length_of(first))
    while moments.go_on(wanted):
        folder = tmp_path / str(number)
        run = runs(monkeypatch, folder, tmp_path / "log", folder / "out", number)
        read = lambda run=run: run.output.read_bytes() if run.output.exists() else b""  # noqa: E731
        moments.add(killed_until_it_ends(run, random, pace, read), read())
        check(read(), run, whole)
        number += 1


@pytest.mark.parametrize("kind", ["redis", "nats"])
def test_the_broker_is_killed(kind, tmp_path, monkeypatch, whole):
    """Ten runs, with the server killed in the first tenth of the first, the second tenth of the second, and so on."""
    (tmp_path / "server").mkdir()
    server = SERVERS[kind](tmp_path / "server")
    random, length = Random(6), 0.0
    try:
        server.make("searches")
        server.publish("searches", in_messages())
        source = parse_place(server.address("searches", "?end=now"))
        for number in range(11):
            name = f"published{number}"
            server.make(name)
            run = runs(monkeypatch, tmp_path / str(number), source, parse_place(server.address(name)), number)
            if number == 0:
                length = length_of(run)
                continue
            child = start(run)
            time.sleep((number - 1 + random.random()) / 10 * length)
            server.kill()
            time.sleep(random.uniform(0, 0.3))
            server.start()
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status):  # it was away at the very start, which is an error of its own
                assert server.read(name) == []
                run_stream(run)
            check(b"".join(server.read(name)), run, whole)
            assert run_stream(run) is None
    finally:
        server.stop()


def test_away_for_half_a_minute(tmp_path, monkeypatch, whole):
    """Redis goes away, and comes back after 30 s on the same storage."""
    (tmp_path / "server").mkdir()
    server = SERVERS["redis"](tmp_path / "server")
    try:
        server.publish("searches", in_messages())
        source = parse_place(server.address("searches", "?end=now"))
        run = runs(monkeypatch, tmp_path, source, parse_place(server.address("published")), 0)
        child = start(run)
        while not server.read("published"):  # away at the very start is an error of its own
            time.sleep(0.01)
        server.kill()
        back = threading.Timer(30, server.start)
        back.start()
        _, status = os.waitpid(child, 0)
        back.join()
        assert os.waitstatus_to_exitcode(status) == 0
        check(b"".join(server.read("published")), run, whole)
        assert run_stream(replace(run)) is None
    finally:
        server.stop()
