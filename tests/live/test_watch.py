"""What a stream shows of itself: metrics that Prometheus reads, health, and a log of events."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from querycloak.errors import OutputError, ParameterError
from querycloak.live.watch import door as door_module
from querycloak.live.watch.board import STUCK_AFTER, Board
from querycloak.live.watch.door import AT_ONCE, Door, DoorAddress, read_door_address
from querycloak.live.watch.event_log import SKIPPED_SECONDS, EventLog
from querycloak.live.watch.exposition import Metric, Sample, exposition
from querycloak.live.watch.figures import Figures
from querycloak.live.watch.watcher import NOBODY, Watchers

FIGURES = Figures(
    records_in=1000,
    records_out=900,
    records_waiting=90,
    records_dropped={"unclassified": 10},
    lines_skipped={"blank lines": 3, 'odd "ones"\\': 1},
    delays={"mean delay": 2.5, "delay p50": 1.0, "delay p90": 7.0, "delay p99": 63.5, "longest delay": 120.0},
    total_delay=2250,
    fewest_candidates=4,
    waiting_per_level=(1, 20, 69),
    users=50,
    categories=7,
    bytes_out=1 << 39,
)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def families(board):
    return {family.name: family for family in text_string_to_metric_families(exposition(board.metrics()))}


def value(found, name, **labels):
    return next(s.value for f in found.values() for s in f.samples if s.name == name and s.labels == labels)


@pytest.fixture
def board():
    board = Board("self-adjusting", 4, Clock())
    board.event("started")
    board.taken(100, pending=17)
    board.batch(FIGURES)
    board.saved(4096, 0.25)
    return board


def test_prometheus_reads_every_metric(board):
    found = families(board)
    assert value(found, "querycloak_records_in_total") == 1000
    assert value(found, "querycloak_records_out_total") == 900
    assert value(found, "querycloak_records_waiting") == 90
    assert value(found, "querycloak_records_dropped_total", reason="unclassified") == 10
    assert value(found, "querycloak_lines_skipped_total", reason='odd "ones"\\') == 1
    assert value(found, "querycloak_delay_records", quantile="0.99") == 63.5
    assert value(found, "querycloak_delay_records_sum") == 2250
    assert value(found, "querycloak_delay_records_count") == 900
    assert value(found, "querycloak_candidates_fewest") == 4 == value(found, "querycloak_candidates_required")
    assert value(found, "querycloak_users_waiting", level="2") == 69
    assert value(found, "querycloak_source_pending_messages") == 17
    assert value(found, "querycloak_state_bytes") == 4096
    assert value(found, "querycloak_input_bytes_total") == 100
    assert value(found, "querycloak_output_bytes_total") == 1 << 39
    assert value(found, "querycloak_resident_memory_bytes") > 1 << 20
    kinds = {name: family.type for name, family in found.items()}
    assert kinds["querycloak_records_in"] == "counter"  # the parser takes _total away
    assert kinds["querycloak_delay_records"] == "summary"
    assert kinds["querycloak_users_waiting"] == "gauge"


def test_metrics_are_well_formed(board):
    """By the rules of the format: HELP and TYPE once and before the samples, counters end in _total."""
    seen = set()
    for metric in board.metrics():
        assert metric.name.startswith("querycloak_")
        assert metric.name not in seen
        assert metric.help.endswith(".")
        assert (metric.kind == "counter") == metric.name.endswith("_total")
        seen.add(metric.name)
    lines = exposition(board.metrics()).splitlines()
    for i, line in enumerate(lines):
        if line.startswith("# TYPE"):
            name = line.split()[2]
            assert lines[i - 1].startswith(f"# HELP {name} ")
            assert lines[i + 1].startswith(name)


def test_names_are_stable(board):
    """Dashboards and rules hold on to them; docs/runbook.md lists them."""
    assert sorted(m.name.removeprefix("querycloak_") for m in board.metrics()) == [
        "batch_age_seconds",
        "candidates_fewest",
        "candidates_required",
        "categories",
        "delay_records",
        "delay_records_longest",
        "engine_bytes",
        "info",
        "input_bytes_total",
        "lag_seconds",
        "lines_skipped_total",
        "output_bytes_total",
        "peak_memory_bytes",
        "phrase_bytes",
        "phrases",
        "ready",
        "reconnects_total",
        "records_dropped_total",
        "records_in_epoch",
        "records_in_total",
        "records_out_total",
        "records_waiting",
        "resident_memory_bytes",
        "source_pending_messages",
        "start_time_seconds",
        "state_age_seconds",
        "state_bytes",
        "state_save_seconds",
        "state_saves_total",
        "users",
        "users_waiting",
    ]


def test_what_is_not_known_is_not_shown():
    found = families(Board("flat", 3))
    for name in ("lag_seconds", "candidates_fewest", "state_bytes", "records_in", "source_pending_messages"):
        assert f"querycloak_{name}" not in found


def test_numbers_as_prometheus_writes_them():
    metric = Metric("x", "gauge", "A\nline.", tuple(map(Sample, (float("nan"), float("inf"), -float("inf"), 0.1, 2.0))))
    assert exposition([metric]).splitlines() == [
        "# HELP x A\\nline.",
        "# TYPE x gauge",
        *("x NaN", "x +Inf", "x -Inf", "x 0.1", "x 2"),
    ]


def test_health_follows_the_run():
    clock = Clock()
    board = Board("flat", 3, clock)
    assert (board.health().ready, board.health().state) == (False, "starting")
    board.event("started")
    board.taken(10)
    clock.now += 5
    board.batch(FIGURES)
    clock.now += 2
    health = board.health()
    assert (health.ready, health.state) == (True, "running")
    assert (health.lag_seconds, health.last_batch_age_seconds, health.last_save_age_seconds) == (7, 2, None)
    clock.now += 10 * STUCK_AFTER
    assert board.health().ready, "a quiet source is no fault"
    board.taken(10)
    clock.now += STUCK_AFTER - 1
    board.taken(10)  # the reader goes on while the sink takes nothing
    clock.now += 2
    assert board.health().state == "stuck"
    board.batch(FIGURES)
    assert board.health().ready
    board.event("stopped")
    assert (board.health().ready, board.health().state) == (False, "stopped")


def ask(door, path="/metrics", method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", door.address.port, timeout=10)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.getheaders())
    connection.close()
    return found


@pytest.fixture
def door(board):
    door = Door(DoorAddress("127.0.0.1", 0), board)
    yield door
    door.close()


def test_the_door_answers_two_paths(door, board):
    status, text, headers = ask(door)
    assert status == 200
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "querycloak_records_in_total 1000" in text
    status, text, headers = ask(door, "/health")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(text)["ready"] is True
    board.event("stopped")
    assert ask(door, "/health")[0] == 503
    assert ask(door, "/other")[0] == 404
    assert ask(door, "/metrics", "POST")[0] == 501
    assert ask(door, "/metrics", "HEAD")[:2] == (200, "")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:9464", 200),
        ("127.0.0.1", 200),
        ("[::1]:9464", 200),
        ("evil.example:9464", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
    ],
)
def test_a_foreign_host_is_turned_away(door, host, status):
    assert ask(door, host=host)[0] == status


def test_idle_clients_do_not_keep_others_out_for_ever(door):
    idle = [socket.create_connection(("127.0.0.1", door.address.port)) for _ in range(AT_ONCE)]
    for one in idle:
        one.close()
    deadline = time.monotonic() + 10
    while True:
        try:
            assert ask(door)[0] == 200
            break
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < deadline


def test_a_port_in_use(door, board):
    with pytest.raises(OutputError, match=f"cannot listen on 127.0.0.1:{door.address.port}"):
        Door(door.address, board)


def test_door_addresses():
    assert read_door_address("9464") == DoorAddress("127.0.0.1", 9464)
    assert str(read_door_address("[::1]:9464")) == "[::1]:9464"
    assert read_door_address("[::1]:9464").is_loopback
    assert read_door_address("localhost:1").is_loopback
    assert not read_door_address("0.0.0.0:1").is_loopback
    assert not read_door_address("metrics.example:1").is_loopback
    for wrong in ("", "x", "70000", ":1", "user:word@host:1", "host:", "::1:9464", "http://h:1", "1 "):
        with pytest.raises(ParameterError, match="--metrics must be PORT or HOST:PORT"):
            read_door_address(wrong)


def events(form="json"):
    lines, clock = [], Clock()
    log = EventLog(lines.append, form, clock, lambda: datetime(2026, 1, 31, 12, tzinfo=UTC))
    return log, lines, clock


def test_events_are_json_lines():
    log, lines, clock = events()
    log.event("started", method="flat", k=3)
    log.batch(FIGURES)
    log.batch(FIGURES)
    log.saved(10, 0.12345)
    clock.now += SKIPPED_SECONDS / 2
    log.batch(Figures(lines_skipped={"blank lines": 4}))
    log.event("finished")
    found = [json.loads(line) for line in lines]
    assert [one["event"] for one in found] == ["started", "skipped", "saved", "skipped", "finished"]
    assert found[0] == {"time": "2026-01-31T12:00:00.000Z", "event": "started", "method": "flat", "k": 3}
    assert found[1]["by_reason"] == FIGURES.lines_skipped
    assert found[2]["records_waiting"] == 90
    assert found[2]["seconds"] == 0.123
    assert found[3]["lines"] == 4


def test_events_as_text():
    log, lines, _ = events("text")
    log.event("started", method="self-adjusting", k=3, resumed=False)
    assert lines == ['2026-01-31T12:00:00.000Z started method="self-adjusting" k=3 resumed=false']


def test_a_full_disk_does_not_end_the_run():
    def full(_):
        raise OSError(28, "No space left on device")

    EventLog(full).event("started")


def test_all_watchers_hear_all(board):
    log, lines, _ = events()
    both = Watchers([NOBODY, board, log])
    both.event("started")
    both.taken(5, None)
    both.batch(FIGURES)
    both.saved(1, 1.0)
    assert len(lines) == 3
    assert value(families(board), "querycloak_state_saves_total") == 2


@pytest.mark.slow
def test_a_client_that_dribbles_does_not_keep_the_door(board, monkeypatch):
    """One byte now and then is no silence; all places would be taken for as long as somebody likes."""
    monkeypatch.setattr(door_module, "SECONDS", 0.5)
    door = Door(DoorAddress("127.0.0.1", 0), board)
    slow = [socket.create_connection(("127.0.0.1", door.address.port)) for _ in range(AT_ONCE)]
    try:
        status, end = None, time.monotonic() + 30
        while status is None:
            assert time.monotonic() < end
            for one in slow:
                with suppress(OSError):
                    one.sendall(b"G")
            time.sleep(0.1)
            asked = http.client.HTTPConnection("127.0.0.1", door.address.port, timeout=2)
            with suppress(OSError, http.client.HTTPException):
                asked.request("GET", "/health")
                status = asked.getresponse().status
            asked.close()
        assert status == 200
    finally:
        for one in slow:
            one.close()
        door.close()


def test_a_batch_that_hangs_after_the_next_was_read_is_stuck():
    clock = Clock()
    board = Board("self-adjusting", 4, clock)
    board.event("started")
    board.taken(100)
    board.taken(100)  # read ahead
    board.batch(FIGURES)
    clock.now += STUCK_AFTER + 1
    assert board.health().state == "stuck"
    board.batch(FIGURES)
    clock.now += STUCK_AFTER + 1
    assert board.health().state == "running"
