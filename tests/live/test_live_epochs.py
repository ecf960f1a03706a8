"""Epochs, ids, times and waiting of a live stream: like the same in memory, and exact after a stop."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from stream_logs import MAKERS, as_tsv, read_back, rows

from querycloak import api
from querycloak.arrays.checks import BadStateError
from querycloak.errors import InputError
from querycloak.live import runner
from querycloak.live.runner import Run, run_stream
from querycloak.live.timekeeper import Timekeeper
from querycloak.logs.query_log import MISSING_TIME
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.clock import FAR, LATE
from querycloak.methods.stream.stream_statement import (
    FlatSettings,
    NearestSettings,
    SelfAdjustingSettings,
    StreamSettings,
)

GIVEN = {
    "epoch": {"epoch": "40"},
    "epoch of time": {"epoch": "1m"},
    "epoch and grain": {"epoch": "40", "time_grain": "10m", "max_delay": 60},
    "grain": {"time_grain": "5m"},
    "delay": {"max_delay": 20},
}
WILD = {
    "first": lambda i, t: "2040-01-01 00:00:00" if i == 0 else t,
    "middle": lambda i, t: "2040-01-01 00:00:00" if i in {150, 151, 330} else t,
    "gap": lambda i, t: t.replace("03-01", f"{3 + i // 240:02d}-{1 + 3 * (i // 30 % 8):02d}"),
    "turned": lambda i, t: t.replace("03-01", "03-20") if i < 200 else t,
}
"""times that are out of order"""


def wild_rows(n, name):
    """Rows with such times, and a few without."""
    made = [(u, q, WILD[name](i, t), c, s) for i, (u, q, t, c, s) in enumerate(rows(n))]
    return [(u, q, "" if i in {0, 40, 41} and name != "first" else t, c, s) for i, (u, q, t, c, s) in enumerate(made)]


def go(folder, data, settings, **options):
    folder.mkdir(exist_ok=True)
    (folder / "log").write_bytes(data)
    given = StreamSettings(**{"k": 3, "depth": 2, "as_in_paper": True, "ids": "original", **settings})
    run = Run("self-adjusting", given, folder / "log", folder / "release", **{"seed": 1, **options})
    return run_stream(run)


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("kind", MAKERS)
def test_the_rows_are_those_of_the_same_log_in_memory(tmp_path, kind, name):
    table = rows(400)
    found = go(tmp_path, MAKERS[kind](table), GIVEN[name])
    out = read_back((tmp_path / "release").read_bytes(), kind)
    log = api.read_log(tmp_path / "log")
    chosen = {"k": 3, "depth": 2, "as_in_paper": True, "ids": "original", **GIVEN[name]}
    release = api.anonymize(log, "self-adjusting", seed=1, **chosen)
    texts, users = release.log.queries.to_list(), release.log.users.to_list()
    times = release.log.time.astype("datetime64[s]").astype(str)
    expected = [
        (users[u], texts[q], t.replace("T", " "))
        for u, q, t in zip(release.log.user, release.log.query, times, strict=True)
    ]
    assert [row[:3] for row in out] == expected
    assert found.stats["records dropped"] == release.statement.dropped["waited too long"]
    total = found.stats["records out"] + found.stats["records waiting"] + found.stats["records dropped"]
    assert total == found.stats["records in"] == len(table)
    for figure in ("longest delay", "mean delay"):
        assert found.statement.figures[figure] == release.statement.figures[figure]


@pytest.mark.parametrize("piece", [1 << 22, 3000])
@pytest.mark.parametrize("epoch", ["1m", "1h", "40", "7"])
@pytest.mark.parametrize("name", WILD)
def test_times_out_of_order_are_those_of_the_same_log_in_memory(tmp_path, monkeypatch, name, epoch, piece):
    monkeypatch.setattr(runner, "PIECE", piece)
    found = go(tmp_path, as_tsv(wild_rows(400, name)), {"epoch": epoch})
    out = read_back((tmp_path / "release").read_bytes(), "tsv")
    log = api.read_log(tmp_path / "log")
    given = {"k": 3, "depth": 2, "as_in_paper": True, "ids": "original", "epoch": epoch}
    release = api.anonymize(log, "self-adjusting", seed=1, **given)
    texts, users = release.log.queries.to_list(), release.log.users.to_list()
    times = ["" if t == MISSING_TIME else str(np.datetime64(int(t), "s")).replace("T", " ") for t in release.log.time]
    expected = [(users[u], texts[q], t) for u, q, t in zip(release.log.user, release.log.query, times, strict=True)]
    assert [row[:3] for row in out] == expected
    shown = [t for t in times if t]
    assert shown == sorted(shown)
    if epoch.endswith(("m", "h")):
        for figure in (FAR, LATE):
            assert found.stats[figure] == found.statement.figures[figure] == release.statement.figures[figure]
        assert (found.stats[FAR] > 0) == (name in {"first", "middle"} or (name, epoch) == ("turned", "1h"))
    assert [f.check for f in api.verify(tmp_path / "release") if f.holds is False] == []


SETTINGS = {"nearest": NearestSettings, "fixed-depth": StreamSettings, "flat": FlatSettings}
RULES = {
    "epoch": {"epoch": "40"},
    "delay": {"max_delay": 20},
    "both": {"epoch": "25", "max_delay": 30, "time_grain": "10m"},
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("method", ["self-adjusting", *SETTINGS])
def test_the_four_rules_of_a_live_stream(tmp_path, method, name):
    """Each query is there once, so its row tells who asked it; ids are the original ones."""
    table, given = rows(500, users=25), {"k": 3, "as_in_paper": True, "ids": "original", **RULES[name]}
    given |= {"pool": 10} if method == "nearest" else {}
    settings = SETTINGS.get(method, SelfAdjustingSettings)(**given)
    (tmp_path / "log").write_bytes(as_tsv(table))
    found = run_stream(Run(method, settings, tmp_path / "log", tmp_path / "release", seed=1))
    out = read_back((tmp_path / "release").read_bytes(), "tsv")
    asked = {query: (i, user) for i, (user, query, *_) in enumerate(table)}
    assert len(out) > 100
    assert len({query for _, query, *_ in out}) == len(out)  # rule 3: nothing twice
    assert all(user != asked[query][1] for user, query, *_ in out)  # rule 1
    assert found.statement.figures["fewest candidates"] >= 3  # rule 2
    stats, published = found.stats, Counter(user for user, *_ in out)
    assert len(out) + stats["records waiting"] + stats["records dropped"] == stats["records in"] == len(table)
    assert not published - Counter(user for user, *_ in table)  # rule 3: as a bag of users
    assert sum((Counter(user for user, *_ in table) - published).values()) == len(table) - len(out)
    assert stats["records dropped"] == found.statement.dropped["waited too long"]
    size = int(given.get("epoch", 1))
    if "max_delay" in given:
        assert found.statement.figures["longest delay"] < given["max_delay"] + size
    release = api.anonymize(api.read_log(tmp_path / "log"), method, seed=1, **given)
    texts, users = release.log.queries.to_list(), release.log.users.to_list()
    expected = [(users[u], texts[q]) for u, q in zip(release.log.user, release.log.query, strict=True)]
    assert [row[:2] for row in out] == expected  # and all else that is tested of a log in memory


@pytest.mark.parametrize("ids", ["epoch", "day"])
@pytest.mark.parametrize("kind", MAKERS)
def test_ids_change_with_the_period(tmp_path, kind, ids):
    table = [(u, q, t.replace("03-01", f"03-{1 + i // 100:02d}"), c, s) for i, (u, q, t, c, s) in enumerate(rows(400))]
    settings = {"epoch": "50"} if ids == "epoch" else {}
    plain = go(tmp_path / "a", MAKERS[kind](table), settings)
    found = go(tmp_path / "b", MAKERS[kind](table), {**settings, "ids": ids}, truth=tmp_path / "truth")
    a, b = (read_back((tmp_path / x / "release").read_bytes(), kind) for x in "ab")
    assert [row[1:] for row in a] == [row[1:] for row in b]
    seen: dict[tuple, set] = {}
    for one, other in zip(a, b, strict=True):
        assert re.fullmatch(r"\d{16}", other[0])
        seen.setdefault((one[0], one[2] if ids == "epoch" else one[2][:10]), set()).add(other[0])
    assert all(len(names) == 1 for names in seen.values())
    every = {name for names in seen.values() for name in names}
    assert len(every) == len(seen) == found.statement.counts_out["users"]
    said = [line.split("\t") for line in (tmp_path / "truth").read_text().splitlines() if line.startswith("user")]
    assert {published: original for _, published, original in said} == {
        name: user for (user, _), names in seen.items() for name in names
    }
    assert plain.statement.counts_out["users"] < len(seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*GIVEN, "ids", *WILD])
def test_exact_after_a_stop_at_any_checkpoint(tmp_path, monkeypatch, name):
    """The run is cut off after each save, and goes on: the output is the same as without."""
    settings = {"ids": {"epoch": "70", "ids": "epoch"}, **GIVEN, **{each: {"epoch": "1m"} for each in WILD}}[name]
    data = as_tsv(wild_rows(600, name) if name in WILD else rows(600))
    go(tmp_path / "whole", data, settings)
    expected = (tmp_path / "whole" / "release").read_bytes()
    monkeypatch.setattr(runner, "SAMPLE", 1 << 12)
    monkeypatch.setattr(runner, "LINE", 1)
    save = runner._Session.save

    class CutError(Exception):
        pass

    def save_and_stop(session):
        save(session)
        raise CutError

    monkeypatch.setattr(runner._Session, "save", save_and_stop)
    cuts = 0
    while True:
        try:
            go(tmp_path / "cut", data, settings, checkpoint=tmp_path / "state", checkpoint_records=50)
            break
        except CutError:
            cuts += 1
    assert cuts >= 3
    assert (tmp_path / "cut" / "release").read_bytes() == expected


@pytest.mark.parametrize("name", ["epoch", "grain"])
def test_a_time_that_cannot_be_read_is_a_bad_line(tmp_path, name):
    table = rows(60)
    table[7] = (*table[7][:2], "soon", *table[7][3:])
    with pytest.raises(InputError, match="line 9: expected a time"):
        go(tmp_path, as_tsv(table), GIVEN[name])
    found = go(tmp_path, as_tsv(table), GIVEN[name], options=ReadOptions(on_error="skip"))
    assert found.stats["lines skipped"]["times that cannot be read, left out"] == 1
    assert found.stats["records in"] == 59


def test_a_row_without_a_time_stays_without(tmp_path):
    table = [(u, q, "" if i % 5 == 0 else t, c, s) for i, (u, q, t, c, s) in enumerate(rows(200))]
    go(tmp_path, as_tsv(table), {"epoch": "30"})
    asked = {row[1]: row[2] for row in table}
    out = read_back((tmp_path / "release").read_bytes(), "tsv")
    assert len(out) > 100
    assert all((row[2] == "") == (asked[row[1]] == "") for row in out)


@pytest.mark.parametrize("settings", [{"time_grain": "day"}, {"ids": "day"}, {"epoch": "10m"}])
def test_no_time_column_is_refused(tmp_path, settings):
    with pytest.raises(InputError, match="there is no time column"):
        go(tmp_path, b"user\tquery\tcategory\n1\ttea\tA\n", settings)


def test_a_crafted_state_of_the_clock_is_refused():
    crafted = {"events": 0, "wall": 0.0, "marks": [[1.0, 9]], "opened": None}
    with pytest.raises(BadStateError, match="marks are of records that entered"):
        Timekeeper(StreamSettings()).from_state(crafted, 3)


@pytest.mark.parametrize("settings", [{"epoch": "70"}, {"max_delay": 5}, {"epoch": "70", "max_delay": 5}])
def test_what_is_told_adds_up_with_epochs_and_drops(tmp_path, monkeypatch, settings):
    """At each moment: in = out + waiting + in the open epoch + dropped; and what is told last is the end."""
    told = []

    class Listener:
        watches = True
        event = taken = saved = lambda *_, **__: None

        def batch(self, figures):
            told.append(figures)

    monkeypatch.setattr(runner, "PIECE", 700)
    monkeypatch.setattr(runner, "SAMPLE", 700)
    (tmp_path / "log").write_bytes(as_tsv(rows(300)))
    given = StreamSettings(k=3, depth=2, as_in_paper=True, **settings)
    run = Run("fixed-depth", given, tmp_path / "log", tmp_path / "release", seed=1)
    found = run_stream(run, watcher=Listener())
    for one in told:
        gone = one.records_out + one.records_waiting + one.records_in_epoch + sum(one.records_dropped.values())
        assert gone == one.records_in
    assert told[-1].records_out == found.stats["records out"]
    assert sum(told[-1].records_dropped.values()) == found.stats["records dropped"]
    assert ("epoch" in settings) == any(one.records_in_epoch for one in told)
