"""Whatever the bytes: a log, or one sentence for the user. Nothing else comes out."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from io_strategies import packed, text_files

from querycloak.errors import UserError
from querycloak.logs.recognise import FORMATS
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log
from querycloak.releases.files import read_release, read_statement

SECRET = "4417749"
"""Stands in every user id and query of the files below; no error may show it."""
SECRET_FILES = [
    b"4417749\tnumb fingers 4417749\t2006-03-01 07:17:12\t1\thttp://4417749.example\n" * 3,
    b"4417749\t970916105432\tfoods 4417749\n" * 3,
    b"date\t4417749\n4417749\ttea\n",
    b"4417749,dog 4417749,query\n" * 2,
    b'user,query,time\n4417749,"tea, 4417749",4417749x\n' * 2,
    b'{"uid": 4417749, "q": "tea 4417749", "ts": "4417749"}\n' * 2,
]

compressions = st.sampled_from(["", "gz", "zst"])
formats = st.sampled_from([None, *FORMATS])
headers = st.sampled_from([None, True, False])
mappings = st.sampled_from([None, {"user": "1", "query": "2"}, {"user": "uid", "query": "q"}, {"query": "a.b"}])


def try_read(data: bytes, **options) -> None:
    """Read: either a whole log, or one sentence that quotes nothing of the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_bytes(data)
        try:
            log = read_log(path, **options)
        except UserError as error:
            sentence = str(error)
        else:
            sentence = ""
            check(log, Path(folder) / "again")
        assert "\n" not in sentence
        assert SECRET not in sentence


def check(log, again: Path) -> None:
    """What could be read is whole, and can be written."""
    assert log.user.max(initial=-1) < len(log.users)
    assert sorted(set(log.query.tolist())) == list(range(len(log.queries)))
    write_log(log, again)
    assert again.exists()


@st.composite
def mutated(draw, files) -> bytes:
    """Cut, overwrite, insert or double a stretch."""
    data = draw(files)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 40)))
        new = draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from([b"", b"\t", b"\n", b"\r", b'"', b",", b"\0", b"{", b"\\", b"\xff\xfe", b"\\ud800"]),
                st.just(data[start:stop] * 2),
            )
        )
        data = data[:start] + new + data[stop:]
    return data


@pytest.mark.slow
@given(st.binary(max_size=400), formats, mappings, headers)
def test_any_bytes(data, name, columns, header):
    try_read(data, format=name, columns=columns, header=header)


@given(st.text(alphabet='1a",\t\n\r{}:[]\\\0 \ufeff', max_size=60), formats, mappings, headers)
def test_any_punctuation(text, name, columns, header):
    try_read(text.encode(), format=name, columns=columns, header=header)


@given(mutated(st.sampled_from(SECRET_FILES)), formats, mappings, headers)
@example(b'4417749,"tea, 4417749"user,query,time\n4417749,x,y\n', None, {"user": "uid", "query": "q"}, None)
def test_nothing_is_quoted(data, name, columns, header):
    try_read(data, format=name, columns=columns, header=header)


@pytest.mark.slow
@given(mutated(text_files), compressions)
def test_mutated_text(data, compression):
    try_read(packed(data, compression))


@pytest.mark.slow
@given(text_files, st.sampled_from(["gz", "zst"]), st.data())
def test_mutated_packing(data, compression, choose):
    try_read(choose.draw(mutated(st.just(packed(data, compression)))))


def _parquet() -> bytes:
    out = io.BytesIO()
    pl.DataFrame({"user": ["a", "b"] * 20, "query": ["x", "y"] * 20, "n": range(40)}).write_parquet(out)
    return out.getvalue()


@given(mutated(st.just(_parquet())))
def test_mutated_parquet(data):
    try_read(data)


@given(st.binary(max_size=200), st.one_of(st.binary(max_size=200), st.just(b"{}"), st.just(b'{"version":1}')))
def test_any_release(table, statement):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release"
        path.write_bytes(table)
        Path(f"{path}.statement.json").write_bytes(statement)
        for read in (read_release, read_statement):
            try:
                read(path)
            except UserError:
                continue
            raise AssertionError("random bytes passed for a release")
