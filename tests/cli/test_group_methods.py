"""Microaggregation from the command line, as a data steward meets it."""

from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused
from samples import sample_log

from querycloak.logs.sink import write_log


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    write_log(sample_log(), path)
    return path


@pytest.fixture
def directory(tmp_path):
    path = tmp_path / "sites.tsv"
    path.write_text(
        "site\tcategory\ntea.example\tTop/Home/Tea\nsport.example\tTop/Sports\nhealth.example\tTop/Health\n"
    )
    return path


@pytest.mark.parametrize("family", ["semantic", "plain", "syntactic", "word"])
def test_anonymize_then_verify(log, tmp_path, family):
    out, method = tmp_path / "release.tsv", f"{family}-microaggregation"
    done = querycloak("anonymize", log, "-o", out, "--method", method, "--k", 4, "--min-query-users", 2)
    assert done.returncode == 0, done.stderr
    assert "guarantee: k-anonymity of users, k = 4" in done.stdout
    checked = querycloak("verify", out)
    assert checked.returncode == 0
    assert "holds  every published user shares its log with at least 3 others: groups of 4" in checked.stdout


def test_url_microaggregation_takes_a_directory_and_a_resolver(log, directory, tmp_path):
    table = tmp_path / "resolver.tsv"
    table.write_text("query\turl\nwindsurfing\thttp://sport.example/\n")
    out = tmp_path / "release.tsv"
    words = ["anonymize", log, "-o", out, "--method", "url-microaggregation", "--levels", 2, "--k", 3]
    done = querycloak(*words, "--directory", directory, "--resolver", table)
    assert done.returncode == 0, done.stderr
    assert querycloak("verify", out).returncode == 0
    refused(querycloak(*words), "--directory")


def test_refine_and_blocks_are_options(log, tmp_path):
    out = tmp_path / "release.tsv"
    words = ["anonymize", log, "-o", out, "--method", "semantic-microaggregation", "--k", 3]
    done = querycloak(*words, "--refine", "--blocks", 8)
    assert done.returncode == 0, done.stderr
    assert "topical blocks" in done.stderr
    figures = json.loads((tmp_path / "release.tsv.statement.json").read_text())["statement"]["figures"]
    assert figures["blocks"] == 3
    message = refused(querycloak(*words, "--blocks", "many"))
    assert "blocks must be auto, off, or a number of users >= 2k (6), got 'many'" in message


def test_a_tampered_release_exits_with_1(log, tmp_path):
    out = tmp_path / "release.tsv"
    querycloak("anonymize", log, "-o", out, "--method", "semantic-microaggregation", "--k", 4)
    lines = out.read_text().splitlines()
    out.write_text("\n".join([*lines[:-1], lines[-1] + " more"]) + "\n")
    done = querycloak("verify", out)
    assert done.returncode == 1
    assert "FAILS  every published user" in done.stdout
    assert "checks failed" in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_input_is_refused_with_one_sentence(log, directory, tmp_path):
    out = tmp_path / "release.tsv"
    words = ["anonymize", log, "-o", out, "--method"]
    refused(querycloak(*words, "semantic-microaggregation", "--k", 1), "k must be an integer >= 2, got 1")
    refused(querycloak(*words, "semantic-microaggregation", "--k", 99), "need at least 99 users", "the log has 24")
    narrow = tmp_path / "narrow.tsv"
    narrow.write_text("site\ntea.example\n")
    refused(querycloak(*words, "url-microaggregation", "--directory", narrow), "narrow.tsv", "line 1")
    cut = tmp_path / "content.rdf.u8"
    cut.write_text(
        '<?xml version="1.0"?>\n<RDF xmlns:r="http://r">\n<Topic r:id="Top/Arts">\n<link r:resource="http://a.b'
    )
    refused(querycloak(*words, "url-microaggregation", "--directory", cut), "content.rdf.u8", "line 4")
    table = tmp_path / "resolver.tsv"
    table.write_text("query\turl\nonly one field\n")
    message = refused(
        querycloak(*words, "url-microaggregation", "--directory", directory, "--resolver", table), "line 2"
    )
    assert "only one" not in message
    plain = tmp_path / "plain.tsv"
    plain.write_text("user\tquery\na\ttea\nb\ttea\n")
    done = querycloak("anonymize", plain, "-o", out, "--method", "url-microaggregation", "--directory", directory)
    refused(done, "no clicked URLs", "--resolver")
    assert not out.exists()
