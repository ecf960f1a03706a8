"""Streams from and to real brokers: the same records, once, by one process, and never a password in a message."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest
from broker_servers import SERVERS, free_port
from stream_logs import MAKERS, as_tsv, rows

from querycloak.errors import InputError, OutputError, ParameterError, UserError
from querycloak.live import runner
from querycloak.live.address import parse_place
from querycloak.live.brokers import library
from querycloak.live.brokers.messages import split_lines
from querycloak.live.open_ends import open_sink
from querycloak.live.runner import Run, run_stream
from querycloak.live.watch.board import Board
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.progress import QUIET

pytestmark = pytest.mark.needs_jit
TABLE = rows(1500, users=50)
SKIP = ReadOptions(on_error="skip")


# The library's own cluster of Kafka takes its time.
KINDS = [pytest.param(kind, marks=pytest.mark.slow) if kind == "kafka" else kind for kind in SERVERS]


@pytest.fixture(scope="module", params=KINDS)
def server(request, tmp_path_factory):
    found = SERVERS[request.param](tmp_path_factory.mktemp(request.param))
    yield found
    found.stop()


@pytest.fixture(scope="module", params=["redis", "nats"])
def lasting(request, tmp_path_factory):
    """A broker whose streams can be changed by hand."""
    found = SERVERS[request.param](tmp_path_factory.mktemp(request.param))
    yield found
    found.stop()


NUMBER = iter(range(10**6))


def names(server):
    number = next(NUMBER)
    found = f"searches{number}", f"published{number}"
    for name in found:
        server.make(name)
    return found


def in_messages(data, lines=100):
    parts = data.splitlines(keepends=True)
    return [b"".join(parts[i : i + lines]) for i in range(0, len(parts), lines)]


def run_of(server, tmp_path, source, output, **options):
    places = (parse_place(server.address(source, "?end=now")), parse_place(server.address(output)))
    settings = StreamSettings(k=3, depth=2, as_in_paper=True)
    given = {"checkpoint": tmp_path / "state", "checkpoint_records": 300, "seed": 7, **options}
    return Run("self-adjusting", settings, *places, **given)


def whole(tmp_path, data, **options):
    """What the same run writes to a file."""
    (tmp_path / "log").write_bytes(data)
    settings = StreamSettings(k=3, depth=2, as_in_paper=True)
    run_stream(Run("self-adjusting", settings, tmp_path / "log", tmp_path / "whole", seed=7, **options))
    return (tmp_path / "whole").read_bytes()


class Told:
    def __init__(self):
        self.notes = []

    def start(self, step, total=None):
        pass

    def advance(self, units=1):
        pass

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize("kind", MAKERS)
def test_what_a_file_would_hold_is_published(server, tmp_path, kind):
    source, output = names(server)
    data = MAKERS[kind](TABLE)
    server.publish(source, in_messages(data))
    found = run_stream(run_of(server, tmp_path, source, output))
    messages = server.read(output)
    assert b"".join(messages) == whole(tmp_path, data)
    assert all(message.endswith(b"\n") and message.count(b"\n") <= 1000 for message in messages)
    assert found.finished
    assert found.stats["records in"] == len(TABLE)
    told = Told()
    assert run_stream(run_of(server, tmp_path, source, output), progress=told) is None
    assert "this run is finished" in told.notes[-1]
    assert server.read(output) == messages
    server.publish(source, [b"more\n"])
    with pytest.raises(InputError, match="has changed since"):
        run_stream(run_of(server, tmp_path, source, output))


def test_one_record_a_message_without_line_ends(server, tmp_path):
    source, output = names(server)
    data = as_tsv(TABLE[:200])
    server.publish(source, [line.rstrip(b"\n") for line in data.splitlines(keepends=True)])
    assert run_stream(run_of(server, tmp_path, source, output)).stats["records in"] == 200
    assert b"".join(server.read(output)) == whole(tmp_path, data)


def test_a_message_with_bad_lines_is_counted_or_stops(server, tmp_path):
    source, output = names(server)
    messages = in_messages(as_tsv(TABLE[:400]))
    poison = b"\xff\xfe\x00\x01secret\n1005\tsecret\n"
    server.publish(source, [*messages[:2], poison, b"", *messages[2:]])
    with pytest.raises(InputError, match=r"line 201: .*--on-error skip") as error:
        run_stream(run_of(server, tmp_path, source, output))
    assert "secret" not in str(error.value)
    found = run_stream(run_of(server, tmp_path, source, output, options=SKIP))
    assert found.stats["records in"] == 400
    assert sum(found.stats["lines skipped"].values()) == 2


def test_an_open_quote_does_not_reach_the_next_message(server, tmp_path):
    source, output = names(server)
    good = b"".join(b"u%d,two words %d,News\n" % (i % 9, i) for i in range(60))
    quoted = b'u1,"a quote",News\n'
    messages = [b"user,query,category\n" + good, b'u1,"open,News\n', quoted, b'u2,"two\nlines",News', good]
    server.publish(source, messages)
    found = run_stream(run_of(server, tmp_path, source, output, options=SKIP))
    assert found.stats["records in"] == 122
    assert found.stats["lines skipped"] == {"malformed lines, left out": 1}


def test_a_message_of_300_kilobytes(server, tmp_path):
    source, output = names(server)
    data = as_tsv([(user, query + "x" * 200, *rest) for user, query, *rest in TABLE])
    large = in_messages(data, 1200)
    assert max(len(message) for message in large) > 300_000
    server.publish(source, large)
    run_stream(run_of(server, tmp_path, source, output))
    assert b"".join(server.read(output)) == whole(tmp_path, data)


def dies_after(monkeypatch, saves):
    save, done = runner.Checkpoint.save, []

    def dying(self, saved):
        save(self, saved)
        done.append(1)
        if len(done) == saves:
            raise RuntimeError("killed")

    monkeypatch.setattr(runner.Checkpoint, "save", dying)


@pytest.mark.parametrize("seed", [7, None])
@pytest.mark.parametrize("lost", ["nothing", "one state", "all states"])
def test_what_was_published_after_the_state_is_not_published_again(server, tmp_path, monkeypatch, seed, lost):
    """The state is put back to an older one, or was never written: the output goes on where the broker is."""
    source, output = names(server)
    data = as_tsv(TABLE)
    monkeypatch.setattr(runner, "SAMPLE", 2000)
    monkeypatch.setattr(runner, "LINE", 10)  # small batches
    server.publish(source, in_messages(data, 50))
    run = run_of(server, tmp_path, source, output, seed=seed, checkpoint_records=200)
    state = tmp_path / "state" / "state"
    with monkeypatch.context() as patch:
        dies_after(patch, 2)
        with pytest.raises(RuntimeError):
            run_stream(run)
    old = state.read_bytes()
    with monkeypatch.context() as patch:
        dies_after(patch, 2)
        with pytest.raises(RuntimeError):
            run_stream(run)
    before = b"".join(server.read(output))
    if lost == "one state":
        state.write_bytes(old)
    elif lost == "all states":
        state.unlink()
    found = run_stream(run)
    out = b"".join(server.read(output))
    assert before
    assert out.startswith(before)
    queries = [line.split(b"\t")[1] for line in out.splitlines()[1:]]
    assert len(queries) == len(set(queries))
    assert len(queries) + found.stats["records waiting"] == len(TABLE)
    if seed is not None:
        assert out == whole(tmp_path, data)


def test_the_output_of_another_run_is_left_alone(server, tmp_path):
    source, output = names(server)
    server.publish(source, in_messages(as_tsv(TABLE[:300])))
    run_stream(run_of(server, tmp_path, source, output))
    before = server.read(output)
    with pytest.raises(OutputError, match="messages that are not of this run"):
        run_stream(run_of(server, tmp_path, source, output, checkpoint=tmp_path / "other", seed=None))
    assert server.read(output) == before


def test_of_two_processes_one_is_refused(lasting, tmp_path):
    """Both hold the same state, as when a folder was copied: the later one goes on, the earlier one is fenced off."""
    _, output = names(lasting)
    first, second = (open_sink(parse_place(lasting.address(output)), QUIET) for _ in range(2))
    first.begin(None, "run", again=False)
    first.write(b"a\n")
    second.begin(first.sync(), "run", again=True)
    assert second.size == 2
    second.write(b"b\n")
    with pytest.raises(OutputError, match="another process writes there"):
        first.write(b"b\n")
    second.write(b"c\n")
    assert lasting.read(output) == [b"a\n", b"b\n", b"c\n"]
    first.close()
    second.close()


def test_without_a_checkpoint_it_is_said_what_is_lost(server, tmp_path):
    source, output = names(server)
    server.publish(source, in_messages(as_tsv(TABLE[:300])))
    told = Told()
    assert run_stream(run_of(server, tmp_path, source, output, checkpoint=None), progress=told).finished
    assert any("Without --checkpoint DIR what waits is lost" in note for note in told.notes)


def test_lost_data_is_told(lasting, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "SAMPLE", 2000)
    monkeypatch.setattr(runner, "LINE", 10)  # small batches
    source, output = names(lasting)
    lasting.publish(source, in_messages(as_tsv(TABLE)))
    run = run_of(lasting, tmp_path, source, output)
    with monkeypatch.context() as patch:
        dies_after(patch, 2)
        with pytest.raises(RuntimeError):
            run_stream(run)
    if lasting.scheme == "redis":
        with lasting.client() as client:
            client.rename(source, "kept")
            with pytest.raises(InputError, match="ends before what was read from it already"):
                run_stream(run)
            client.rename("kept", source)
            position = client.hget(f"{{{output}}}:querycloak", "position")
            client.hset(f"{{{output}}}:querycloak", "position", 10)
            with pytest.raises(OutputError, match="has 10 bytes of the output and had"):
                run_stream(run)
            client.hset(f"{{{output}}}:querycloak", "position", position)
            client.xtrim(source, maxlen=1, approximate=False)
        with pytest.raises(InputError, match="lost entries that were not read yet"):
            run_stream(run)
    else:
        lasting.do(lambda js: js.purge_stream(source.upper(), keep=1))
        with pytest.raises(InputError, match="lost messages that were not read yet"):
            run_stream(run)


@pytest.mark.slow
def test_a_broker_that_is_away_for_a_while(lasting, tmp_path, monkeypatch):
    """Killed while a run reads and writes, and started again on its storage: the run goes on by itself."""
    monkeypatch.setattr(runner, "SAMPLE", 2000)
    monkeypatch.setattr(runner, "LINE", 10)
    source, output = names(lasting)
    data = as_tsv(TABLE)
    lasting.publish(source, in_messages(data, 20))
    run, told, ended = run_of(lasting, tmp_path, source, output, checkpoint_records=100), Told(), []
    push = runner.Converter.push

    under_way, pushed = threading.Event(), []

    def slowly(self, batch):
        time.sleep(0.02)
        pushed.append(1)
        if len(pushed) == 10:
            under_way.set()
        return push(self, batch)

    monkeypatch.setattr(runner.Converter, "push", slowly)
    board, pending = Board("self-adjusting", 3), []
    taken = board.taken
    board.taken = lambda size, waiting=None: (pending.append(waiting), taken(size, waiting))
    thread = threading.Thread(target=lambda: ended.append(run_stream(run, progress=told, watcher=board)))
    thread.start()
    assert under_way.wait(60)
    lasting.kill()
    time.sleep(1)
    assert thread.is_alive()
    lasting.start()
    thread.join(60)
    assert not thread.is_alive()
    assert ended[0].finished
    assert b"".join(lasting.read(output)) == whole(tmp_path, data)
    assert any("cannot be reached" in note for note in told.notes)
    assert any("is back after" in note for note in told.notes)
    shown = {metric.name: metric.samples for metric in board.metrics()}
    assert shown["querycloak_reconnects_total"][0].value >= 1
    waiting = [n for n in pending if n is not None]  # messages of 20 lines each; the first was taken before
    assert len(waiting) > 5
    assert waiting[-1] == 0
    assert waiting == sorted(waiting, reverse=True)
    assert waiting[0] <= data.count(b"\n") // 20


def test_an_empty_stream_and_no_broker(server, tmp_path):
    source, output = names(server)
    with pytest.raises(InputError, match="the stream is empty"):
        run_stream(run_of(server, tmp_path, source, output))
    nobody = f"{server.scheme}://beatrix:hunter2@127.0.0.1:{free_port()}/x"
    with pytest.raises(UserError, match="cannot be reached") as error:
        run_stream(replace(run_of(server, tmp_path, source, output), source=parse_place(nobody)))
    assert "hunter2" not in str(error.value)
    assert "beatrix" not in str(error.value)


@pytest.mark.parametrize("kind", ["redis", "nats"])
def test_passwords_of_the_address_and_of_the_environment(tmp_path, monkeypatch, kind):
    (tmp_path / "server").mkdir()
    secret = {"redis": {"requirepass": "hunter2"}, "nats": {"authorization": '{ user: "ann", password: "hunter2" }'}}
    found = SERVERS[kind].__new__(SERVERS[kind])
    monkeypatch.setattr(SERVERS[kind], "wait_until_ready", lambda self: None)
    found.__init__(tmp_path / "server", **secret[kind])
    try:
        user = "default" if kind == "redis" else "ann"
        wrong = parse_place(f"{kind}://{user}:hunter3@127.0.0.1:{found.port}/x")
        settings = StreamSettings(k=3, depth=2, as_in_paper=True)
        with pytest.raises(UserError, match="refuses the user or the password") as error:
            run_stream(Run("self-adjusting", settings, wrong, tmp_path / "out", checkpoint=tmp_path / "state"))
        assert "hunter" not in str(error.value)
        right = "the stream is empty" if kind == "redis" else "no stream of this name"
        place = parse_place(f"{kind}://{user}:hunter2@127.0.0.1:{found.port}/x?end=now")
        with pytest.raises(UserError, match=right):
            run_stream(Run("self-adjusting", settings, place, tmp_path / "out", checkpoint=tmp_path / "state"))
        monkeypatch.setenv(f"QUERYCLOAK_{kind.upper()}_USER", user)
        monkeypatch.setenv(f"QUERYCLOAK_{kind.upper()}_PASSWORD", "hunter2")
        place = parse_place(f"{kind}://127.0.0.1:{found.port}/x?end=now")
        with pytest.raises(UserError, match=right):
            run_stream(Run("self-adjusting", settings, place, tmp_path / "out", checkpoint=tmp_path / "state"))
    finally:
        found.stop()


def test_redis_trims_only_what_a_state_contains(tmp_path, monkeypatch):
    (tmp_path / "server").mkdir()
    found = SERVERS["redis"](tmp_path / "server")
    try:
        monkeypatch.setattr(runner, "SAMPLE", 2000)
        monkeypatch.setattr(runner, "LINE", 10)
        found.publish("searches", in_messages(as_tsv(TABLE), 50))
        run = run_of(found, tmp_path, "searches", "published", checkpoint_records=200)
        run = replace(run, source=parse_place(found.address("searches", "?end=now&trim=yes")))
        with monkeypatch.context() as patch:
            dies_after(patch, 3)
            with pytest.raises(RuntimeError):
                run_stream(run)
        left = len(found.read("searches"))
        assert 0 < left < 31
        run_stream(run)
        assert b"".join(found.read("published")) == whole(tmp_path, as_tsv(TABLE))
        assert not found.read("searches")
    finally:
        found.stop()


def test_nats_needs_a_stream_that_can_be_read_again(tmp_path):
    (tmp_path / "server").mkdir()
    found = SERVERS["nats"](tmp_path / "server")
    try:
        found.make("searches", retention="workqueue")
        found.make("published", retention="interest")
        found.make("plain")
        with pytest.raises(InputError, match="expected retention by limits"):
            run_stream(run_of(found, tmp_path, "searches", "plain"))
        with pytest.raises(OutputError, match="expected retention by limits"):
            run_stream(run_of(found, tmp_path, "plain", "published"))
        with pytest.raises(UserError, match="no stream of this name, and none that takes this subject"):
            run_stream(run_of(found, tmp_path, "plain", "elsewhere"))
        found.do(lambda js: js.add_stream(name="SMALL", subjects=["small"], max_msg_size=5000))
        found.publish("plain", in_messages(as_tsv(TABLE[:400]), 400))
        run_stream(run_of(found, tmp_path, "plain", "small"))
        assert max(len(message) for message in found.read("small")) <= 5000
        assert b"".join(found.read("small")) == whole(tmp_path, as_tsv(TABLE[:400]))
        found.make("long")
        found.publish("long", [as_tsv([("1", "q" * 9000, "t", "News", "s"), *TABLE[:50]])])
        run = replace(run_of(found, tmp_path, "long", "small"), checkpoint=tmp_path / "b", output=None)
        found.do(lambda js: js.purge_stream("SMALL"))
        run = replace(run, output=parse_place(found.address("small")))
        with pytest.raises(OutputError, match="the broker takes"):
            run_stream(run)
    finally:
        found.stop()


def test_a_topic_of_several_partitions_asks_for_one(tmp_path):
    found = SERVERS["kafka"](tmp_path)
    try:
        found.make("searches")
        place = parse_place(f"kafka://127.0.0.1:{found.port}/searches")
        settings = StreamSettings(k=3, depth=2)
        with pytest.raises(UserError, match=r"the topic has 4 partitions.*name one, as in .*\?partition=0"):
            run_stream(Run("self-adjusting", settings, place, tmp_path / "out"))
        place = parse_place(f"kafka://127.0.0.1:{found.port}/searches?partition=9")
        with pytest.raises(UserError, match="has the partitions 0 to 3"):
            run_stream(Run("self-adjusting", settings, place, tmp_path / "out"))
    finally:
        found.stop()


def test_no_credentials_in_states_and_statements(tmp_path):
    (tmp_path / "server").mkdir()
    found = SERVERS["redis"](tmp_path / "server")
    try:
        with found.client() as client:
            client.execute_command("ACL", "SETUSER", "ann", "on", ">hunter2", "~*", "+@all")
        found.publish("searches", in_messages(as_tsv(TABLE)))
        run = run_of(found, tmp_path, "searches", "published", statement=tmp_path / "s.json", stats=tmp_path / "f.json")
        place = parse_place(f"redis://ann:hunter2@127.0.0.1:{found.port}/searches?end=now")
        assert "hunter2" not in repr(place) + str(place)
        run_stream(replace(run, source=place))
        files = [path for path in tmp_path.rglob("*") if path.is_file() and "server" not in path.parts]
        assert {"s.json", "f.json", "finished"} <= {path.name for path in files}
        assert all(b"hunter2" not in path.read_bytes() for path in files)
        assert json.loads((tmp_path / "s.json").read_text())["statement"]["counts_in"]["rows"] == len(TABLE)
    finally:
        found.stop()


@pytest.mark.parametrize(
    "text",
    ["http://host/x", "nats://host", "redis:///x", "kafka://host:port/x", "nats://host/a/b", "redis://host/a b"],
)
def test_addresses_that_are_none(text):
    with pytest.raises(ParameterError, match="nats://host:port/SUBJECT"):
        parse_place(text)


def test_options_of_addresses_that_nobody_reads(lasting):
    with pytest.raises(ParameterError, match="has no option 'strat' here"):
        open_sink(parse_place(lasting.address("x", "?strat=now")), QUIET)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    with pytest.raises(UserError, match=r"redis://host:6379/x: needs redis; .*querycloak\[live\]"):
        library(parse_place("redis://u:p@host/x"), "redis")


def test_lines_are_cut_into_messages():
    lines = [b"%d\n" % i for i in range(2500)]
    parts = list(split_lines(b"".join(lines), 1 << 20, lambda text: True))
    assert [part.count(b"\n") for part in parts] == [1000, 1000, 500]
    assert b"".join(parts) == b"".join(lines)
    small = list(split_lines(b"".join(lines), 40, lambda text: True))
    assert b"".join(small) == b"".join(lines)
    assert max(map(len, small)) <= 40
    assert list(split_lines(b'a\n"b\nc"\nd\n', 4, lambda text: text.count(b'"') % 2 == 0)) == [
        b"a\n",
        b'"b\nc"\n',
        b"d\n",
    ]
    assert list(split_lines(b"", 4, lambda text: True)) == []
    assert Counter(list(split_lines(b"long line\n", 4, lambda text: True))) == {b"long line\n": 1}
