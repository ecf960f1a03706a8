"""A run that is killed at any moment goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from jit import JIT
from stream_logs import MAKERS, as_tsv, read_back, rows

from querycloak import api
from querycloak.errors import InputError, OutputError
from querycloak.live import runner
from querycloak.live.runner import Run, run_stream
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_statement import StreamSettings

SCALE = 1 if JIT else 40
"""how many times less is read where kernels are not compiled"""
SMALL = 20_000 // SCALE
SKIP = ReadOptions(on_error="skip")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of some seconds' hundredths, with a checkpoint every few hundredths of its length."""
    monkeypatch.setattr(runner, "PIECE", SMALL)
    (tmp_path / "log").write_bytes(as_tsv(rows(30_000 // SCALE, users=300)))
    return Run(
        "self-adjusting",
        StreamSettings(k=5, depth=2, as_in_paper=True),
        tmp_path / "log",
        tmp_path / "release",
        truth=tmp_path / "truth",
        checkpoint=tmp_path / "state",
        checkpoint_records=1500 // SCALE,
        seed=7,
        # Children are forked, so that kernels are loaded: Polars, which judges the columns, does not survive a fork.
        options=ReadOptions(assume_yes=True),
    )


def in_a_process_of_its_own(run, seconds):
    """Start the run in a child, kill it after a while; True = it was finished before."""
    child = os.fork()
    if child == 0:
        try:
            run_stream(run)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return not os.WIFSIGNALED(status)


def unbroken(run, folder):
    whole = replace(run, output=folder / "whole", truth=folder / "whole-truth", checkpoint=None)
    begin = time.monotonic()
    run_stream(whole)
    return time.monotonic() - begin


@pytest.mark.slow
@pytest.mark.parametrize("seeded", [True, False])
def test_killed_twenty_times_at_random_moments(run, tmp_path, seeded):
    """Twenty runs, each killed at random moments and started again until it ends.

    With a seed the output is that of the unbroken run, byte for byte; without, it is compared as bags: every query out
    once or dropped, no user more often than it asked. Either way nothing that anybody could have read is taken back:
    what was in the output when it was killed is the beginning of what it holds at the end.
    """
    run = run if seeded else replace(run, seed=None)
    unbroken(run, tmp_path)  # kernels are compiled
    length = unbroken(run, tmp_path)
    random, kills, went_on = Random(11), 0, 0
    table = rows(30_000, users=300)
    asked = Counter(row[0] for row in table)
    for _ in range(20):
        for path in (
            run.output,
            run.truth,
            run.output.with_name("release.statement.json"),
            run.checkpoint / "finished",
        ):
            path.unlink(missing_ok=True)
        read = []
        for attempt in range(30):
            went_on += attempt > 0 and (run.checkpoint / "state").exists()
            seconds = random.uniform(0, 1.5 * length)
            if attempt == 29 or in_a_process_of_its_own(run, seconds):
                length = min(length, seconds)  # what was timed on a busy machine takes less on a quiet one
                break
            length *= 1.05
            kills += 1
            read.append(run.output.read_bytes() if run.output.exists() else b"")
        run_stream(run)  # to its end where it was killed to the last; else it is finished, and nothing changes
        assert [path.name for path in run.checkpoint.iterdir()] == ["finished"]
        assert all(run.output.read_bytes().startswith(seen) for seen in read)
        out = read_back(run.output.read_bytes(), "tsv")
        queries = [row[1] for row in out]
        assert len(set(queries)) == len(queries)
        assert set(queries) <= {row[1] for row in table}
        statement = json.loads(run.output.with_name("release.statement.json").read_text())["statement"]
        assert statement["counts_in"]["rows"] == 30_000
        assert len(out) + statement["dropped"]["still waiting at the end"] == 30_000
        log = api.read_log(run.source)
        release = api.read_release(run.output, log=log, truth=run.truth)
        assert not Counter(log.users.gather(release.truth.user[release.log.user]).to_list()) - asked
        if seeded:
            assert run.output.read_bytes() == (tmp_path / "whole").read_bytes()
            assert run.truth.read_bytes() == (tmp_path / "whole-truth").read_bytes()
    assert kills >= 10
    assert went_on >= 5


def stop_after(monkeypatch, saves):
    """Let the run die after so many checkpoints."""
    save, done = runner.Checkpoint.save, []

    def dying(self, saved):
        save(self, saved)
        done.append(1)
        if len(done) == saves:
            raise RuntimeError("killed")

    monkeypatch.setattr(runner.Checkpoint, "save", dying)


@pytest.mark.needs_jit
@pytest.mark.parametrize("kind", MAKERS)
def test_goes_on_where_it_was_in_every_form(run, tmp_path, monkeypatch, kind):
    run.source.write_bytes(MAKERS[kind](rows(6000, users=200)))
    unbroken(run, tmp_path)
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(RuntimeError):
            run_stream(run)
    assert stat.S_IMODE((run.checkpoint / "state").stat().st_mode) == 0o600
    assert stat.S_IMODE(run.checkpoint.stat().st_mode) == 0o700
    with run.output.open("ab") as file:
        file.write(b"what was written after the checkpoint")
    run_stream(run)
    assert run.output.read_bytes() == (tmp_path / "whole").read_bytes()
    assert [path.name for path in run.checkpoint.iterdir()] == ["finished"]


def test_a_checkpoint_of_another_run_is_refused(run, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(RuntimeError):
            run_stream(run)
    with pytest.raises(InputError, match=r"another run: k was 5, now 6"):
        run_stream(replace(run, settings=StreamSettings(k=6, depth=2, as_in_paper=True)))
    with pytest.raises(InputError, match=r"seed was 7, now 8"):
        run_stream(replace(run, seed=8))
    with pytest.raises(InputError, match=r"method was 'self-adjusting'"):
        run_stream(replace(run, method="fixed-depth"))
    with pytest.raises(InputError, match=r"taxonomy was '', now 'topics'"):
        run_stream(replace(run, taxonomy="topics"))
    content = run.source.read_bytes()
    other = tmp_path / "other"
    other.write_bytes(content)
    with pytest.raises(InputError, match=r"input was"):
        run_stream(replace(run, source=other))
    run.source.write_bytes(content[:50] + b"x" + content[51:])
    with pytest.raises(InputError, match=r"another input"):
        run_stream(run)
    run.source.write_bytes(content)
    written = run.output.read_bytes()
    run.output.write_bytes(written[:50] + b"x" + written[51:])
    with pytest.raises(OutputError, match=r"changed since the checkpoint"):
        run_stream(run)
    run.output.write_bytes(written)
    with run.output.open("r+b") as file:
        file.truncate(100)
    with pytest.raises(OutputError, match=r"shorter than at the checkpoint"):
        run_stream(run)


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [True, False])
def test_a_bad_line_can_be_fixed_or_skipped_and_the_run_goes_on(run, tmp_path, fixed):
    """The line stands across the end of a batch: what was taken in of it is read again."""
    run = replace(run, checkpoint_records=1)
    content = run.source.read_bytes()
    at = content.rindex(b"\n", 0, 5 * SMALL) + 1
    end = content.index(b"\n", at) + 1
    whole = content if fixed else content[:at] + content[end:]
    run.source.write_bytes(whole)
    unbroken(run, tmp_path)
    bad = content[at:end].replace(b"\t", b" ")
    run.source.write_bytes(content[:at] + bad + content[end:])
    with pytest.raises(InputError, match="expected 5 tab-separated fields, found 1"):
        run_stream(run)
    assert (run.checkpoint / "state").exists()
    if fixed:
        run.source.write_bytes(content)
        run_stream(run)
    else:
        run_stream(replace(run, options=SKIP))
    assert run.output.read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_state_that_others_can_write_is_not_read(run, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(RuntimeError):
            run_stream(run)
    (run.checkpoint / "state").chmod(0o666)
    with pytest.raises(InputError, match="another user"):
        run_stream(run)
    (run.checkpoint / "state").chmod(0o600)
    (run.checkpoint / "state").write_bytes(b"no state")
    with pytest.raises(InputError, match="cannot be read"):
        run_stream(run)


def test_other_files_in_the_directory_are_left_alone(run):
    run.checkpoint.mkdir()
    (run.checkpoint / "notes").write_text("mine")
    run_stream(run)
    assert sorted(p.name for p in run.checkpoint.iterdir()) == ["finished", "notes"]


def test_without_a_seed_what_was_read_is_never_drawn_again(run, monkeypatch):
    """Killed after a part of the output: the part was public, and stays as it was, to the byte."""
    run = replace(run, seed=None)
    for saves in (1, 3):
        with monkeypatch.context() as patch:
            stop_after(patch, saves)
            with pytest.raises(RuntimeError):
                run_stream(run)
        key = run.checkpoint / "key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        read = run.output.read_bytes()
        (run.checkpoint / "state").unlink() if saves == 1 else None  # killed before its first state
        run_stream(run)
        assert run.output.read_bytes().startswith(read)
        assert not key.exists()
        (run.checkpoint / "finished").unlink()
    release = run.output.read_bytes()
    run_stream(run)
    assert run.output.read_bytes() != release, "another run has another key"
    statement = json.loads(run.output.with_name("release.statement.json").read_text())["statement"]
    assert statement["randomness"].startswith("a secret key of the operating system's random generator")


def test_a_key_of_another_run_is_refused(run, monkeypatch):
    run = replace(run, seed=None)
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(RuntimeError):
            run_stream(run)
    (run.checkpoint / "state").unlink()
    with pytest.raises(InputError, match="of another run: k was 5, now 6"):
        run_stream(replace(run, settings=replace(run.settings, k=6)))
    (run.checkpoint / "key").write_text("{}")
    with pytest.raises(InputError, match="its key is damaged; remove it to begin again"):
        run_stream(run)


@pytest.mark.parametrize("seed", [7, None])
def test_a_run_that_finished_is_not_drawn_again(run, seed):
    run, notes = replace(run, seed=seed), []
    run_stream(run)
    release, about = run.output.read_bytes(), run.output.stat().st_mtime_ns

    class Told:
        def start(self, step, total=None):
            pass

        def advance(self, units=1):
            pass

        def note(self, text):
            notes.append(text)

    assert run_stream(run, progress=Told()) is None
    assert notes == [f"{run.output}: this run is finished; nothing was changed."]
    assert (run.output.read_bytes(), run.output.stat().st_mtime_ns) == (release, about)
    with pytest.raises(InputError, match="of another run: k was 5, now 6"):
        run_stream(replace(run, settings=replace(run.settings, k=6)))
    with run.source.open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(InputError, match="has changed since: use another folder"):
        run_stream(run)
    run.output.unlink()
    with pytest.raises(OutputError, match="its output was changed; remove it to make another release"):
        run_stream(run)


def test_a_first_line_longer_than_the_pieces(run):
    """Pieces are small where a checkpoint is asked for often; the form is found by a whole line all the same."""
    long = b'{"user": "u", "category": "A", "query": "' + b"x" * 200_000 + b'"}\n'
    run.source.write_bytes(long + b"".join(b'{"user": "u%d", "category": "A", "query": "q"}\n' % i for i in range(99)))
    assert run_stream(replace(run, checkpoint_records=1)).stats["records in"] == 100
