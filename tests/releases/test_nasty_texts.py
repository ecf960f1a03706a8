"""Whatever texts a release has: what is written is read as it was and verified, or refused before a byte is there."""

from __future__ import annotations

import json

import pytest

import querycloak as qc
from querycloak.errors import OutputError
from querycloak.logs.problems import LONGEST_LINE
from querycloak.releases.files import read_release
from querycloak.releases.verify import verify

TEXTS = [
    "null", "NULL", "None", "NaN", "nan", "inf", "True", "true", "1e5", "007", "-0", "1,5", "0x10", "2024-01-02", "[]",
    "{}", '{"a":1}', "[x]", "  lead", "trail  ", 'say "x"', '"', "'", "''", "\\", "\\n", "a\\tb", ",", ";", "|", "#x",
    "<b>", "\u2028x", "\x85", "\ufeffz", "z\ufeff", "é", "e\u0301", "😀", "=1", "\u200b", "\x1b[2J", "\x7f", "a\x0bb",
    "a\x0cb", "\x1c", "\ufffd", "\U0010ffff\ufffe", "user", "user,query", "a\rb", "x" * 70_000,
]  # fmt: skip
BROKEN = ["a\tb", "a\nb", "a\r\nb", "user\tquery", "tea\r"]
"""what a table without quotes cannot hold"""
FORMS = ["o.tsv", "o.csv", "o.jsonl", "o.json", "o.parquet", "o.csv.gz", "o.jsonl.zst"]


def released(tmp_path, texts):
    rows = [{"user": f"00{u}", "query": text} for u in range(3) for text in texts]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    log = qc.read_log(tmp_path / "log.jsonl", yes=True)
    return log, qc.anonymize(log, "sweep", min_query_users=2, identifiers="keep", rare="keep", seed=1)


def texts_of(release):
    return release.log.queries.gather(release.log.query).to_list()


@pytest.mark.parametrize("name", FORMS)
def test_written_read_verified(tmp_path, name):
    texts = TEXTS if ".tsv" in name else TEXTS + BROKEN
    log, release = released(tmp_path, texts)
    assert set(texts_of(release)) == set(texts)
    qc.write_release(release, tmp_path / name)
    assert texts_of(read_release(tmp_path / name)) == texts_of(release)
    assert all(finding.holds is not False for finding in verify(tmp_path / name, log))


@pytest.mark.parametrize("text", [*BROKEN, "a\0b"])
def test_what_tsv_cannot_hold_is_refused(tmp_path, text):
    _, release = released(tmp_path, ["tea", text])
    with pytest.raises(OutputError, match="cannot hold"):
        qc.write_release(release, tmp_path / "o.tsv")
    assert not (tmp_path / "o.tsv").exists()


def test_tables_refuse_a_nul(tmp_path):
    log, release = released(tmp_path, ["tea", "a\0b"])
    for name in ("o.csv", "o.parquet"):
        with pytest.raises(OutputError, match="NUL"):
            qc.write_release(release, tmp_path / name)
        assert not (tmp_path / name).exists()
    qc.write_release(release, tmp_path / "o.jsonl")
    assert all(finding.holds is not False for finding in verify(tmp_path / "o.jsonl", log))


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.jsonl", "o.json", "o.parquet"])
def test_a_row_that_no_reader_takes_is_refused(tmp_path, name):
    log = qc.QueryLog.of([f"00{u}" for u in range(3)], ["x" * (LONGEST_LINE + 1)] * 3)
    release = qc.anonymize(log, "sweep", min_query_users=2, identifiers="keep", rare="keep", seed=1)
    assert len(release.log)
    with pytest.raises(OutputError, match="1,048,576 bytes"):
        qc.write_release(release, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_row_that_apostrophes_make_too_long_is_refused(tmp_path):
    _, release = released(tmp_path, [",=" * (LONGEST_LINE // 2 - 60)])
    with pytest.raises(OutputError, match="1,048,576 bytes"):
        qc.write_release(release, tmp_path / "o.csv")
    qc.write_release(release, tmp_path / "o.csv", safe_csv=False)
    assert texts_of(read_release(tmp_path / "o.csv")) == texts_of(release)
