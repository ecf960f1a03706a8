"""Streams from file to file: what goes in comes out in the same form, each record under another user."""

from __future__ import annotations

import dataclasses
import json
import stat
import time
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from jit import JIT
from stream_logs import MAKERS, as_tsv, read_back, rows

from querycloak import api
from querycloak.errors import GateError, InputError, OutputError, ParameterError
from querycloak.evaluation.workbench import mapper_of
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.live.runner import Run, run_stream
from querycloak.logs.read_options import ReadOptions
from querycloak.mapping.mapped_paths import LazyPaths, MappedPaths
from querycloak.methods.stream.engine import StreamEngine
from querycloak.methods.stream.stream_statement import StreamSettings

SKIP = ReadOptions(on_error="skip")


def go(folder, data, **options):
    source = folder / "log"
    if data is not None:
        source.write_bytes(data)
    settings = StreamSettings(**{"k": 3, "depth": 2, "as_in_paper": True, **options.pop("settings", {})})
    classifier = options.pop("classifier", None)
    run = Run("self-adjusting", settings, source, folder / "release", seed=options.pop("seed", 1), **options)
    return run_stream(run, classifier)


@pytest.mark.parametrize("kind", MAKERS)
def test_the_form_stays_and_only_the_user_changes(tmp_path, kind):
    table = rows()
    found = go(tmp_path, MAKERS[kind](table), settings={"ids": "original"})
    data = (tmp_path / "release").read_bytes()
    out = read_back(data, kind)
    asked = {row[1]: row for row in table}
    assert len(out) == found.stats["records out"] > 0.96 * len(rows())
    for row in out:
        assert row[1:] == asked[row[1]][1:]
        assert row[0] != asked[row[1]][0]
    assert not Counter(r[0] for r in out) - Counter(r[0] for r in table)
    for row, line in zip(out, body(data, kind), strict=True):  # byte for byte
        (as_it_came,) = body(MAKERS[kind]([asked[row[1]]]), kind)
        assert line == as_it_came.replace(asked[row[1]][0].encode(), row[0].encode(), 1)


def body(data, kind):
    lines = data.split(b"\n")[:-1]
    return lines if kind == "jsonl" else lines[1:]


@pytest.mark.parametrize("kind", MAKERS)
def test_attack_and_measure_read_what_was_written(tmp_path, kind):
    truth = tmp_path / "truth"
    found = go(tmp_path, MAKERS[kind](rows()), truth=truth)
    assert stat.S_IMODE(truth.stat().st_mode) == 0o600
    log = api.read_log(tmp_path / "log")
    release = api.read_release(tmp_path / "release", log=log, truth=truth)
    assert release.kind == "stream"
    written = dataclasses.replace(found.statement, input_commitment=release.statement.input_commitment)
    assert release.statement == written
    assert release.statement.input_commitment.startswith("no commitment")
    assert set(release.log.users).isdisjoint(log.users)
    original = dict(zip(log.queries.gather(log.query).to_list(), log.user.tolist(), strict=True))
    queries = release.log.queries.gather(release.log.query).to_list()
    assert [original[q] for q in queries] == release.truth.asker.tolist()
    assert (release.truth.user[release.log.user] != release.truth.asker).all()
    rates = {r.attack: r.rate for r in api.attack(log, release, names=["stream-linkage"], seed=1)}
    assert len(rates) == 3
    assert 0 < max(rates.values()) < 1 / 3
    scores = {s.measure: s.value for s in api.measure(log, release, names=["category-emd", "stream-flow"])}
    assert 0 < scores["category EMD, share of the largest"] < 0.3
    assert scores["records that left"] == len(release.log) / len(log)


def test_in_memory_and_on_disk_the_same_records_leave(tmp_path):
    """The same seed draws the same: the runner and the function over a whole log are one engine."""
    go(tmp_path, as_tsv(rows()), settings={"ids": "original"})
    log = api.read_log(tmp_path / "log")
    release = api.anonymize(log, "self-adjusting", k=3, depth=2, ids="original", as_in_paper=True, seed=1)
    queries = release.log.queries.gather(release.log.query).to_list()
    users = release.log.users.gather(release.log.user).to_list()
    assert [(r[0], r[1]) for r in read_back((tmp_path / "release").read_bytes(), "tsv")] == list(
        zip(users, queries, strict=True)
    )


