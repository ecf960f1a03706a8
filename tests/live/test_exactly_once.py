"""Nothing twice and nothing lost where a run is stopped, or a broker is lost, at an awkward moment."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace

import pytest
from broker_servers import SERVERS
from jit import JIT
from stream_logs import as_jsonl, as_tsv
from test_brokers import in_messages
from test_shards import YES, check_rules, published, rows, shard_run, stop_at, stopped_shards, taking
from test_stream_trouble import CutError, dies_after, run_of

from querycloak.errors import InputError, ParameterError
from querycloak.live import runner
from querycloak.live.address import parse_place
from querycloak.live.brokers import nats_stream
from querycloak.live.open_ends import open_sink, open_source
from querycloak.live.runner import Run, run_stream
from querycloak.live.shards import Shard
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.progress import QUIET


@pytest.fixture
def nats(tmp_path):
    (tmp_path / "server").mkdir()
    found = SERVERS["nats"](tmp_path / "server")
    yield found
    found.stop()


@pytest.mark.needs_jit
@pytest.mark.parametrize("away", [0.0, 0.5])
def test_a_burst_of_which_a_part_was_answered_is_not_sent_again(nats, monkeypatch, away):
    """NATS answers two messages of a burst and is away; back within its duplicate window, or later."""
    nats.make("published", duplicate_window=0.2)
    sink = open_sink(parse_place(nats.address("published")), QUIET)
    sink.begin(None, "run", again=False)
    publish = nats_stream.NatsSink._all_published

    async def cut(self, burst):
        monkeypatch.setattr(nats_stream.NatsSink, "_all_published", publish)
        answers = await publish(self, burst[:2])
        await asyncio.sleep(away)
        return [*answers, *(self._client.errors.TimeoutError() for _ in burst[2:])]

    monkeypatch.setattr(nats_stream.NatsSink, "_all_published", cut)
    expected = b"".join(b"%d\n" % i for i in range(5000))
    sink.write(expected)
    sink.close()
    assert b"".join(nats.read("published")) == expected


@pytest.mark.needs_jit
@pytest.mark.parametrize(
    ("source", "output", "refused"),
    [
        ("SEARCHES", "searches.out", True),
        ("searches.*", "searches.out", True),
        ("searches.>", "searches.a.b", True),
        ("searches.in", "searches.out", False),
        ("searches.*", "searches.a.b", False),
        ("searches.in", "OTHER", False),
    ],
)
def test_a_run_does_not_read_its_own_output(nats, tmp_path, source, output, refused):
    """The output is a subject of the stream that is read as a whole: what leaves would enter again, for ever."""
    nats.do(lambda js: js.add_stream(name="SEARCHES", subjects=["searches.>"]))
    nats.do(lambda js: js.add_stream(name="OTHER", subjects=["other"]))
    nats.publish("searches.in", [as_tsv(rows(300))])
    places = parse_place(nats.address(source, "?end=now")), parse_place(nats.address(output))
    run = run_of(tmp_path, *places, options=YES)
    if refused:
        with pytest.raises(ParameterError, match="would read its own output"):
            run_stream(run)
    else:
        assert run_stream(run).stats["records in"] == 300


def test_a_shard_that_is_stopped_before_it_reads_has_not_caught_up(tmp_path, monkeypatch):
    """From two shards to three, which are stopped at once, to four: each record out once, or waiting."""
    table = rows(4000 if JIT else 900)
    (tmp_path / "log").write_bytes(as_tsv(table))
    given = {"max_delay": 0}
    old = stopped_shards(tmp_path, monkeypatch, 2, [3, 12], **given)
    three = [taking(tmp_path, i, 3, old, **given) for i in range(3)]
    for run in three:
        with monkeypatch.context() as patch:
            stop_at(patch, 1)
            run_stream(run)
    first = taking(tmp_path, 0, 4, three, **given)
    with pytest.raises(InputError, match="catching up"):
        run_stream(first)
    for run in three:
        with monkeypatch.context() as patch:
            stop_at(patch, 14)
            run_stream(replace(run, take_over=()))
    four = [taking(tmp_path, i, 4, three, **given) for i in range(4)]
    waiting = sum(run_stream(run).stats["records waiting"] for run in four)
    check_rules(table, [row for run in [*old, *three, *four] for row in published(run)], waiting)


@pytest.mark.needs_jit
def test_a_source_that_was_made_anew_is_not_the_same(tmp_path):
    """A stream of Redis is removed and made again, under a run: by its ids nothing is missing."""
    (tmp_path / "server").mkdir()
    redis = SERVERS["redis"](tmp_path / "server")
    parts = in_messages(as_tsv(rows(300)), 20)
    try:
        for again in ({}, {"id": "1-1"}):
            redis.publish("searches", parts)
            source = open_source(parse_place(redis.address("searches")), 1 << 20, 0.05, [], QUIET)
            source.first_lines()
            while source.next():
                if source.pending == 0:
                    break
            mark = source.mark(0)
            with redis.client() as client:
                client.delete("searches")
                client.xadd("searches", {"data": parts[3]}, **again)
            with pytest.raises(InputError, match="has fewer entries than were read from it"):
                source.next()
            source.close()
            source = open_source(parse_place(redis.address("searches")), 1 << 20, 0.05, [], QUIET)
            with pytest.raises(InputError, match="the state of this run cannot go on with it"):
                source.wind_to(mark, b"")
            source.close()
            with redis.client() as client:
                client.delete("searches")
    finally:
        redis.stop()


@pytest.mark.needs_jit
def test_a_source_that_is_gone_after_the_connection_was_lost(nats):
    nats.make("searches", storage="memory")
    nats.publish("searches", in_messages(as_tsv(rows(300)), 20))
    source = open_source(parse_place(nats.address("searches")), 1 << 20, 0.05, [], QUIET)
    try:
        source.first_lines()
        nats.kill()
        nats.start()
        with pytest.raises(InputError, match="is gone: it was removed, or its data was lost"):
            deque((source.next() for _ in range(3)), maxlen=0)
    finally:
        source.close()


def as_array(table):
    return b"[" + b",\n".join(as_jsonl(table).splitlines()) + b"]"


@pytest.mark.parametrize("kind", ["tsv", "array"])
def test_a_file_does_not_shrink_under_who_follows_it(tmp_path, monkeypatch, kind):
    """Killed, then stopped before it is where it was: the file stays as it is, and there is no statement of a part."""
    monkeypatch.setattr(runner, "SAMPLE", 2000)
    monkeypatch.setattr(runner, "LINE", 10)
    table = rows(3000 if JIT else 900)
    (tmp_path / "log").write_bytes(as_tsv(table) if kind == "tsv" else as_array(table))
    run = run_of(tmp_path, tmp_path / "log", tmp_path / "release", checkpoint_records=100, seed=None, options=YES)
    for saves in (1, 6):
        with monkeypatch.context() as patch:
            dies_after(patch, saves)
            with pytest.raises(CutError):
                run_stream(run)
        if saves == 1:
            old = (tmp_path / "state" / "state").read_bytes()
    (tmp_path / "state" / "state").write_bytes(old)
    before = (tmp_path / "release").read_bytes()
    with monkeypatch.context() as patch:
        stop_at(patch, 2)
        assert run_stream(run).kept
    assert (tmp_path / "release").read_bytes() == before
    assert not run.statement_path.exists()
    found = run_stream(run)
    assert found.finished
    assert (tmp_path / "release").read_bytes().startswith(before)
    assert run.statement_path.exists()


@pytest.mark.slow
@pytest.mark.needs_jit
def test_a_topic_that_was_made_anew_is_not_the_same(tmp_path):
    """Offsets begin at 0 again: what is before the position must be what was read."""
    kafka = SERVERS["kafka"](tmp_path)
    parts = in_messages(as_tsv(rows(300)), 20)
    try:
        kafka.publish("searches", parts[:10])
        kafka.publish("others", [*reversed(parts), parts[0]])
        source = open_source(parse_place(kafka.address("searches", "?end=now")), 1 << 20, 0.05, [], QUIET)
        source.first_lines()
        while source.next():
            pass
        mark = source.mark(0)
        source.close()
        other = open_source(parse_place(kafka.address("others")), 1 << 20, 0.05, [], QUIET)
        with pytest.raises(InputError, match="has another message where the last one was read"):
            other.wind_to(mark, b"")
        other.close()
        kafka.publish("searches", parts[10:])
        source = open_source(parse_place(kafka.address("searches", "?end=now")), 1 << 20, 0.05, [], QUIET)
        source.wind_to(mark, b"")
        assert source.next() == b"".join(parts[10:])
        source.close()
    finally:
        kafka.stop()


def test_a_shard_removes_nothing_that_another_has_not_read(tmp_path):
    run = shard_run(tmp_path, Shard(0, 2))
    with pytest.raises(ParameterError, match="would remove what the others have not read yet"):
        run_stream(replace(run, source=parse_place("redis://localhost/searches?trim=yes")))


@pytest.mark.parametrize("given", [{}, {"ids": "day"}, {"ids": "epoch", "epoch": "70"}, {"ids": "day", "epoch": "70"}])
def test_the_truth_does_not_depend_on_batches(tmp_path, monkeypatch, given):
    """A survey follows it, and goes on where it was when a stream that was killed writes it again."""
    table = rows(900)
    (tmp_path / "log").write_bytes(as_tsv(table))
    seen = set()
    for piece in (1 << 20, 5000, 700):
        monkeypatch.setattr(runner, "PIECE", piece)
        settings = StreamSettings(k=3, depth=2, as_in_paper=True, **given)
        places = tmp_path / "log", tmp_path / "release"
        run_stream(Run("self-adjusting", settings, *places, truth=tmp_path / "truth", seed=7, options=YES))
        seen.add((tmp_path / "truth").read_bytes())
    assert len(seen) == 1
    known, first = set(), tmp_path.joinpath("truth").read_text().splitlines()[1:]
    out = iter(tmp_path.joinpath("release").read_text().splitlines()[1:])
    for line in first:
        kind, name, _ = line.split("\t")
        if kind == "user":
            known.add(name)
        elif kind == "row":
            assert next(out).split("\t")[0] in known
