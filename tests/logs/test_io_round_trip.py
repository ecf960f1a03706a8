"""What is written has the form of what was read, byte for byte."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from io_strategies import aol_files, csv_files, excite_files, jsonl_files, packed, tsv_files, ubi_files

from querycloak.logs.compression import compression_of
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log


def again(data: bytes, **options) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder) / "one", Path(folder) / "two"
        one.write_bytes(data)
        write_log(read_log(one, **options), two, safe_csv=False)
        return two.read_bytes()


@settings(max_examples=50)
@given(aol_files())
def test_aol(data):
    assert again(data) == data


@settings(max_examples=50)
@given(excite_files())
def test_excite(data):
    assert again(data, format="excite") == data


@settings(max_examples=50)
@given(tsv_files())
def test_tsv(data):
    assert again(data) == data


@settings(max_examples=50)
@given(csv_files())
def test_csv(data):
    assert again(data) == data


@settings(max_examples=50)
@given(jsonl_files())
def test_jsonl(data):
    escapes = b"\\u" in data
    if not escapes or data.isascii():  # a file that mixes both styles has no one style to repeat
        assert again(data) == data


@settings(max_examples=50)
@given(ubi_files())
def test_ubi(data):
    assert again(data) == data


@settings(max_examples=20)
@given(aol_files(), st.sampled_from(["gz", "zst"]))
def test_compressed(data, compression):
    with tempfile.TemporaryDirectory() as folder:
        one, two, three = (Path(folder) / name for name in ("one", "two", "three"))
        one.write_bytes(packed(data, compression))
        write_log(read_log(one), two)
        assert compression_of(two) == compression
        write_log(read_log(two), three)
        assert three.read_bytes() == two.read_bytes()
        plain, log = Path(folder) / "plain", read_log(one)
        plain.write_bytes(data)
        assert log.queries.to_list() == read_log(plain).queries.to_list()


def test_parquet_of_user_and_query_alone(tmp_path):
    pl.DataFrame({"user": ["ann", "bob", ""], "query": ["tea", "cup", "x"]}).write_parquet(tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet")
    assert (log.users.to_list(), log.queries.to_list(), log.extra) == (["ann", "bob"], ["tea", "cup"], None)


def test_parquet(tmp_path):
    from datetime import datetime

    table = pl.DataFrame(
        {
            "user_id": [7, 8, 7],
            "query": ["tea", "tea", 'a "b"'],
            "time": [datetime(2024, 1, 2, 3, 4, 5), None, datetime(2024, 1, 2)],  # noqa: DTZ001
            "rank": pl.Series([1, None, 3], dtype=pl.Int64),
            "basket": [[1, 2], [], None],
        }
    )
    table.write_parquet(tmp_path / "one.parquet")
    log = read_log(tmp_path / "one.parquet")
    assert (log.user.tolist(), log.users.to_list()) == ([0, 1, 0], ["7", "8"])
    assert log.time.tolist()[0] == 1_704_164_645
    write_log(log, tmp_path / "two.parquet")
    assert pl.read_parquet(tmp_path / "two.parquet").equals(table)


@pytest.mark.parametrize(
    "data",
    [
        b"7\t\"quoted\" and 'not'\t2006-03-01 07:17:12\n",
        b"\xef\xbb\xbfuser,query\n1,tea\n",
        b'{"uid":12,"q":"tea","price":1.50,"big":123456789012345678901234567890,"e":1E5}\n',
        b'{"uid":"a","q":"tea","rank":3}\n{"uid":"b","q":"x"}\n',
    ],
)
def test_forms(data):
    assert again(data) == data


@pytest.mark.parametrize("data", [b"u\tq\nv\tr\n", b"u\tq\rv\tr\r"])
def test_forms_without_a_header(data):
    assert again(data, header=False, columns={"user": "1", "query": "2"}) == data