def test_pieces_do_not_matter(tmp_path, monkeypatch):
    data = MAKERS["csv"](rows(800))
    go(tmp_path, data)
    whole = (tmp_path / "release").read_bytes()
    monkeypatch.setattr("querycloak.live.runner.PIECE", 137)
    go(tmp_path, data)
    assert (tmp_path / "release").read_bytes() == whole


def test_a_last_line_without_end_and_a_byte_order_mark(tmp_path):
    found = go(tmp_path, b"\xef\xbb\xbf" + as_tsv(rows(500))[:-1])
    assert found.stats["records in"] == 500
    assert (tmp_path / "release").read_bytes().startswith(b"\xef\xbb\xbfAnonID\t")


def test_no_original_id_is_published_by_default(tmp_path):
    table = rows()
    go(tmp_path, as_tsv(table), seed=None)
    users = {row[0] for row in read_back((tmp_path / "release").read_bytes(), "tsv")}
    assert users.isdisjoint(row[0] for row in table)
    assert all(u.isdigit() for u in users)


def test_without_categories_queries_are_mapped(tmp_path):
    topics = ["tennis", "guitar", "asthma", "zzzz qqqq"]
    data = "user\tquery\n" + "".join(f"u{i % 40}\t{topics[i % 4]}\n" for i in range(800))
    found = go(tmp_path, data.encode(), classifier=MappedPaths(mapper_of(api.load_taxonomy())))
    assert found.stats["records unclassified"] == 200
    assert found.stats["records out"] > 700
    dropped = go(
        tmp_path,
        data.encode(),
        classifier=MappedPaths(mapper_of(api.load_taxonomy())),
        settings={"unclassified": "drop"},
    )
    assert b"zzzz" not in (tmp_path / "release").read_bytes()
    assert dropped.statement.dropped["unclassified"] == 200
    assert dropped.statement.counts_in["rows"] == 800


def test_the_mapping_that_was_used_is_stated(tmp_path):
    data = "user\tquery\n" + "".join(f"u{i % 40}\ttennis\n" for i in range(200))
    own = Taxonomy.from_parents([-1, 0, 0], [["Top"], ["tennis"], ["tea"]])  # layers do not know it: read in segments
    for tree, used in ((api.load_taxonomy(), "layers"), (own, "segments")):
        classifier = LazyPaths(partial(mapper_of, tree, "layers"))
        assert go(tmp_path, data.encode(), classifier=classifier).statement.mapping == used


def test_the_unclassified_can_be_dropped(tmp_path):
    table = rows()
    found = go(tmp_path, as_tsv(table), settings={"unclassified": "drop"})
    none = sum(row[3] == "" for row in table)
    assert found.stats["records unclassified"] == none > 0
    assert all(row[3] for row in read_back((tmp_path / "release").read_bytes(), "tsv"))


def test_another_separator(tmp_path):
    table = [(u, q, t, c.removeprefix("Top/").replace("/", ": "), s) for u, q, t, c, s in rows()]
    one = go(tmp_path, as_tsv(table), settings={"separator": ":"})
    other = go(tmp_path, as_tsv(rows()))
    assert one.stats["waiting users per level"] == other.stats["waiting users per level"]


BAD = {
    "lines with a wrong number of fields, left out": b"1005\tsecret words\n",
    "lines with a NUL byte, left out": b"1005\tsecret\0words\t2006-03-01 00:00:00\tTop/News\tx\n",
    "lines that are not in the encoding, left out": b"1005\tsecret \xff words\t2006-03-01 00:00:00\tTop/News\tx\n",
    "category paths with an empty level, left out": b"1005\tsecret words\t2006-03-01 00:00:00\tTop//News\tx\n",
    "lines that are too long, left out": b"1005\t" + b"secret " * 150_000 + b"\t2006-03-01 00:00:00\tTop/News\tx\n",
}


