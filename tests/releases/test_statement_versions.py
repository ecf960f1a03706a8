"""Statements of older versions are still read: what was published stays there."""

from __future__ import annotations

import json

import pytest

import querycloak as qc
from querycloak.errors import InputError
from querycloak.releases.files import read_release, read_statement, statement_path
from querycloak.releases.signing import new_key_pair

TABLE = "user\tquery\nx1\ttea\nx2\ttea\nx1\tgreen tea\n"
VERSION_2 = (
    '{"version": 2, "kind": "log", "statement": {"method": "example", "settings": {"k": 2, "mode": "x", "limit'
    '": null}, "version": "0.0", "model": "none", "parameters": {"k": 2.0}, "unit": "none", "text_users": 1, "'
    'identifiers_dropped": false, "covers": [], "does_not_cover": ["queries are published as they were"], "ass'
    'umptions": [], "randomness": "seed 1", "new_ids": true, "columns": ["user", "query"], "counts_in": {"rows'
    '": 3}, "counts_out": {"rows": 3}, "dropped": {"rare queries": 0}, "figures": {"loss": 0.25}}, "form": {"f'
    'ormat": "tsv", "columns": [{"name": "user", "role": "user", "kind": "text", "null": false, "path": []}, {'
    '"name": "query", "role": "query", "kind": "text", "null": false, "path": []}], "header": true, "compressi'
    'on": "", "time_format": "%Y-%m-%d %H:%M:%S", "line_end": "\\n", "last_line_end": true, "bom": false, "quot'
    'ing": "needed", "json_spaces": false, "json_ascii": false}, "release_sha256": "ee698775de72887e5cf9d69e17'
    'ab4860b80f4e4c7738bfa184bfcdc2e72a13df", "digest": "1380d63681b2a1e3a09cad0952ca044b6900795b4f38811fa5c14'
    '80bd0d9a49d"}'
)
"""What version 2 wrote for that table; never to be made again by newer code."""

VERSION_3 = (
    '{"version": 3, "kind": "log", "statement": {"method": "example", "settings": {"k": 2, "mode": "x", "limit'
    '": null}, "version": "0.0", "model": "none", "parameters": {"k": 2.0}, "unit": "none", "text_users": 1, "'
    'identifiers_dropped": false, "covers": [], "does_not_cover": ["queries are published as they were"], "ass'
    'umptions": [], "randomness": "seed 1", "new_ids": true, "columns": ["user", "query"], "command": "querycl'
    'oak anonymize log.tsv", "input_commitment": "no commitment: no truth file was kept", "counts_in": {"rows"'
    ': 3}, "counts_out": {"rows": 3}, "dropped": {"rare queries": 0}, "figures": {"loss": 0.25}}, "form": {"fo'
    'rmat": "tsv", "columns": [{"name": "user", "role": "user", "kind": "text", "null": false, "path": []}, {"'
    'name": "query", "role": "query", "kind": "text", "null": false, "path": []}], "header": true, "compressio'
    'n": "", "time_format": "%Y-%m-%d %H:%M:%S", "line_end": "\\n", "last_line_end": true, "bom": false, "quoti'
    'ng": "needed", "json_spaces": false, "json_ascii": false}, "release_sha256": "ee698775de72887e5cf9d69e17a'
    'b4860b80f4e4c7738bfa184bfcdc2e72a13df", "digest": "5680f5f8f7fc427ff387ba6b901021ae800d0d382b1e7a29615363'
    '870f9814a9", "signature": null}'
)
"""What version 3 wrote for that table; never to be made again by newer code."""

VERSION_4 = (
    '{"version": 4, "kind": "log", "statement": {"method": "example", "settings": {"k": 2, "mode": "x", "limi'
    't": null}, "version": "0.0", "model": "none", "parameters": {"k": 2.0}, "unit": "none", "text_users": 1,'
    ' "parts": false, "identifiers_dropped": false, "time_grain": "", "click_users": 0, "covers": [], "does_n'
    'ot_cover": ["queries are published as they were"], "assumptions": [], "randomness": "seed 1", "new_ids":'
    ' true, "ids": "person", "columns": ["user", "query"], "command": "querycloak anonymize log.tsv", "input_'
    'commitment": "no commitment: no truth file was kept", "counts_in": {"rows": 3}, "counts_out": {"rows": 3'
    '}, "dropped": {"rare queries": 0}, "figures": {"loss": 0.25}}, "form": {"format": "tsv", "columns": [{"n'
    'ame": "user", "role": "user", "kind": "text", "null": false, "path": []}, {"name": "query", "role": "que'
    'ry", "kind": "text", "null": false, "path": []}], "header": true, "compression": "", "time_format": "%Y-'
    '%m-%d %H:%M:%S", "line_end": "\\n", "last_line_end": true, "bom": false, "quoting": "needed", "json_space'
    's": false, "json_ascii": false}, "release_sha256": "ee698775de72887e5cf9d69e17ab4860b80f4e4c7738bfa184bf'
    'cdc2e72a13df", "digest": "f2ba7376c20c3bfe2dd0339c182e24d0355746000f1e7559dc4521a599e8dad5", "signature"'
    ": null}"
)
"""What version 4 wrote for that table; never to be made again by newer code."""

