"""Each format is recognised by content, and its rows are what the file says."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import EXCITE

from querycloak.errors import OutputError
from querycloak.logs import source
from querycloak.logs.form import LogForm
from querycloak.logs.query_log import MISSING_TIME, QueryLog, encode
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log
from querycloak.logs.times import choose_pattern, format_times, parse_times


def read(tmp_path, data: bytes, **options) -> QueryLog:
    path = tmp_path / "log"
    path.write_bytes(data)
    return read_log(path, **options)


def rows(log: QueryLog) -> list[tuple[str, str]]:
    return list(zip(log.users.gather(log.user).to_list(), log.queries.gather(log.query).to_list(), strict=True))


def test_aol_clicks(tmp_path):
    data = (
        b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
        b'142\ta "b\t2006-03-01 07:17:12\t1\thttp://x\n'
        b'142\ta "b\t2006-03-01 07:17:12\t4\thttp://y\n'
        b"217\t-\t2006-03-02 00:00:00\t\t\n"
    )
    log = read(tmp_path, data)
    assert log.form.format == "aol"
    assert rows(log) == [("142", 'a "b'), ("142", 'a "b'), ("217", "-")]
    assert log.time.tolist() == [1_141_197_432, 1_141_197_432, 1_141_257_600]
    assert log.rank.tolist() == [1, 4, -1]
    assert log.url.tolist() == [0, 1, -1]
    assert log.event.tolist() == [True, False, True]
    assert log.extra is None


@pytest.mark.parametrize("header", [b"AnonID\tQuery\tQueryTime\n", b"anonid\tquery\tquerytime\n", b""])
def test_aol_three_columns(tmp_path, header):
    log = read(tmp_path, header + b"142\ttea\t2006-03-01 07:17:12\n")
    assert (log.form.format, log.form.header, len(log), log.url) == ("aol", bool(header), 1, None)


@pytest.mark.parametrize("time", ["2006-03-01 07:17:12", "060301071712"])
def test_header_of_another_form(tmp_path, time):
    log = read(tmp_path, f"user\tquery\ttime\n1\ttea\t{time}\n".encode())
    assert (log.form.format, log.form.header, rows(log)) == ("tsv", True, [("1", "tea")])
    log = read(tmp_path, f"user\ttime\tquery\n1\t{time}\ttea\n".encode())
    assert (log.form.format, log.time.tolist(), rows(log)) == ("tsv", [1_141_197_432], [("1", "tea")])


def test_first_line_longer_than_the_sample(tmp_path):
    log = read(tmp_path, b"1\t" + b"tea " * 40_000 + b"\t2006-03-01 07:17:12\t\t\n")
    assert (log.form.format, len(log)) == ("aol", 1)


def test_excite(tmp_path):
    log = read(tmp_path, b"2A9EABFB35F5B954\t970916105432\t+md foods\n2A9EABFB35F5B954\t970916105433\tyahoo\n")
    assert log.form.format == "excite"
    assert log.time.tolist() == [874_407_272, 874_407_273]


@pytest.mark.data
@pytest.mark.skipif(not EXCITE.exists(), reason="the real logs are not next to the checkout")
def test_excite_for_real(tmp_path):
    log = read_log(EXCITE)
    dropped = log.problems["rows without a query, left out"]
    assert len(log) + dropped == 4501
    assert rows(log)[0] == ("2A9EABFB35F5B954", "+md foods +proteins")
    write_log(log, tmp_path / "out")
    kept = [line for line in EXCITE.read_bytes().splitlines(keepends=True) if not line.endswith(b"\t\n")]
    assert (tmp_path / "out").read_bytes() == b"".join(kept)


def test_two_columns_without_header(tmp_path):
    log = read(tmp_path, b"u1\ttea\nu2\tcup\n", header=False, columns={"user": "1", "query": "2"})
    assert rows(log) == [("u1", "tea"), ("u2", "cup")]


def test_mapping_by_name_and_position(tmp_path):
    data = b"who,what,where\n1,tea,http://x\n"
    log = read(tmp_path, data, columns={"user": "WHO", "query": "what", "url": "where"})
    assert (rows(log), log.urls.to_list()) == ([("1", "tea")], ["http://x"])
    log = read(tmp_path, b"tea\t1\tx\n", header=False, columns={"user": "2", "query": "1"})
    assert (rows(log), log.extra.columns) == ([("1", "tea")], ["column 3"])


def test_extra_columns_ride_along(tmp_path):
    log = read(tmp_path, b"user,query,shop\n1,tea,x\n2,cup,\n")
    assert log.extra["shop"].to_list() == ["x", None]
    assert log.take(np.array([1])).extra["shop"].to_list() == [None]


def test_json_values(tmp_path):
    data = b'{"uid":7,"q":"tea","more":{"a":[1]}}\n{"uid":"8","q":null}\n{"q":"cup","uid":8,"rank":2}\n'
    log = read(tmp_path, data)
    assert rows(log) == [("7", "tea"), ("8", "cup")]
    assert log.rank.tolist() == [-1, 2]
    assert log.extra["more"].to_list() == ['{"a":[1]}', None]
    assert log.problems == {"rows without a query, left out": 1}


def test_json_nested(tmp_path):
    data = b'{"who":{"id":"a","age":30},"q":"tea"}\n'
    log = read(tmp_path, data, columns={"user": "who.id", "query": "q"})
    assert (rows(log), log.extra.columns) == ([("a", "tea")], ["who.age"])
    renamed = replace(log, users=pl.Series(["new"]))
    write_log(renamed, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b'{"who":{"id":"new","age":30},"q":"tea"}\n'


def test_new_ids_in_a_column_of_numbers(tmp_path):
    log = read(tmp_path, b'{"uid":7,"q":"tea"}\n{"uid":8,"q":"tea"}\n')
    write_log(replace(log, users=pl.Series(["00ff", "12"])), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b'{"uid":"00ff","q":"tea"}\n{"uid":12,"q":"tea"}\n'


@pytest.mark.parametrize("prefix", ["", '"_index":"ubi_queries","_source":'])
def test_ubi(tmp_path, prefix):
    row = '{"query_id":"z","client_id":"c","user_query":"shoes","query":"{}","timestamp":"2024-01-01T10:00:00.500Z"}'
    event = '{"query_id":"z","client_id":"c","action_name":"click","timestamp":1704103200000}'
    lines = [f"{{{prefix}{line}}}" if prefix else line for line in (row, event)]
    log = read(tmp_path, "\n".join(lines).encode())
    assert (log.form.format, rows(log)) == ("ubi", [("c", "shoes")])
    assert log.time.tolist() == [1_704_103_200]
    assert log.problems == {"rows without a query, left out": 1}


def test_columns_that_are_gone_are_left_out(tmp_path):
    log = read(tmp_path, b"142\ttea\t2006-03-01 07:17:12\t1\thttp://x\n")
    write_log(replace(log, time=None, rank=None, url=None, urls=None), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"142\ttea\n"


def test_log_from_memory(tmp_path):
    log = QueryLog.of(["a", "b"], ["tea", "cup"], times=[0, MISSING_TIME], urls=[None, "u"])
    write_log(log, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"user\tquery\ttime\turl\na\ttea\t1970-01-01 00:00:00\t\nb\tcup\t\tu\n"
    assert rows(read_log(tmp_path / "out")) == [("a", "tea"), ("b", "cup")]


def test_empty_log(tmp_path):
    log = read(tmp_path, b"user\tquery\n")
    assert len(log) == 0
    for name in ("tsv", "csv", "jsonl", "parquet"):
        write_log(log, tmp_path / "out", replace(log.form, format=name))
        assert (tmp_path / "out").exists()


@pytest.mark.parametrize("query", ["a\tb", "a\nb", "a\r"])
def test_tabs_hold_no_tabs(tmp_path, query):
    log = QueryLog.of(["a"], [query])
    with pytest.raises(OutputError, match="write CSV or JSON lines instead"):
        write_log(log, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    for name in ("csv", "jsonl"):
        write_log(log, tmp_path / "out", LogForm(name, ()))
        assert rows(read_log(tmp_path / "out")) == [("a", query)]


@given(st.lists(st.text("abé ", max_size=2), max_size=30), st.integers(1, 7))
def test_codes_by_first_appearance(words, size):
    """The codes of all blocks together are those of a dictionary that goes row by row."""
    kept = [w for w in words if w.strip(" ")]
    data = "user\tquery\n" + "".join(f"u\t{w}\n" for w in words)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK", size)
        log = read(Path(folder), data.encode())
    codes, vocabulary = encode(kept)
    assert log.query.tolist() == codes.tolist()
    assert log.queries.to_list() == vocabulary.to_list()


def test_blocks_do_not_matter(tmp_path, monkeypatch):
    lines = [f'{i % 7},"query {i % 11}\nmore, ""{i}""",http://{i % 3}\n' for i in range(200)]
    data = ("user,query,url\n" + "".join(lines)).encode()
    whole = read(tmp_path, data)
    monkeypatch.setattr(source, "BLOCK", 64)
    parts = read(tmp_path, data)
    assert rows(parts) == rows(whole)
    assert parts.url.tolist() == whole.url.tolist()