@pytest.mark.parametrize("kind", [kind for kind in BAD if JIT or "too long" not in kind])
@pytest.mark.parametrize("piece", [1 << 22, 10_000])
def test_bad_lines(tmp_path, monkeypatch, kind, piece):
    monkeypatch.setattr("querycloak.live.runner.PIECE", piece)
    good = as_tsv(rows(600)).splitlines(keepends=True)
    data = b"".join([*good[:300], BAD[kind], *good[300:], BAD[kind]])
    with pytest.raises(InputError) as error:
        go(tmp_path, data)
    assert "log, line 301:" in str(error.value)
    assert "secret" not in str(error.value)
    assert "1005" not in str(error.value)
    found = go(tmp_path, data, options=SKIP)
    assert found.stats["lines skipped"] == {kind: 2}
    assert found.stats["records in"] == 600
    assert b"secret" not in (tmp_path / "release").read_bytes()
    assert found.statement.dropped[kind] == 2


def test_rows_without_a_user_or_a_query_are_no_mistake(tmp_path):
    good = as_tsv(rows(600)).splitlines(keepends=True)
    odd = [b"\tsecret\tt\tTop/News\tx\n", b" \tsecret\tt\tTop/News\tx\n", b"1005\t \tt\tTop/News\tx\n"]
    odd.append("\u200b\u00a0\tsecret\tt\tTop/News\tx\n".encode())
    found = go(tmp_path, b"".join([*good[:300], *odd, *good[300:]]))
    assert found.stats["lines skipped"] == {"rows without a user, left out": 3, "rows without a query, left out": 1}
    assert found.stats["records in"] == 600
    assert b"secret" not in (tmp_path / "release").read_bytes()


def test_a_key_written_with_escapes_is_that_key(tmp_path):
    data = b"".join(
        b'{"us\\u0065r": "u%d", "query": "tea no %d", "category": "News"}\n' % (i % 9, i) for i in range(60)
    )
    found = go(tmp_path, b'{"user": "u", "query": "q", "category": "News"}\n' + data)
    assert (found.stats["records in"], found.stats["users"]) == (61, 10)


@pytest.mark.parametrize("piece", [1 << 22, 100])
def test_lines_are_counted_where_a_query_has_line_ends_in_it(tmp_path, monkeypatch, piece):
    monkeypatch.setattr("querycloak.live.runner.PIECE", piece)
    good = b"".join(b'u%d,"two\nlines",News\n' % i for i in range(20))
    with pytest.raises(InputError, match="log, line 42: expected 3 comma-separated fields, found 2"):
        go(tmp_path, b"user,query,category\n" + good + b"x,News\n" + good)
    found = go(tmp_path, b"user,query,category\n" + good + b"x,News\n" + good, options=SKIP)
    assert found.stats["records in"] == 40


@pytest.mark.parametrize("key", ["\\u0075ser", "\\u0071uery", "categor\\u0079"])
def test_a_second_key_of_ours_written_with_escapes_is_refused(tmp_path, key):
    """Who reads the line sees the last of two equal keys: it would be the asker, or a query that was never counted."""
    lines = [b'{"user": "u%d", "query": "q", "category": "News"}\n' % i for i in range(30)]
    odd = lines[0].replace(b"}", b', "%b": "secret"}' % key.encode())
    fine = lines[0].replace(b"}", b', "gr\\u00f6\\u00dfe": 3}')
    with pytest.raises(InputError, match="log, line 32: expected one JSON object"):
        go(tmp_path, b"".join([*lines, fine, odd]))
    found = go(tmp_path, b"".join([*lines, fine, odd]), options=SKIP)
    assert found.stats["records in"] == 31
    assert b"secret" not in (tmp_path / "release").read_bytes()


NO_JSON = [
    '"z": tru',
    '"z": "a\tb"',
    '"z": "\\q"',
    '"z": [1}',
    '"z": -abc',
    '"z": NaN',
    '"z": 01',
]