VERSION_5 = (
    '{"version": 5, "kind": "log", "statement": {"method": "example", "settings": {"k": 2, "mode": "x", "'
    'limit": null}, "version": "0.0", "model": "none", "parameters": {"k": 2.0}, "unit": "none", "text_us'
    'ers": 1, "parts": false, "identifiers_dropped": false, "time_grain": "", "click_users": 0, "covers":'
    ' [], "does_not_cover": ["queries are published as they were"], "assumptions": [], "randomness": "see'
    'd 1", "new_ids": true, "ids": "person", "columns": ["user", "query"], "command": "querycloak anonymi'
    'ze log.tsv", "input_commitment": "no commitment: no truth file was kept", "counts_in": {"rows": 3}, '
    '"counts_out": {"rows": 3}, "dropped": {"rare queries": 0}, "figures": {"loss": 0.25}}, "form": {"for'
    'mat": "tsv", "columns": [{"name": "user", "role": "user", "kind": "text", "null": false, "path": []}'
    ', {"name": "query", "role": "query", "kind": "text", "null": false, "path": []}], "header": true, "c'
    'ompression": "", "time_format": "%Y-%m-%d %H:%M:%S", "line_end": "\\n", "last_line_end": true, "bom":'
    ' false, "quoting": "needed", "json_spaces": false, "json_ascii": false}, "release_sha256": "ee698775'
    'de72887e5cf9d69e17ab4860b80f4e4c7738bfa184bfcdc2e72a13df", "digest": "d99e91481b74122752cd9385043ea1'
    '47f3b47110c75316978b70f85f956bad63", "signature": null}'
)
"""What version 5 wrote for that table; never to be made again by newer code."""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "old.tsv").write_text(TABLE)
    statement_path(tmp_path / "old.tsv").write_text(VERSION_2)
    return tmp_path / "old.tsv"


def test_version_2_is_read(path):
    statement = read_statement(path)
    assert (statement.method, statement.command, statement.input_commitment) == ("example", "", "")
    assert len(read_release(path).log) == 3


def test_version_2_is_verified_as_unsigned(path):
    found = qc.verify(path, qc.QueryLog.of(["ann"], ["tea"]))
    assert found[0].seen.startswith("unsigned")
    assert found[1].holds is True
    assert found[-1].holds is None
    assert "a version without a commitment" in found[-1].seen


def test_version_2_fails_under_a_public_key(path, tmp_path):
    new_key_pair(tmp_path / "key")
    first = qc.verify(path, public_key=tmp_path / "key.pub")[0]
    assert (first.holds, first.seen) == (False, "the statement is unsigned")


@pytest.mark.parametrize(
    "change",
    [
        lambda file: {**file, "statement": {**file["statement"], "method": "better"}},
        lambda file: {**file, "statement": {**file["statement"], "command": "querycloak"}},
        lambda file: {**file, "signature": None},
        lambda file: {**file, "version": 3},
        lambda file: {**file, "version": 4},
        lambda file: {**file, "version": 5},
        lambda file: {**file, "version": 6},
    ],
)
def test_version_2_that_was_edited_is_refused(path, change):
    statement_path(path).write_text(json.dumps(change(json.loads(VERSION_2))))
    with pytest.raises(InputError, match="edited after it was written"):
        read_statement(path)


@pytest.mark.parametrize("version", [1, 7])
def test_other_versions_are_refused(path, version):
    statement_path(path).write_text(json.dumps({**json.loads(VERSION_2), "version": version}))
    with pytest.raises(InputError, match="this QueryCloak reads version 2 to 6"):
        read_statement(path)


def test_version_3_is_read_and_has_no_parts_of_queries(path):
    statement_path(path).write_text(VERSION_3)
    statement = read_statement(path)
    assert (statement.command, statement.parts) == ("querycloak anonymize log.tsv", False)
    assert qc.verify(path)[1].holds is True


@pytest.mark.parametrize("parts", [False, True])
def test_version_3_with_a_later_field_is_refused(path, parts):
    file = json.loads(VERSION_3)
    statement_path(path).write_text(json.dumps({**file, "statement": {**file["statement"], "parts": parts}}))
    with pytest.raises(InputError, match="edited after it was written"):
        read_statement(path)


def test_version_4_is_read_and_has_no_account(path):
    statement_path(path).write_text(VERSION_4)
    statement = read_statement(path)
    assert (statement.ids, statement.account) == ("person", ())
    assert qc.verify(path)[1].holds is True


def test_version_4_with_an_account_is_refused(path):
    file = json.loads(VERSION_4)
    statement_path(path).write_text(json.dumps({**file, "statement": {**file["statement"], "account": []}}))
    with pytest.raises(InputError, match="edited after it was written"):
        read_statement(path)


def test_version_5_is_read_and_names_no_mapping(path):
    statement_path(path).write_text(VERSION_5)
    statement = read_statement(path)
    assert (statement.account, statement.mapping) == ((), "")
    assert qc.verify(path)[1].holds is True


def test_version_5_with_a_mapping_is_refused(path):
    file = json.loads(VERSION_5)
    statement_path(path).write_text(json.dumps({**file, "statement": {**file["statement"], "mapping": "phrases"}}))
    with pytest.raises(InputError, match="edited after it was written"):
        read_statement(path)
