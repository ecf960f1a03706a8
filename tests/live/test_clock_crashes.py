"""What the clock decides, and a crash at any moment: what was published before is never drawn again otherwise."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from stream_logs import as_tsv, read_back, rows

from querycloak.live import pipes, runner, state
from querycloak.live.runner import Run, run_stream
from querycloak.live.timekeeper import Timekeeper
from querycloak.methods.stream.stream_statement import SelfAdjustingSettings


class CrashError(BaseException):
    """The process is gone."""


class Clock:
    """A clock that jumps."""

    def __init__(self, random, jumps):
        self.random, self.jumps, self.now = random, jumps, 1000.0

    def __call__(self):
        self.now += self.random.choice(self.jumps)
        return self.now


@pytest.fixture
def live_files(monkeypatch):
    """Files are taken for live streams, whose epochs end by the clock; returned is what sets their clock."""
    begin, take = pipes.FileSource.__init__, pipes.FileSource.next

    def begun(source, *given):
        begin(source, *given)
        source.is_live = True

    def taken(source):
        source.is_live = False
        try:
            return take(source)
        finally:
            source.is_live = True

    monkeypatch.setattr(pipes.FileSource, "__init__", begun)
    monkeypatch.setattr(pipes.FileSource, "next", taken)

    def by(clock):
        made = lambda settings, **given: Timekeeper(settings, **{**given, "clock": clock, "wall": clock})  # noqa: E731
        monkeypatch.setattr(runner, "Timekeeper", made)

    return by


def go(folder, data, settings, **options):
    folder.mkdir(exist_ok=True)
    (folder / "log").write_bytes(data)
    given = SelfAdjustingSettings(**{"k": 3, "depth": 2, "as_in_paper": True, "ids": "original", **settings})
    run = Run("self-adjusting", given, folder / "log", folder / "release", **{"seed": 1, **options})
    return run_stream(run)


def test_what_leaves_by_the_clock_after_an_epoch_has_no_time_of_its_own(tmp_path, live_files):
    """The epoch that is open then has no record yet, and so no time: times would have been published as they came."""
    live_files(Clock(Random(1), [400.0]))
    table = [
        (u, q, f"2006-03-01 07:17:{i % 60:02d}", f"Top/News/{i}", s) for i, (u, q, _, _, s) in enumerate(rows(100))
    ]
    go(tmp_path, as_tsv(table), {"epoch": "1", "time_grain": "day", "max_age": 300.0, "hold": 60})
    out = read_back((tmp_path / "release").read_bytes(), "tsv")
    assert len(out) > 50
    assert {row[2] for row in out} == {"2006-03-01 00:00:00"}


def test_what_leaves_by_the_clock_is_published_though_nothing_enters_any_more(tmp_path, live_files, monkeypatch):
    """The open epoch has no record that entered in it, and ends by the clock all the same."""
    live_files(Clock(Random(1), [100.0]))
    read, silent, kept = pipes.FileSource.next, iter(range(200)), []

    def falls_silent(source):
        data = read(source)
        source.ended = not data and next(silent, None) is None
        return data

    def finishing(converter):
        kept.append((converter.kept, converter.engine.waiting))
        return finish(converter)

    finish = runner.Converter.finish
    monkeypatch.setattr(pipes.FileSource, "next", falls_silent)
    monkeypatch.setattr(runner.Converter, "finish", finishing)
    table = [(u, q, "2006-03-01 07:17:00", f"Top/News/{i}", s) for i, (u, q, _, _, s) in enumerate(rows(100))]
    found = go(tmp_path, as_tsv(table), {"epoch": "10m", "max_age": 3000.0, "hold": 60})
    assert kept == [(0, 0)]
    assert found.stats["records out"] > 80


@pytest.mark.parametrize("epoch", ["150", "40", "10m"])
def test_the_time_of_an_epoch_does_not_depend_on_batches(tmp_path, monkeypatch, epoch):
    table = [(u, q, "" if i < 70 else t, c, s) for i, (u, q, t, c, s) in enumerate(rows(400))]
    go(tmp_path / "whole", as_tsv(table), {"epoch": epoch})
    monkeypatch.setattr(runner, "PIECE", 700)
    monkeypatch.setattr(runner, "SAMPLE", 700)
    go(tmp_path / "pieces", as_tsv(table), {"epoch": epoch})
    assert (tmp_path / "pieces" / "release").read_bytes() == (tmp_path / "whole" / "release").read_bytes()


def test_each_id_of_a_day_is_counted_once(tmp_path, monkeypatch):
    """Also where records have no time, or days come back, as in a log that is sorted by user."""
    monkeypatch.setattr(runner, "PIECE", 700)
    monkeypatch.setattr(runner, "SAMPLE", 700)
    days = [1, 2, 3, 28, 4, 15, 1, 28, 9, 2]
    table = [
        (u, q, "" if i % 7 == 0 else t.replace("03-01", f"03-{days[i // 40]:02d}"), c, s)
        for i, (u, q, t, c, s) in enumerate(rows(400))
    ]
    found = go(tmp_path, as_tsv(table), {"ids": "day"}, truth=tmp_path / "truth")
    out = read_back((tmp_path / "release").read_bytes(), "tsv")
    assert found.statement.counts_out["users"] == len({row[0] for row in out})
    told = [line.split("\t")[1] for line in (tmp_path / "truth").read_text().splitlines() if line.startswith("user")]
    assert len(told) == len(set(told))


PLACES = (
    (runner._Session, "save"),
    (runner._Session, "write"),
    (runner._Session, "convert"),
    (state.Checkpoint, "save"),
    (state.Checkpoint, "clear_journal"),
    (state.Checkpoint, "add_event"),
    (state.Checkpoint, "finish"),
)
"""Where a run is cut off, before or after it was there."""


def cut_off(patch, random):
    often = random.choice([0.02, 0.1, 0.3])

    def cut(real, after):
        def there(*given):
            if not after and random.random() < often:
                raise CrashError
            out = real(*given)
            if after and random.random() < often:
                raise CrashError
            return out

        return there

    for owner, name in PLACES:
        patch.setattr(owner, name, cut(getattr(owner, name), random.random() < 0.5))


@pytest.mark.parametrize("seed", range(30))
def test_nothing_that_was_published_changes(tmp_path, live_files, monkeypatch, seed):
    """The clock jumps, and the run is cut off anywhere: between journal, output and state, before the first save."""
    random = Random(seed)
    live_files(Clock(random, [0, 0.001, 1, 5, 400]))
    table = rows(random.choice([60, 250]), users=random.choice([6, 15]), seed=seed)
    settings = {"max_age": random.choice([1, 10, 300.5]), "k": random.choice([2, 5]), "hold": random.choice([0, 10])}
    settings |= random.choice([{}, {"epoch": "1m"}, {"epoch": "7"}, {"epoch": "40", "max_delay": 20}])
    sizes = {name: getattr(runner, name) for name in ("SAMPLE", "LINE")}
    seen, done, ended, starts = b"", None, False, 0
    while not ended:
        starts += 1
        with monkeypatch.context() as patch:
            patch.setattr(runner, "SAMPLE", random.choice([512, sizes["SAMPLE"]]))
            patch.setattr(runner, "LINE", random.choice([1, 8, 64]))
            if starts < 60:
                cut_off(patch, random)
            try:
                many = {"checkpoint_records": 1, "checkpoint_seconds": random.choice([0.0, 30.0])}
                done = go(tmp_path, as_tsv(table), settings, checkpoint=tmp_path / "state", **many)
                ended = True
            except CrashError:
                pass
        now = (tmp_path / "release").read_bytes() if (tmp_path / "release").exists() else b""
        assert seen.startswith(now) or now.startswith(seen)
        seen = max(seen, now, key=len)
    assert (tmp_path / "release").read_bytes() == seen
    out, asker = read_back(seen, "tsv"), {row[1]: row[0] for row in table}
    assert max(Counter(row[1] for row in out).values(), default=1) == 1
    assert all(asker[row[1]] != row[0] for row in out)
    assert not Counter(row[0] for row in out) - Counter(row[0] for row in table)
    if done is None:  # the marker of the end was there already
        return
    counted = done.stats
    assert counted["records out"] == len(out)
    gone = counted["records out"] + counted["records waiting"] + counted["records dropped"]
    assert gone == counted["records in"] == len(table)


def test_a_run_that_had_published_its_last_records_decides_nothing_after_two_crashes():
    """The second start saves its state after it was told of the end, and before it is there again."""
    settings = SelfAdjustingSettings(max_age=1.0)
    journal, clock = [], Clock(Random(1), [400.0])
    first = Timekeeper(settings, journal=journal.append, clock=clock, wall=clock)
    first.entered(7, epoch_has_records=True)
    first.publishes(7, last=True)
    second = Timekeeper(settings, journal=journal.append, clock=clock, wall=clock)
    second.replay(journal)
    assert [event.kind for event in second.known(7)] == ["end"]
    third = Timekeeper(settings, clock=clock, wall=clock)
    third.from_state(second.to_state(), 7)
    third.entered(7, epoch_has_records=True)
    assert third.decide(7, 0) == []
    third.entered(8, epoch_has_records=True)
    assert [event.kind for event in third.decide(8, 0)] == ["expire"]