@pytest.mark.parametrize("odd", NO_JSON)
def test_what_a_reader_of_json_refuses_is_refused(tmp_path, odd):
    lines = [b'{"user": "u%d", "query": "q", "category": "News"}\n' % i for i in range(30)]
    bad = ('{"user": "u1", "query": "secret", ' + odd + "}\n").encode()
    with pytest.raises(InputError, match="line 11: expected one JSON object"):
        go(tmp_path, b"".join([*lines[:10], bad, *lines[10:]]))
    found = go(tmp_path, b"".join([*lines[:10], bad, *lines[10:]]), options=SKIP)
    assert found.stats["lines skipped"] == {"malformed lines, left out": 1}
    assert found.stats["records in"] == 30
    assert b"secret" not in (tmp_path / "release").read_bytes()


def test_an_open_quote_at_the_end_loses_nothing_silently(tmp_path):
    good = b"".join(b"u%d,q,News\n" % i for i in range(50))
    data = b"user,query,category\n" + good + b'u1,"open,News\n' + good
    with pytest.raises(InputError, match="line 52: a quote is not closed"):
        go(tmp_path, data)
    found = go(tmp_path, data, options=SKIP)
    assert found.stats["records in"] == 100
    assert found.stats["lines skipped"] == {"malformed lines, left out": 1}


@pytest.mark.parametrize("piece", [1 << 22, 1 << 17, 70_000])
@pytest.mark.needs_jit
def test_a_long_record_costs_its_first_line_wherever_a_piece_ends(tmp_path, monkeypatch, piece):
    monkeypatch.setattr("querycloak.live.runner.PIECE", piece)
    good = b"".join(b"u%d,q,News\n" % i for i in range(50))
    long = b'u1,"a\nu9,inner,News\n",' + b"x" * 1_200_000 + b"\n"
    found = go(tmp_path, b"user,query,category\n" + good + long + good, options=SKIP)
    assert found.stats["records in"] == 101
    assert found.stats["lines skipped"] == {"lines that are too long, left out": 2}


def test_a_first_line_that_is_too_long_can_be_skipped(tmp_path):
    good = b"".join(b'{"user": "u%d", "query": "q", "category": "News"}\n' % i for i in range(50))
    data = b'{"query": "' + b"x" * 1_200_000 + b'"}\n' + good
    found = go(tmp_path, data, options=SKIP)
    assert found.stats["records in"] == 50
    with pytest.raises(InputError, match="log, line 1: a line of more than 1,048,576 bytes"):
        go(tmp_path, data)


def test_users_after_the_bad_line_are_not_counted(tmp_path):
    lines = as_tsv([(str(i), f"q{i}", "t", "News", "s") for i in range(30)]).splitlines(keepends=True)
    with pytest.raises(InputError, match="line 22"):
        go(tmp_path, b"".join([*lines[:21], b"bad\n", *lines[21:]]), stats=tmp_path / "stats")
    stats = json.loads((tmp_path / "stats").read_text())
    assert (stats["records in"], stats["users"]) == (20, 20)


def test_blank_lines_before_the_header_are_lines(tmp_path):
    data = b"\n\n" + as_tsv(rows(10)) + b"bad\n"
    with pytest.raises(InputError, match="log, line 14"):
        go(tmp_path, data)


def test_a_file_cut_between_the_two_bytes_of_a_line_end(tmp_path):
    good = b"".join(b'u%d,q,"News"\r\n' % i for i in range(30))
    found = go(tmp_path, b"user,query,category\r\n" + good[:-1])
    assert found.stats["records in"] == 30
    assert b"\r\r" not in (tmp_path / "release").read_bytes()


def test_users_with_escapes_have_the_same_ids_wherever_a_piece_ends(tmp_path, monkeypatch):
    data = b"".join(b'{"user": "u%b%d", "query": "my query %d", "category": "News"}\n' % (b"\\u0061" * (i % 3 == 0), i % 50, i) for i in range(400))  # fmt: skip  # noqa: E501
    seen = set()
    for piece in (1 << 22, 3000, 137):
        monkeypatch.setattr("querycloak.live.runner.PIECE", piece)
        go(tmp_path, data)
        seen.add((tmp_path / "release").read_bytes())
    assert len(seen) == 1


