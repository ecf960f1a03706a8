"""What a user sees when something is wrong around a stream, and that nothing is lost or published twice by it."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import replace

import pytest
from broker_servers import SERVERS, free_port
from stream_logs import as_tsv, rows

from querycloak.errors import InputError, OutputError, UserError
from querycloak.live import runner, state
from querycloak.live.address import parse_place
from querycloak.live.journal import Journal, read_events
from querycloak.live.open_ends import open_sink, open_source
from querycloak.live.runner import Run, run_stream
from querycloak.live.timekeeper import Event, Timekeeper
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.progress import QUIET

pytestmark = pytest.mark.needs_jit
TABLE = rows(1500, users=50)
SETTINGS = StreamSettings(k=3, depth=2, as_in_paper=True)
WORDS = ["stream", "--k=3", "--depth=2", "--as-in-paper", "--seed=7", "--yes", "--quiet", "--no-config"]


@pytest.fixture(scope="module", params=["redis", "nats"])
def server(request, tmp_path_factory):
    found = SERVERS[request.param](tmp_path_factory.mktemp(request.param))
    yield found
    found.stop()


def command(*words, before=None, **options):
    words = [sys.executable, "-m", "querycloak", *WORDS, *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=before, **options)


def run_of(folder, source, output, **options):
    given = {"checkpoint": folder / "state", "checkpoint_records": 300, "seed": 7, **options}
    return Run("self-adjusting", given.pop("settings", SETTINGS), source, output, **given)


class CutError(Exception):
    pass


def dies_after(patch, saves):
    save, done = runner.Checkpoint.save, []

    def dying(self, saved):
        save(self, saved)
        done.append(1)
        if len(done) == saves:
            raise CutError

    patch.setattr(runner.Checkpoint, "save", dying)


@pytest.fixture
def small(monkeypatch):
    """Small batches."""
    monkeypatch.setattr(runner, "SAMPLE", 2000)
    monkeypatch.setattr(runner, "LINE", 10)


@pytest.mark.parametrize("event", [{"kind": "close", "value": 7}, {"kind": "expire", "value": 77}])
def test_a_crafted_journal_is_refused(tmp_path, event):
    """What contradicts the run shows only when its record has entered: one line is said, and nothing was written."""
    (tmp_path / "log").write_bytes(as_tsv(TABLE))
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state" / "journal").write_text(json.dumps({"number": 0, "at": 5, **event}) + "\n")
    (tmp_path / "state" / "journal").chmod(0o600)
    run = run_of(tmp_path, tmp_path / "log", tmp_path / "out", settings=replace(SETTINGS, max_age=100.0), seed=None)
    with pytest.raises(InputError, match="the checkpoint cannot be read: it does not hold that"):
        run_stream(run)


@pytest.mark.slow
def test_a_disk_that_is_full_and_then_is_not(tmp_path):
    """A limit on the size of files stands for the disk: the message names the file, and the same command goes on."""
    (tmp_path / "log").write_bytes(as_tsv(rows(20_000, users=200)))
    words = [f"--from={tmp_path / 'log'}", f"--to={tmp_path / 'out'}", f"--checkpoint={tmp_path / 'state'}"]
    words.append("--checkpoint-records=1000")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))  # noqa: E731
    failed = command(*words, before=limit)
    assert failed.returncode == 2
    assert failed.stderr == f"querycloak: {tmp_path / 'out'}: cannot be written (File too large).\n"
    assert (tmp_path / "state" / "state").exists()
    assert command(*words).returncode == 0
    assert command(words[0], f"--to={tmp_path / 'whole'}").returncode == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    full = command(words[0], "--to=/dev/full", f"--statement={tmp_path / 's.json'}")
    assert full.returncode == 2
    assert full.stderr == "querycloak: /dev/full: cannot be written (No space left on device).\n"


def test_a_disk_that_is_full_for_the_state(tmp_path, monkeypatch, small):
    (tmp_path / "log").write_bytes(as_tsv(TABLE))
    run = run_of(tmp_path, tmp_path / "log", tmp_path / "out")
    with monkeypatch.context() as patch:

        def full(*_):
            raise OSError(28, "No space left on device")

        patch.setattr(state, "write_container", full)
        with pytest.raises(OutputError, match=r"state: the checkpoint cannot be written \(No space left on device\)\."):
            run_stream(run)
    run_stream(run)
    run_stream(replace(run, output=tmp_path / "whole", checkpoint=None))
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_journal_on_a_disk_that_takes_a_part_of_a_line(tmp_path, monkeypatch):
    """The system may write fewer bytes than it was given, without an error."""
    import querycloak.live.journal as module

    write = module.os.write
    monkeypatch.setattr(module.os, "write", lambda file, data: write(file, data[:7]))
    journal = Journal(tmp_path / "journal", 0)
    events = [Event(0, 5, "expire", 3), Event(1, 9, "expire", 7)]
    for event in events:
        journal.add(event)
    journal.close()
    assert read_events((tmp_path / "journal").read_bytes()) == events


@pytest.mark.slow
def test_a_reader_that_goes_away(tmp_path):
    (tmp_path / "log").write_bytes(as_tsv(rows(20_000, users=200)))
    words = [sys.executable, "-m", "querycloak", *WORDS, f"--from={tmp_path / 'log'}"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(100)
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), told) in {(0, b""), (141, b"")}


@pytest.mark.parametrize("kind", ["nats", "redis", "kafka"])
@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_nobody_there_is_one_line(tmp_path, kind, host):
    port = free_port()
    place = f"{kind}://ann:hunter2@{host}:{port}/searches"
    shown = f"{kind}://{host}:{port}/searches: cannot be reached ("
    with pytest.raises(UserError) as error:
        run_stream(run_of(tmp_path, parse_place(place), tmp_path / "out"))
    assert str(error.value).startswith(shown)
    assert str(error.value).endswith("); is it running, and at this port?")
    assert "hunter2" not in str(error.value)


def test_a_wrong_password_ends_with_2(tmp_path):
    (tmp_path / "server").mkdir()
    found = SERVERS["redis"](tmp_path / "server", requirepass="hunter2")
    try:
        place = f"redis://default:hunter3@127.0.0.1:{found.port}/x"
        failed = command(f"--from={place}", f"--to={tmp_path / 'out'}")
        told = f"querycloak: redis://127.0.0.1:{found.port}/x: Redis refuses the user or the password.\n"
        assert (failed.returncode, failed.stderr) == (2, told)
    finally:
        found.stop()


def test_a_broker_that_may_not_be_written_to_or_is_full(tmp_path, small):
    """Who may not write is told so; a Redis without memory is waited for, and nothing is lost."""
    (tmp_path / "server").mkdir()
    found = SERVERS["redis"](tmp_path / "server")
    try:
        (tmp_path / "log").write_bytes(as_tsv(TABLE))
        with found.client() as client:
            client.execute_command("ACL", "SETUSER", "ann", "on", ">pass", "~*", "+@all", "-xadd")
            place = parse_place(f"redis://ann:pass@127.0.0.1:{found.port}/published")
            with pytest.raises(UserError, match=r"published: Redis answers (with an error|NOPERM)"):
                run_stream(run_of(tmp_path / "a", tmp_path / "log", place))
            client.delete("published", "{published}:querycloak")
            client.config_set("maxmemory", 1)
            timer = threading.Timer(0.7, lambda: client.config_set("maxmemory", 0))
            timer.start()
            place = parse_place(found.address("published"))
            run = run_of(tmp_path / "b", tmp_path / "log", place)
            (tmp_path / "b").mkdir()
            assert run_stream(run).finished
            timer.join()
            run_stream(replace(run, output=tmp_path / "whole", checkpoint=None))
            assert b"".join(found.read("published")) == (tmp_path / "whole").read_bytes()
    finally:
        found.stop()


def lines(begin, count):
    return b"".join(b"u%d\tq%d\tNews\n" % (i % 9, i) for i in range(begin, begin + count))


def test_what_is_trimmed_while_we_read_is_noticed(server):
    """The broker removes what was not read yet, under a run that reads."""
    name = f"trimmed{free_port()}"
    server.make(name)
    server.publish(name, [b"user\tquery\tcategory\n" + lines(0, 5), *(lines(i, 5) for i in range(5, 100, 5))])
    source = open_source(parse_place(server.address(name)), 200, 0.05, [], QUIET)
    try:
        assert source.first_lines()
        if server.scheme == "redis":
            with server.client() as client:
                client.xtrim(name, maxlen=2, approximate=False)
        else:
            server.do(lambda js: js.purge_stream(name.upper(), keep=2))
        with pytest.raises(InputError, match=r"lost (entries|messages) that were not read yet"):
            deque((source.next() for _ in range(20)), maxlen=0)
    finally:
        source.close()


def test_what_the_broker_lost_under_a_run_is_noticed(server):
    """The output is gone, or shorter, while we write: said at the next message, which is not sent."""
    name = f"lost{free_port()}"
    server.make(name)
    sink = open_sink(parse_place(server.address(name)), QUIET)
    try:
        sink.begin(None, "run", again=False)
        sink.write(b"a\n")
        if server.scheme == "redis":
            with server.client() as client:
                client.delete(name, f"{{{name}}}:querycloak")
        else:
            server.do(lambda js: js.delete_stream(name.upper()))
            server.make(name)
        with pytest.raises(OutputError, match="has 0 bytes of the output and had 2: the broker lost messages"):
            sink.write(b"b\n")
        assert server.read(name) == []
    finally:
        sink.close()


def test_nothing_is_taken_after_what_was_refused(tmp_path):
    """Another sender comes between the messages of a burst: none of the rest is taken, and none is left out."""
    (tmp_path / "server").mkdir()
    found = SERVERS["nats"](tmp_path / "server")
    try:
        found.do(lambda js: js.add_stream(name="ALL", subjects=["published", "other"]))
        sink = open_sink(parse_place(found.address("published")), QUIET)
        sink.begin(None, "run", again=False)
        stop = threading.Event()

        async def disturb(js):
            while not stop.is_set():
                await js.publish("other", b"x")
                await asyncio.sleep(0)

        thread = threading.Thread(target=lambda: found.do(disturb))
        thread.start()
        expected = b"".join(b"%d\n" % i for i in range(60_000))
        sink.write(expected)
        stop.set()
        thread.join()
        sink.close()

        async def read(js):
            state = (await js.stream_info("ALL")).state
            every = [await js.get_msg("ALL", number) for number in range(1, state.last_seq + 1)]
            return b"".join(message.data for message in every if message.subject == "published")

        assert found.do(read) == expected
    finally:
        found.stop()


def test_a_state_saved_before_the_end_of_what_is_there(server, tmp_path, monkeypatch, small):
    """An older state goes on, saves while the broker still has more, and dies: what is there is not sent again."""
    source, output = f"in{free_port()}", f"out{free_port()}"
    for name in (source, output):
        server.make(name)
    parts = as_tsv(TABLE).splitlines(keepends=True)
    server.publish(source, [b"".join(parts[i : i + 50]) for i in range(0, len(parts), 50)])
    places = parse_place(server.address(source, "?end=now")), parse_place(server.address(output))
    run = run_of(tmp_path, *places, checkpoint_records=100, seed=None)
    for saves, keep in ((1, True), (8, False), (2, False)):
        with monkeypatch.context() as patch:
            dies_after(patch, saves)
            with pytest.raises(CutError):
                run_stream(run)
        if keep:
            old = (tmp_path / "state" / "state").read_bytes()
        elif saves == 8:
            (tmp_path / "state" / "state").write_bytes(old)
    found = run_stream(run)
    queries = [line.split(b"\t")[1] for line in b"".join(server.read(output)).splitlines()[1:]]
    assert len(queries) == len(set(queries)) == found.stats["records out"]
    assert len(queries) + found.stats["records waiting"] == len(TABLE)


def test_an_input_that_was_changed_before_the_first_state(server, tmp_path, monkeypatch, small):
    """Killed before its first state, and the input has lost its beginning: nothing is sent, and it is said."""
    source, output = f"in{free_port()}", f"out{free_port()}"
    for name in (source, output):
        server.make(name)
    parts = as_tsv(TABLE).splitlines(keepends=True)
    messages = [parts[0] + b"".join(parts[i : i + 50]) for i in range(1, len(parts), 50)]
    server.publish(source, messages)
    places = parse_place(server.address(source, "?end=now")), parse_place(server.address(output))
    run = run_of(tmp_path, *places, seed=None)
    with monkeypatch.context() as patch:
        dies_after(patch, 1)
        with pytest.raises(CutError):
            run_stream(run)
    (tmp_path / "state" / "state").unlink()
    before = server.read(output)
    if server.scheme == "redis":
        with server.client() as client:
            client.xtrim(source, maxlen=25, approximate=False)
    else:
        server.do(lambda js: js.purge_stream(source.upper(), keep=25))
    with pytest.raises(OutputError, match="what is there is not what this run makes from its input"):
        run_stream(run)
    assert server.read(output) == before


def test_a_clock_that_jumps():
    """A wall clock that is set changes nothing in a process, and between two starts never makes records wait longer."""
    now, wall = [1000.0], [5e8]

    def timekeeper(max_age=10.0):
        settings = StreamSettings(k=3, max_age=max_age)
        return Timekeeper(settings, clock=lambda: now[0], wall=lambda: wall[0])

    first = timekeeper()
    first.entered(5, epoch_has_records=False)
    for jump in (-1e7, 1e7, -3600.0):
        wall[0] += jump
        assert first.decide(5, 0) == []
    now[0] += 10
    assert [(e.kind, e.value) for e in first.decide(5, 0)] == [("expire", 5)]
    second = timekeeper()
    second.entered(5, epoch_has_records=False)
    now[0] += 4
    saved = json.loads(json.dumps(second.to_state()))
    for jump, left in ((-1e7, 6.0), (0.0, 6.0), (3.0, 3.0), (1e7, 0.0)):
        now[0], then, wall[0] = 50.0, wall[0], wall[0] + jump  # another process, with another monotonic clock
        third = timekeeper()
        third.from_state(saved, 5)
        now[0] += left - 0.01
        assert (third.decide(5, 0) == []) == (left > 0)
        now[0] += 0.02
        assert left == 0 or third.decide(5, 0) != []
        wall[0] = then


@pytest.mark.slow
def test_decisions_of_the_clock_before_the_first_state_are_not_taken_anew(tmp_path, monkeypatch, small):
    """Killed before its first state: what was decided is in the journal, and what is in the output stays."""
    (tmp_path / "log").write_bytes(as_tsv(TABLE))
    settings = replace(SETTINGS, max_age=0.05)
    run = replace(run_of(tmp_path, tmp_path / "log", tmp_path / "out", seed=None), settings=settings)
    run = replace(run, checkpoint_records=10**6)
    push, pushed = runner.Converter.push, []

    def slowly(self, batch):
        time.sleep(0.03)
        pushed.append(1)
        if len(pushed) == 25:
            raise CutError
        return push(self, batch)

    monkeypatch.setattr(runner.Converter, "push", slowly)
    monkeypatch.setattr(runner, "_piece", lambda run: 2000)
    with pytest.raises(CutError):
        run_stream(run)
    assert (tmp_path / "state" / "journal").stat().st_size > 0
    assert not (tmp_path / "state" / "state").exists()
    before = (tmp_path / "out").read_bytes()
    assert before
    run_stream(run)
    assert (tmp_path / "out").read_bytes().startswith(before)
