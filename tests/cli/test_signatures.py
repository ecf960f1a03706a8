"""`anonymize --sign`, `verify --public-key` and `keys new`, as a steward uses them."""

from __future__ import annotations

import json
import stat

import pytest
from command import querycloak, refused
from samples import sample_log

import querycloak as qc
from querycloak.cli.command_line import shown_command
from querycloak.logs.form import LogForm


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "private").mkdir()
    qc.write_log(sample_log(), tmp_path / "private" / "log.csv", LogForm("csv", ()))
    assert querycloak("keys", "new", "key", cwd=tmp_path).returncode == 0
    return tmp_path


def anonymize(folder, *more):
    log = folder / "private" / "log.csv"
    return querycloak("anonymize", log, "-o", "r.tsv", "-m", "sweep", "--quiet", *more, cwd=folder)


def statement(folder):
    return json.loads((folder / "r.tsv.statement.json").read_text())


def test_keys_new(tmp_path):
    done = querycloak("keys", "new", "key", cwd=tmp_path)
    assert "SHA256:" in done.stdout
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    refused(querycloak("keys", "new", "key", cwd=tmp_path), "never overwritten")


def test_sign_and_verify(folder):
    done = anonymize(folder, "--sign", "key", "--truth", "truth")
    assert "signature: Ed25519, key SHA256:" in done.stdout
    done = querycloak("verify", "r.tsv", "--public-key", "key.pub", cwd=folder)
    assert done.returncode == 0
    assert " holds  the statement is signed with this key" in done.stdout
    log = ("--log", "private/log.csv")
    done = querycloak("verify", "r.tsv", *log, "--truth", "truth", "--quiet", cwd=folder)
    assert done.returncode == 0
    assert " holds  the release was made from exactly this log" in done.stdout


def test_unsigned_is_said(folder):
    assert "signature: unsigned" in anonymize(folder).stdout
    assert statement(folder)["signature"] is None
    done = querycloak("verify", "r.tsv", cwd=folder)
    assert done.returncode == 0
    assert "whoever can change both files can write a new pair" in done.stdout
    done = querycloak("verify", "r.tsv", "--public-key", "key.pub", cwd=folder)
    assert done.returncode == 1
    assert " FAILS  the statement is signed with this key: the statement is unsigned" in done.stdout


@pytest.mark.parametrize("name", ["r.tsv", "r.tsv.statement.json"])
def test_an_edited_file_fails(folder, name):
    anonymize(folder, "--sign", "key")
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace("tea", "ale", 1) if name == "r.tsv" else text.replace("sweep", "swept", 1))
    done = querycloak("verify", "r.tsv", "--public-key", "key.pub", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("FAILS") == 1


def test_what_is_no_key_is_refused_before_any_work(folder):
    refused(anonymize(folder, "--sign", "private/log.csv"), "not a private key")
    assert not (folder / "r.tsv").exists()
    anonymize(folder)
    refused(querycloak("verify", "r.tsv", "--public-key", "r.tsv", cwd=folder), "not a public key")
    refused(querycloak("verify", "r.tsv", "--public-key", "key", cwd=folder), "is a private key")
    refused(querycloak("verify", "r.tsv", "--truth", "r.tsv", cwd=folder), "--log")


def test_a_key_is_not_overwritten_by_a_release(folder):
    done = querycloak("anonymize", "private/log.csv", "-o", "key", "-m", "sweep", "--sign", "key", cwd=folder)
    refused(done, "is also the input key")


def test_nothing_to_sign_is_refused(folder):
    done = querycloak("anonymize", "private/log.csv", "-o", "-", "-m", "sweep", "--sign", "key", cwd=folder)
    refused(done, "--statement FILE")


def test_the_command_is_stated_without_directories_and_without_the_seed(folder):
    anonymize(folder, "--seed", "271828", "--truth", folder / "truth")
    assert statement(folder)["statement"]["command"] == (
        "querycloak anonymize log.csv -o r.tsv -m sweep --quiet --seed HIDDEN --truth truth"
    )
    text = (folder / "r.tsv.statement.json").read_text()
    for secret in ("271828", "private", folder.name):
        assert secret not in text


def test_a_name_that_is_no_text_can_be_stated():
    assert shown_command(["querycloak", "a\udcff.tsv"]) == "querycloak 'a?.tsv'"


def test_a_stream_is_signed_too(folder):
    done = querycloak(
        *("stream", "-i", "private/log.csv", "-o", "r.tsv", "--k", "2", "--sign", "key", "--truth", "t"), cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "signature: Ed25519, key SHA256:" in done.stderr
    assert statement(folder)["statement"]["input_commitment"].startswith("no commitment: the records of a stream")
    assert statement(folder)["statement"]["command"].startswith("querycloak stream -i log.csv")
    assert querycloak("verify", "r.tsv", "--public-key", "key.pub", cwd=folder).returncode == 0
    done = querycloak("stream", "-i", "private/log.csv", "--sign", "key", cwd=folder)
    refused(done, "--statement FILE")