@pytest.mark.parametrize(
    ("example", "pattern"),
    [
        ("2006-03-01 07:17:12", "%Y-%m-%d %H:%M:%S"),
        ("2006-03-01T07:17:12", "%Y-%m-%dT%H:%M:%S"),
        ("2006-03-01T07:17:12Z", "%Y-%m-%dT%H:%M:%SZ"),
        ("060301071712", "%y%m%d%H%M%S"),
        ("20060301071712", "%Y%m%d%H%M%S"),
        ("1141197432", "epoch"),
        ("1141197432000", "epoch_ms"),
    ],
)
def test_times(example, pattern):
    texts = pl.Series([example, None, "x"])
    assert choose_pattern(texts) == pattern
    times = parse_times(texts, pattern)
    assert times.tolist() == [1_141_197_432, MISSING_TIME, MISSING_TIME]
    assert format_times(times, pattern).to_list() == [example, None, None]


def test_times_that_cannot_be_repeated():
    texts = pl.Series(["2006-03-01T08:17:12+01:00", "2006-03-01T07:17:12.9Z", "2006-03-01 07:17:12.1"])
    assert choose_pattern(texts) == "iso"
    assert parse_times(texts, "iso").tolist() == [1_141_197_432] * 3
    assert parse_times(pl.Series(["2006-03-01"]), "%Y-%m-%d").tolist() == [1_141_171_200]
    assert parse_times(pl.Series(["20060301"]), choose_pattern(pl.Series(["20060301"]))).tolist() == [1_141_171_200]
    assert parse_times(pl.Series(["2006-03-01 07:17"]), "%Y-%m-%d %H:%M").tolist() == [1_141_197_420]


def test_import_is_light():
    code = "import sys, querycloak.catalog, querycloak.logs; sys.exit(bool({'polars', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