def test_a_write_that_fails_is_told_also_where_the_next_batch_is_bad(tmp_path, monkeypatch):
    monkeypatch.setattr("querycloak.live.runner.PIECE", 20_000)
    lines = as_tsv(rows(2000)).splitlines(keepends=True)
    data = b"".join([*lines[:700], b"1005\n", *lines[700:]])

    def fail(self, view):
        time.sleep(0.2)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("querycloak.live.pipes.FileSink._put", fail)
    with pytest.raises(OutputError, match="release: cannot be written"):
        go(tmp_path, data)


def test_what_is_not_well_formed_is_not_counted_as_unclassified(tmp_path):
    lines = [b'{"user": "u%d", "query": "q", "category": ""}\n' % i for i in range(5)]
    found = go(tmp_path, b"".join([*lines, b'{"user": "\\ud800", "query": "q"}\n' * 2]), options=SKIP)
    assert found.stats["records unclassified"] == 5
    assert found.stats["lines skipped"] == {"malformed lines, left out": 2}


def test_blank_lines_and_repeated_headers_are_no_mistake(tmp_path):
    lines = as_tsv(rows(600)).splitlines(keepends=True)
    found = go(tmp_path, b"".join([*lines[:200], b"\n", lines[0], *lines[200:], b"\n\n"]))
    assert found.stats["lines skipped"] == {
        "blank lines, left out": 3,
        "header lines repeated inside the file, left out": 1,
    }
    assert found.stats["records in"] == 600


def test_no_category_and_no_mapping_is_refused(tmp_path):
    with pytest.raises(InputError, match="no category column"):
        go(tmp_path, b"user\tquery\na\tb\n")


def test_an_empty_stream_is_refused(tmp_path):
    with pytest.raises(InputError, match="empty"):
        go(tmp_path, b"")
    with pytest.raises(InputError, match="no such file"):
        go(tmp_path / "nowhere", None)


def test_a_header_alone_gives_a_header_alone(tmp_path):
    found = go(tmp_path, as_tsv([]))
    assert found.stats["records in"] == 0
    assert (tmp_path / "release").read_bytes() == as_tsv([])


def test_an_output_that_cannot_be_written(tmp_path):
    (tmp_path / "log").write_bytes(as_tsv(rows(100)))
    with pytest.raises(OutputError):
        run_stream(Run("self-adjusting", StreamSettings(), tmp_path / "log", tmp_path / "no" / "release"))


def test_a_checkpoint_needs_files(tmp_path):
    with pytest.raises(ParameterError, match="--from"):
        run_stream(Run("self-adjusting", StreamSettings(), None, tmp_path / "x", checkpoint=tmp_path / "c"))


@pytest.mark.parametrize("wrong", ["candidates", "user"])
def test_an_engine_that_breaks_its_rule_publishes_nothing(tmp_path, monkeypatch, wrong):
    """The gate of the stream: the engine is made wrong, and no line of that batch is written."""
    right = StreamEngine.push_codes

    def broken(self, user, node):
        out = right(self, user, node)
        if wrong == "candidates":
            return replace(out, candidates=np.full_like(out.candidates, self.k - 1))
        return replace(out, user=user[out.record])  # all in one batch: the asker itself

    monkeypatch.setattr(StreamEngine, "push_codes", broken)
    with pytest.raises(GateError, match="nothing of this is published"):
        go(tmp_path, as_tsv(rows()))
    assert (tmp_path / "release").read_bytes().count(b"\n") <= 1  # the header alone
    assert not (tmp_path / "release.statement.json").exists()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_header_alone_in_utf_16_is_no_blank_line(tmp_path, encoding):
    text = "\ufeffuser\tquery\tcategory\n"
    found = go(tmp_path, text.encode(encoding))
    assert (found.stats["records in"], found.stats["lines skipped"]) == (0, {})
    assert (tmp_path / "release").read_bytes() == text.encode(encoding)
