"""A release and its statement belong together; the truth is for its owner; output is whole or not there."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sample_releases import sealed

from querycloak.errors import InputError, OutputError, ParameterError
from querycloak.logs.atomic import check_output, write_text, writing
from querycloak.logs.form import Column, LogForm
from querycloak.logs.query_log import QueryLog
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log
from querycloak.releases.commitment import NO_COMMITMENT
from querycloak.releases.files import read_release, read_statement, statement_path, write_release
from querycloak.releases.release import KINDS, Release, Truth
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.truth_file import read_truth, write_truth

STATEMENT = PrivacyStatement(
    method="example",
    settings={"k": 2, "mode": "x", "limit": None},
    version="0.0",
    model="none",
    parameters={"k": 2.0},
    unit="none",
    covers=(),
    does_not_cover=("queries are published as they were",),
    randomness="seed 1",
    new_ids=True,
    counts_in={"rows": 3},
    counts_out={"rows": 3},
    dropped={"rare queries": 0},
    figures={"loss": np.float64(0.25), "undefined": float("nan")},
)
LOG = QueryLog.of(["ann", "bob\tx", "ann"], ["tea", "tea", "green tea"])
RELEASED = QueryLog.of(["x1", "x2", "x1"], ["tea", "tea", "green tea"])


def release(form: LogForm | None = None, kind: str = "log", **changes) -> Release:
    truth = Truth(np.array([0, 1], dtype=np.int32))
    return sealed(replace(KINDS[kind](replace(RELEASED, form=form), STATEMENT, truth), **changes))


@pytest.mark.parametrize("compression", ["", "gz", "zst"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("name", ["aol", "excite", "tsv", "csv", "jsonl", "ubi"])
def test_there_and_back(tmp_path, name, header, compression):
    columns = (Column("q", "query"), Column("u", "user"), Column("gone", "time"))
    form = LogForm(name, columns, header=header, compression=compression)
    write_release(release(form), tmp_path / "out")
    back = read_release(tmp_path / "out")
    assert back.log.user.tolist() == [0, 1, 0]
    assert back.log.users.to_list() == ["x1", "x2"]
    assert back.log.queries.to_list() == ["tea", "green tea"]
    written = {"columns": ("q", "u"), "figures": {"loss": 0.25}, "input_commitment": NO_COMMITMENT}
    assert back.statement == replace(STATEMENT, **written)
    assert back.statement == read_statement(tmp_path / "out") == read_statement(statement_path(tmp_path / "out"))
    assert (back.kind, back.truth) == ("log", None)


@pytest.mark.parametrize("name", ["tsv", "csv", "jsonl", "parquet"])
def test_counts_have_no_user(tmp_path, name):
    log = QueryLog.of(["*", "*"], ["tea", "cup"])
    log = replace(log, extra=pl.DataFrame({"count": [12, 7], "noisy": [11.5, 8.0]}), form=LogForm(name, ()))
    write_release(release(log=log, truth=None, kind="counts"), tmp_path / "out")
    back = read_release(tmp_path / "out")
    assert back.kind == "counts"
    assert back.log.user.tolist() == [0, 0]
    assert back.log.extra.equals(log.extra)
    assert back.statement.columns == ("query", "count", "noisy")


def test_items_have_paths(tmp_path):
    log = QueryLog.of(["x", "y"], ["tea", "cup"], categories=["Top/Drinks", None])
    write_release(release(log=log, kind="items"), tmp_path / "out")
    back = read_release(tmp_path / "out").log
    assert (back.category.tolist(), back.categories.to_list()) == ([0, -1], ["Top/Drinks"])


@pytest.mark.parametrize("name", ["tsv", "csv", "jsonl", "parquet"])
@pytest.mark.parametrize("header", [True, False])
def test_empty_release(tmp_path, name, header):
    log = replace(QueryLog.of([], []), form=LogForm(name, (), header=header))
    write_release(release(log=log), tmp_path / "out")
    assert len(read_release(tmp_path / "out").log) == 0


def test_same_release_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_release(release(LogForm("tsv", (), compression="gz")), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert statement_path(tmp_path / "one").read_bytes() == statement_path(tmp_path / "two").read_bytes()


class TestRefused:
    @pytest.fixture
    def path(self, tmp_path):
        write_release(release(), tmp_path / "out.tsv")
        return tmp_path / "out.tsv"

    def test_no_release(self, tmp_path):
        with pytest.raises(InputError, match="there is no such file"):
            read_release(tmp_path / "none")

    def test_no_statement(self, path):
        statement_path(path).unlink()
        with pytest.raises(InputError, match=r"its statement is missing; expected out.tsv.statement.json next to it"):
            read_release(path)

    def test_edited_release(self, path):
        path.write_bytes(path.read_bytes() + b"x3\ttea\n")
        with pytest.raises(InputError, match="does not belong to this file, or the file was edited"):
            read_release(path)

    @pytest.mark.parametrize(
        ("key", "value"), [("method", "better"), ("parameters", {"k": 50.0}), ("covers", ["everything"])]
    )
    def test_edited_statement(self, path, key, value):
        file = json.loads(statement_path(path).read_text())
        file["statement"][key] = value
        statement_path(path).write_text(json.dumps(file))
        with pytest.raises(InputError, match="the statement was edited after it was written"):
            read_release(path)

    def test_reformatted_statement_is_the_same(self, path):
        file = json.loads(statement_path(path).read_text())
        statement_path(path).write_text(json.dumps(file, sort_keys=True))
        assert read_release(path).statement.method == "example"

    @pytest.mark.parametrize("content", ["", "{}", "[]", "null", '{"version": 1}', "[" * 10_000])
    def test_no_real_statement(self, path, content):
        statement_path(path).write_text(content)
        with pytest.raises(InputError, match="not a statement of QueryCloak"):
            read_release(path)

    def test_later_version(self, path):
        file = json.loads(statement_path(path).read_text())
        statement_path(path).write_text(json.dumps({**file, "version": 7}))
        with pytest.raises(InputError, match="this QueryCloak reads version 2 to 6"):
            read_statement(path)


class TestTruth:
    def test_there_and_back(self, tmp_path):
        write_truth(release(), LOG, tmp_path / "truth")
        write_release(release(), tmp_path / "out")
        back = read_truth(tmp_path / "truth", LOG, read_release(tmp_path / "out"))
        assert (back.user.tolist(), back.asker) == ([0, 1], None)

    def test_askers(self, tmp_path):
        asked = release(truth=Truth(np.array([0, 1], dtype=np.int32), np.array([1, 1, 0], dtype=np.int32)))
        write_truth(asked, LOG, tmp_path / "truth")
        back = read_truth(tmp_path / "truth", LOG, asked)
        assert back.asker.tolist() == [1, 1, 0]

    def test_for_the_owner_alone_from_the_first_byte(self, tmp_path, monkeypatch):
        modes = []
        true_open = os.open

        def watched(path, flags, mode=0o777, **more):
            modes.append(mode)
            return true_open(path, flags, mode, **more)

        monkeypatch.setattr(os, "open", watched)
        write_truth(release(), LOG, tmp_path / "truth")
        assert 0o600 in modes
        assert 0o666 not in modes
        assert stat.S_IMODE((tmp_path / "truth").stat().st_mode) == 0o600

    def test_no_truth(self, tmp_path):
        with pytest.raises(ParameterError, match="holds no truth"):
            write_truth(release(truth=None), LOG, tmp_path / "truth")

    def test_another_log(self, tmp_path):
        write_truth(release(), LOG, tmp_path / "truth")
        with pytest.raises(InputError, match="does not belong to this log: line 3") as caught:
            read_truth(tmp_path / "truth", QueryLog.of(["eve"], ["tea"]), release())
        assert "ann" not in str(caught.value)

    def test_another_release(self, tmp_path):
        write_truth(release(), LOG, tmp_path / "truth")
        with pytest.raises(InputError, match="does not belong to this release: line 3"):
            read_truth(tmp_path / "truth", LOG, release(log=QueryLog.of(["y"], ["tea"])))
        with pytest.raises(InputError, match="does not name all that was published"):
            read_truth(tmp_path / "truth", LOG, release(log=QueryLog.of(["x1", "x2", "x3"], ["a", "a", "a"])))

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"a\tb\n",
            b"\xff",
            b"kind\tpublished\toriginal\nuser\tx1\n",
            b"kind\tpublished\toriginal\nuser\tx1\tann",
        ],
    )
    def test_no_truth_file(self, tmp_path, content):
        (tmp_path / "truth").write_bytes(content)
        with pytest.raises(InputError):
            read_truth(tmp_path / "truth", LOG, release())


class TestWholeOrNotThere:
    def test_error_on_the_way(self, tmp_path):
        (tmp_path / "a").write_text("before")

        def fail():
            with writing(tmp_path / "a", tmp_path / "b") as (one, _):
                one.write(b"half")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fail()
        assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "before"}

    def test_disk_full(self, tmp_path):
        with pytest.raises(OutputError, match="no space left"), writing(tmp_path / "a"):
            raise OSError(28, "No space left on device")
        assert list(tmp_path.iterdir()) == []

    def test_places_that_cannot_be(self, tmp_path):
        with pytest.raises(OutputError, match="is a directory"):
            check_output(tmp_path)
        with pytest.raises(OutputError, match="does not exist; make it first"):
            check_output(tmp_path / "no" / "file")
        with pytest.raises(OutputError):
            check_output("a\0b")

    def test_statement_place_is_taken(self, tmp_path):
        statement_path(tmp_path / "out").mkdir()
        with pytest.raises(OutputError, match="is a directory"):
            write_release(release(), tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_text(self, tmp_path):
        write_text(tmp_path / "a", "é")
        assert (tmp_path / "a").read_bytes() == "é".encode()

    def test_onto_its_own_input(self, tmp_path):
        write_log(LOG, tmp_path / "log", LogForm("csv", ()))
        write_log(read_log(tmp_path / "log"), tmp_path / "log")
        assert len(read_log(tmp_path / "log")) == 3
