"""Shards: every record in one of them, each a run over its own categories, the same ids, none lost when added."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jit import JIT
from reference.shards import reference_owner
from reference.siphash import siphash
from stream_logs import MAKERS, NAMES, as_tsv, read_back

from querycloak.arrays.vocabulary import ByteCodes
from querycloak.errors import InputError, OutputError, ParameterError, UserError
from querycloak.live import reader, runner
from querycloak.live.runner import Run, run_stream
from querycloak.live.secret import IdSecret, make_secret, read_secret, secret_of_seed
from querycloak.live.shard_filter import ShardFilter
from querycloak.live.shards import Shard, owner_of
from querycloak.logs.decoding import find_wrapping
from querycloak.logs.layout import find_layout
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.records import RecordReader
from querycloak.methods.stream.run_ids import run_ids
from querycloak.methods.stream.stream_statement import NearestSettings, StreamSettings

TOPS = ["Arts", "Business", "Games", "Health", "Home", "News", "Science", "Shopping", "Society", "Sports"]
N = 6000 if JIT else 900
YES = ReadOptions(assume_yes=True)
SKIP = ReadOptions(assume_yes=True, on_error="skip")
SECRET = IdSecret(bytes(range(32)))


def rows(n=N, users=80, seed=1):
    """(user, query, time, category, shop) with every query once, of ten top-level categories and none."""
    random = Random(seed)
    out = []
    for i in range(n):
        top = random.choice([*TOPS, ""])
        path = (
            "" if not top else "/".join(["Top", top, *(f"c{random.randrange(3)}" for _ in range(random.randrange(3)))])
        )
        user = str(1000 + int(random.random() ** 2 * users))
        out.append(
            (user, f"query {i}", f"2006-03-01 {i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d}", path, "shop")
        )
    return out


def top_of(path):
    levels = [level for level in path.split("/") if level and level != "Top"]
    return levels[0] if levels else ""


def shard_run(folder, shard, seed=7, ids="original", method="self-adjusting", made=StreamSettings, **given):
    about = made(k=3, depth=3, as_in_paper=True, ids=ids, **given)
    return Run(
        method,
        about,
        folder / "log",
        shard.path(folder / "release.tsv"),
        truth=shard.path(folder / "truth"),
        checkpoint=shard.directory(folder / "state"),
        checkpoint_records=300 if JIT else 40,
        seed=seed,
        options=YES,
        shard=shard,
        secret=None if ids == "original" else SECRET,
    )


def published(run, kind="tsv"):
    return read_back(run.output.read_bytes(), kind)


def check_rules(table, out, waiting, k=3):
    """Rules 1 and 3: no query under its asker, none invented or twice, no user more often than it asked."""
    asker = {row[1]: row[0] for row in table}
    assert len({row[1] for row in out}) == len(out)
    assert all(asker[row[1]] != row[0] for row in out)
    assert not Counter(row[0] for row in out) - Counter(row[0] for row in table)
    assert len(out) + waiting == len(table)


@pytest.mark.parametrize(("method", "made"), [("self-adjusting", StreamSettings), ("nearest", NearestSettings)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_together_they_publish_what_one_run_would_take(tmp_path, count, method, made):
    table = rows()
    (tmp_path / "log").write_bytes(as_tsv(table))
    out, waiting = [], 0
    for i in range(count):
        run = shard_run(tmp_path, Shard(i, count), method=method, made=made, max_delay=0)
        found = run_stream(run)
        part = published(run)
        own = [row for row in table if owner_of(top_of(row[3]), count) == i]
        check_rules(own, part, found.stats["records waiting"])
        assert found.stats["records in"] == len(own)
        assert found.stats["fewest candidates"] >= 3
        assert found.stats["shard"] == f"{i}/{count}"
        out += part
        waiting += found.stats["records waiting"]
    check_rules(table, out, waiting)
    assert len(out) > (0.8 if JIT else 0.1) * len(table)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_shard_is_a_run_over_its_categories(tmp_path, kind):
    table = rows()
    for i in range(2):
        run = replace(shard_run(tmp_path, Shard(i, 2), ids="run"), checkpoint=None)
        own = [row for row in table if owner_of(top_of(row[3]), 2) == i]
        # the first user decides whether ids are numbers: here all are
        (tmp_path / "log").write_bytes(MAKERS[kind](own))
        run_stream(run)
        alone = run.output.read_bytes(), run.truth.read_bytes()
        (tmp_path / "log").write_bytes(MAKERS[kind](table))
        run_stream(run)
        assert (run.output.read_bytes(), run.truth.read_bytes()) == alone
        assert len(alone[0]) > 1000


def filtered(data, shard, options=SKIP, separator="/", behind=frozenset(), earlier=0):
    layout = find_layout(data, "log", options, find_wrapping(data, "log", options.encoding, options.format))
    splitter = RecordReader(layout, layout.problems("log", stop=options.on_error == "stop"), collect=False)
    found = splitter.read(data, final=True)
    kept = ShardFilter(shard, separator, earlier)
    kept.behind = behind
    return found, kept.own(found, splitter, None)


LEVELS = st.sampled_from(
    ["Top", "top", "TOP", "Sports", " Sports", "Sports ", "Arts", "", " ", "é", "\u00a0Top", "a b", "Tops"]
)
PATHS = st.one_of(
    st.lists(LEVELS, min_size=0, max_size=4).map("/".join),
    st.text(alphabet="/ ToptSé\u00a0\x0b\x1fx:>", max_size=9),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PATHS, min_size=1, max_size=12), st.integers(1, 5), st.sampled_from(["/", ":", " > ", "T"]))
def test_each_record_is_in_one_shard_that_of_its_label(paths, count, separator):
    data = as_tsv([("1", f"q{i}", "t", path, "s") for i, path in enumerate(paths)])
    parts = [filtered(data, Shard(i, count), separator=separator) for i in range(count)]
    together = np.stack([own for _, own in parts])
    assert (together.sum(axis=0) == 1).all()
    found = parts[0][0]
    for row, path in enumerate(paths):
        if found.status[row] == 0:
            expected = reference_owner(path, separator, count)
            assert expected in (-1, int(together[:, row].argmax()))


@pytest.mark.parametrize("kind", MAKERS)
def test_each_record_is_in_one_shard_in_every_form(kind):
    table = [(user, query, when, path.replace("Arts", 'Ar"ts,ü'), shop) for user, query, when, path, shop in rows(400)]
    parts = [filtered(MAKERS[kind](table), Shard(i, 3))[1] for i in range(3)]
    assert (np.stack(parts).sum(axis=0) == 1).all()
    for i, own in enumerate(parts):
        assert [bool(x) for x in own] == [reference_owner(row[3], "/", 3) == i for row in table]


def test_another_shard_moves_only_what_it_takes():
    labels = [f"label {i}" for i in range(400)]
    before, after = ([owner_of(label, n) for label in labels] for n in (3, 4))
    assert all(b in (a, 3) for a, b in zip(before, after, strict=True))
    assert 50 < sum(b == 3 for b in after) < 150


def test_bad_lines_are_counted_once_and_end_every_shard(tmp_path):
    table = rows(600)
    lines = as_tsv(table).split(b"\n")
    long = b"x" * (1_100_000 if JIT else 5)
    lines[100:100] = [b"no record", b"", b"\t".join([b"1", b"", b"t", b"Top/Sports", b"s"]), long]
    lines[200:200] = [
        b"\t".join([b"1", b"q", b"t", b"Top/Sports//Rowing", b"s"]),
        b"\t".join([b"1", b"q", b"t", b"//", b"s"]),
    ]
    (tmp_path / "log").write_bytes(b"\n".join(lines))
    whole = run_stream(
        Run(
            "self-adjusting",
            shard_run(tmp_path, Shard(0, 1)).settings,
            tmp_path / "log",
            tmp_path / "whole",
            options=SKIP,
            seed=1,
        )
    )
    counted: Counter[str] = Counter()
    for i in range(3):
        run = replace(shard_run(tmp_path, Shard(i, 3)), options=SKIP, checkpoint=None)
        counted.update(run_stream(run).stats["lines skipped"])
    assert counted == Counter(whole.stats["lines skipped"])
    assert len(counted) == (5 if JIT else 4)
    for i in range(3):
        with pytest.raises(InputError, match="line 101"):
            run_stream(replace(shard_run(tmp_path, Shard(i, 3)), checkpoint=None))


@pytest.mark.parametrize("ids", ["run", "day", "epoch"])
def test_ids_agree_between_shards(tmp_path, ids):
    (tmp_path / "log").write_bytes(as_tsv(rows()))
    given = {"epoch": "10m"} if ids == "epoch" else {}
    who: dict[str, set[str]] = {}
    having: list[set[str]] = []
    for i in range(2):
        run = shard_run(tmp_path, Shard(i, 2), ids=ids, **given)
        run_stream(run)
        names = [line.split("\t") for line in run.truth.read_text().splitlines() if line.startswith("user\t")]
        having.append({made for _, made, _ in names})
        for _, made, original in names:
            who.setdefault(made, set()).add(original)
        assert {row[0] for row in published(run)} <= having[-1]
        said = json.loads(run.statement_path.read_text())["statement"]
        assert f"this is shard {i} of 2" in " ".join(said["does_not_cover"])
    assert all(len(people) == 1 for people in who.values()), "an id is one person's"
    assert len(having[0] & having[1]) > 50, "people who are in both have one id in both"
    if ids == "run":
        assert len(who) == len({next(iter(people)) for people in who.values()}), "a person has one id"


def coded(users):
    codes = ByteCodes()
    for user in users:
        codes.add(user)
    return codes


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=300), min_size=1, unique=True))
def test_ids_like_the_reference(users):
    for first in (0, len(users) - 1):
        made = run_ids(SECRET.run_key, coded(users), first, digits=False)
        assert [row.tobytes() for row in made] == [b"%016x" % siphash(SECRET.run_key, user) for user in users[first:]]
    numbers = [int(row.tobytes()) for row in run_ids(SECRET.run_key, coded(users), 0, digits=True)]
    assert numbers == [10**15 + siphash(SECRET.run_key, user) % (8 * 10**15) for user in users]
    assert max(numbers) < 2**53  # what every reader of JSON keeps


def test_the_example_of_the_paper():
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5


def test_ids_of_many_people_differ():
    users = coded(b"%d" % i for i in range(200_000 if JIT else 2000))
    made = run_ids(SECRET.run_key, users, 0, digits=True)
    assert len(np.unique(made.view("S16"))) == len(users)
    assert SECRET.run_key != SECRET.period_key[:16] != secret_of_seed(1).period_key[:16]


def test_two_people_with_one_id_end_the_run(tmp_path, monkeypatch):
    (tmp_path / "log").write_bytes(as_tsv(rows(300)))
    monkeypatch.setattr(reader, "run_ids", lambda *given, digits: np.full_like(run_ids(*given, digits=digits), 55))
    with pytest.raises(UserError, match="another --secret"):
        run_stream(shard_run(tmp_path, Shard(0, 2), ids="run"))


def test_the_secret_is_a_file_of_its_owner(tmp_path):
    made = make_secret(tmp_path / "secret")
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    assert make_secret(tmp_path / "secret") == made == read_secret(tmp_path / "secret")
    assert [p.name for p in tmp_path.iterdir()] == ["secret"]
    assert str(made.value) not in repr(made)
    (tmp_path / "secret").chmod(0o640)
    with pytest.raises(InputError, match="only you can read"):
        read_secret(tmp_path / "secret")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(InputError, match="32 bytes"):
        read_secret(tmp_path / "secret")
    with pytest.raises(InputError, match="cannot be read"):
        read_secret(tmp_path / "none")


@pytest.mark.parametrize("text", ["2/2", "0/0", "1", "a/b", "-1/2", "0/2000", "0/2/3", "\u0660/\u0662"])
def test_what_is_no_shard(text):
    with pytest.raises(ParameterError, match="--shard"):
        Shard.parse(text)


# Taking over


def stop_at(monkeypatch, turns):
    """Ask the run to stop after so many batches."""
    take, done = runner._Session.take_next, []

    def taking(self, asked):
        done.append(1)
        if len(done) >= turns:
            asked.append(15)
        return take(self, asked)

    monkeypatch.setattr(runner._Session, "take_next", taking)


def stopped_shards(folder, monkeypatch, count, turns, **given):
    monkeypatch.setattr(runner, "PIECE", 8000 if JIT else 1200)
    monkeypatch.setattr(runner, "SAMPLE", 2000 if JIT else 400)
    runs = [shard_run(folder, Shard(i, count), **given) for i in range(count)]
    for run, n in zip(runs, turns, strict=True):
        with monkeypatch.context() as patch:
            stop_at(patch, n)
            assert run_stream(run).kept
    return runs


def taking(folder, i, count, old, **given):
    run = shard_run(folder, Shard(i, count), **given)
    return replace(run, take_over=tuple(r.checkpoint for r in old))


CASES = [
    ("self-adjusting", StreamSettings, {}),
    ("self-adjusting", StreamSettings, {"max_delay": 2000}),
    ("self-adjusting", StreamSettings, {"epoch": "500"}),
    ("fixed-depth", StreamSettings, {}),
    ("nearest", NearestSettings, {"pool": 20}),
]


@pytest.mark.parametrize(("method", "made", "given"), CASES)
@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 2), (1, 2)])
def test_another_number_of_shards_loses_nothing(tmp_path, monkeypatch, before, after, method, made, given):
    given = {"method": method, "made": made, "max_delay": 0, **given}
    table = rows(4000 if JIT else 900)
    (tmp_path / "log").write_bytes(as_tsv(table))
    old = stopped_shards(tmp_path, monkeypatch, before, [3 + 9 * i for i in range(before)], **given)
    out = [row for run in old for row in published(run)]
    assert out or "epoch" in given
    waiting = dropped = 0
    for i in range(after):
        run = taking(tmp_path, i, after, old, **given)
        with monkeypatch.context() as patch:  # killed on its way
            patch.setattr(runner.Checkpoint, "clear_journal", _dying(1))
            with pytest.raises(RuntimeError):
                run_stream(run)
        found = run_stream(run)
        own = {row[1] for row in table if owner_of(top_of(row[3]), after) == i}
        new = published(run)
        if "epoch" not in given:
            assert {row[1] for row in new} <= own
        assert found.stats["fewest candidates"] >= 3
        out += new
        waiting += found.stats["records waiting"]
        dropped += found.stats["records dropped"]
    check_rules(table, out, waiting + dropped)
    with pytest.raises(InputError, match="would publish them twice"):
        run_stream(old[0])


def _dying(times):
    done = []

    def clear(_):
        done.append(1)
        if len(done) == times:
            raise RuntimeError("killed")

    return clear


def test_ids_stay_when_shards_are_added(tmp_path, monkeypatch):
    (tmp_path / "log").write_bytes(as_tsv(rows()))
    old = stopped_shards(tmp_path, monkeypatch, 2, [6, 12], ids="run")
    runs = [taking(tmp_path, i, 3, old, ids="run") for i in range(3)]
    for run in runs:
        run_stream(run)
    names: dict[str, set[str]] = {}
    for run in [*old, *runs]:
        for line in run.truth.read_text().splitlines():
            if line.startswith("user\t"):
                _, made, original = line.split("\t")
                names.setdefault(original, set()).add(made)
    assert len(names) > 50
    assert all(len(made) == 1 for made in names.values())


def test_what_waits_is_taken_over_as_it_was(tmp_path, monkeypatch):
    """No batch is read after the change: what waits in the new states is what waited in the old ones."""
    (tmp_path / "log").write_bytes(as_tsv(rows()))
    old = stopped_shards(tmp_path, monkeypatch, 2, [6, 12])
    runs = [taking(tmp_path, i, 3, old) for i in range(3)]

    def waiting(run):
        found = runner.Checkpoint(run.checkpoint).look()
        text, arrays = found.arrays["waiting.texts"].tobytes(), found.arrays
        asker = [_user(arrays, c) for c in arrays["engine.asker"].tolist()]
        holder = [_user(arrays, c) for c in arrays["engine.holder"].tolist()]
        ends = np.cumsum(arrays["waiting.lengths"]).tolist()[1::2]
        lines = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        return Counter(zip(asker, lines, strict=True)), Counter(holder)

    before = [waiting(run) for run in old]
    for run in runs:
        with monkeypatch.context() as patch:
            stop_at(patch, 1)
            run_stream(run)
    after = [waiting(run) for run in runs]
    for side in (0, 1):
        assert sum((c[side] for c in before), Counter()) == sum((c[side] for c in after), Counter())
    assert all(c[0] for c in after)


def _user(arrays, code):
    ends = [0, *arrays["reader.users.ends"].tolist()]
    return arrays["reader.users.texts"].tobytes()[ends[code] : ends[code + 1]]


def test_what_cannot_be_taken_over(tmp_path, monkeypatch):
    (tmp_path / "log").write_bytes(as_tsv(rows()))
    old = stopped_shards(tmp_path, monkeypatch, 2, [6, 12])
    run = taking(tmp_path, 0, 3, old)
    with pytest.raises(ParameterError, match="all 2 shards; missing: 1"):
        run_stream(replace(run, take_over=run.take_over[:1]))
    with pytest.raises(InputError, match="each once"):
        run_stream(replace(run, take_over=(*run.take_over, run.take_over[0])))
    with pytest.raises(InputError, match="k was 3, now 4"):
        run_stream(replace(run, settings=replace(run.settings, k=4)))
    with pytest.raises(InputError, match="no checkpoint to take over"):
        run_stream(replace(run, take_over=(tmp_path / "none",)))
    run.output.write_text("published by somebody")
    with pytest.raises(OutputError, match="is there already"):
        run_stream(run)
    run.output.unlink()
    (old[0].checkpoint / "stopped").unlink()
    with pytest.raises(InputError, match="stop it with SIGTERM"):
        run_stream(run)
    with monkeypatch.context() as patch:
        stop_at(patch, 2)
        run_stream(old[0])
    with monkeypatch.context() as patch:
        stop_at(patch, 1)
        run_stream(run)
    with pytest.raises(InputError, match="handed over to 3 shards already"):
        run_stream(taking(tmp_path, 0, 4, old))
    (run.checkpoint / "state").unlink()
    with pytest.raises(InputError, match="give --take-over again"):
        run_stream(replace(run, take_over=()))
    run.output.unlink()
    run_stream(run)
    second = taking(tmp_path, 1, 3, old)
    run_stream(second)
    with pytest.raises(InputError, match="handed over"):
        run_stream(old[1])


def test_a_second_run_with_the_secret_has_the_same_ids_and_the_statement_says_so(tmp_path):
    (tmp_path / "log").write_bytes(as_tsv(rows()))
    seen = []
    for name in ("one", "two"):
        run = replace(shard_run(tmp_path, Shard(0, 2), ids="run", seed=None), checkpoint=None, output=tmp_path / name)
        found = run_stream(run)
        seen.append({row[0] for row in published(run)})
        assert any("another run with the same secret" in text for text in found.statement.does_not_cover)
    assert len(seen[0] & seen[1]) > 20


def test_names_of_files(tmp_path):
    shard = Shard(1, 3)
    assert shard.path(tmp_path / "a.b.tsv").name == "a.1-of-3.b.tsv"
    assert shard.path(tmp_path / ".hidden").name == ".hidden.1-of-3"
    assert shard.path(tmp_path / "plain").name == "plain.1-of-3"
    assert NAMES[0] == "AnonID"
