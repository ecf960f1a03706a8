"""A signature tells who wrote a release; without one nobody can, and `verify` says so."""

from __future__ import annotations

import base64
import json
import shutil
import stat
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import sample_log

import querycloak as qc
from querycloak.errors import InputError, OutputError, QueryCloakError, UserError
from querycloak.releases.files import statement_path
from querycloak.releases.signing import new_key_pair, read_public_key, read_signing_key

FINGERPRINT = "SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA"
"""What `ssh-keygen -lf` shows for the public key 00 01 .. 1f."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A signed release, an unsigned one, and two pairs of keys."""
    path = tmp_path_factory.mktemp("signed")
    new_key_pair(path / "key")
    new_key_pair(path / "foreign")
    release = qc.anonymize(sample_log(), "semantic-microaggregation", k=4, seed=1)
    qc.write_release(release, path / "signed.tsv", sign=path / "key")
    qc.write_release(release, path / "unsigned.tsv")
    return path


@pytest.fixture
def copy(folder, tmp_path):
    """A copy to spoil."""
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def failed(path, key):
    return [(f.check, f.seen) for f in qc.verify(path, public_key=key) if f.holds is False]


class TestVerify:
    def test_a_signed_release_holds_under_its_key(self, folder):
        first = qc.verify(folder / "signed.tsv", public_key=folder / "key.pub")[0]
        assert first.holds is True
        assert read_public_key(folder / "key.pub").fingerprint in first.seen
        assert failed(folder / "signed.tsv", folder / "key.pub") == []

    def test_a_foreign_key_fails(self, folder):
        [(check, seen)] = failed(folder / "signed.tsv", folder / "foreign.pub")
        assert check == "the statement is signed with this key"
        assert read_public_key(folder / "key.pub").fingerprint in seen

    def test_an_unsigned_statement_fails(self, folder):
        assert [seen for _, seen in failed(folder / "unsigned.tsv", folder / "key.pub")] == [
            "the statement is unsigned"
        ]

    def test_without_a_key_the_signer_is_named_and_not_trusted(self, folder):
        first = qc.verify(folder / "signed.tsv")[0]
        assert first.holds is None
        assert "give --public-key to check" in first.seen

    def test_unsigned_says_what_a_digest_can_and_cannot_show(self, folder):
        first = qc.verify(folder / "unsigned.tsv")[0]
        assert first.holds is None
        for part in ("unsigned", "accidents", "edited alone", "can write a new pair"):
            assert part in first.seen
        assert json.loads(statement_path(folder / "unsigned.tsv").read_text())["signature"] is None

    def test_a_new_pair_by_somebody_else_fails(self, copy):
        """Both files are replaced, and all digests agree."""
        other = qc.anonymize(sample_log(), "semantic-microaggregation", k=3, seed=2)
        for key in (None, copy / "foreign"):
            qc.write_release(other, copy / "signed.tsv", sign=key)
            assert len(failed(copy / "signed.tsv", copy / "key.pub")) == 1

    def test_a_foreign_signature_under_our_fingerprint_fails(self, copy):
        qc.write_release(qc.anonymize(sample_log(), "sweep", seed=2), copy / "signed.tsv", sign=copy / "foreign")
        path = statement_path(copy / "signed.tsv")
        ours, theirs = (read_public_key(copy / name).fingerprint for name in ("key.pub", "foreign.pub"))
        path.write_text(path.read_text().replace(theirs, ours))
        assert [check for check, _ in failed(copy / "signed.tsv", copy / "key.pub")] == [
            "the statement is signed with this key"
        ]

    def test_an_edited_statement_with_a_new_digest_fails(self, copy):
        from querycloak.releases.statement_file import decode_statement

        path = statement_path(copy / "signed.tsv")
        file = decode_statement(path.read_bytes())
        file.statement.parameters["k"] = 2.0
        file.digest = file.own_digest()
        path.write_bytes(file.encode())
        assert "edited after it was signed" in failed(copy / "signed.tsv", copy / "key.pub")[0][1]
        assert qc.verify(copy / "signed.tsv")[0].holds is None  # without the key nobody can tell

    @pytest.mark.parametrize("change", [lambda text: text.replace('"k": 4.0', '"k": 9.0'), lambda text: text[:-30]])
    def test_an_edited_statement_is_a_check_that_fails(self, copy, change):
        path = statement_path(copy / "signed.tsv")
        path.write_text(change(path.read_text()))
        assert [check for check, _ in failed(copy / "signed.tsv", copy / "key.pub")] == [
            "the statement is signed with this key"
        ]
        with pytest.raises(InputError):
            qc.verify(copy / "signed.tsv")

    def test_a_table_that_cannot_be_read_any_more_is_a_check_that_fails(self, copy):
        (copy / "signed.tsv").write_bytes(b"\xff\xfe\x00")
        checks = [check for check, _ in failed(copy / "signed.tsv", copy / "key.pub")]
        assert checks[0] == "the table is the one its statement was written for"

    def test_a_sentence_put_into_the_statement_is_found_without_a_key(self, copy):
        path = statement_path(copy / "unsigned.tsv")
        file = json.loads(path.read_text())
        file["statement"]["promise"] = "nobody can be found"
        path.write_text(json.dumps(file))
        with pytest.raises(InputError, match="edited after it was written"):
            qc.verify(copy / "unsigned.tsv")


def noticed(path, key) -> bool:
    try:
        return bool(failed(path, key))
    except QueryCloakError:
        return True


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_changed_byte_of_table_or_statement_is_noticed(folder, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "signed.tsv"
    for source, target in (
        (folder / "signed.tsv", path),
        (statement_path(folder / "signed.tsv"), statement_path(path)),
    ):
        target.write_bytes(source.read_bytes())
    assert not noticed(path, folder / "key.pub")
    victim = data.draw(st.sampled_from([path, statement_path(path)]))
    content = bytearray(victim.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    victim.write_bytes(bytes(content))
    assert noticed(path, folder / "key.pub")


def test_spaces_of_the_statement_are_part_of_what_is_signed(copy):
    path = statement_path(copy / "signed.tsv")
    path.write_bytes(path.read_bytes().replace(b"{\n  ", b"{\n\t ", 1))
    assert failed(copy / "signed.tsv", copy / "key.pub")


class TestKeys:
    def test_the_private_key_is_for_its_owner_alone(self, folder):
        assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
        assert b"PRIVATE" not in (folder / "key.pub").read_bytes()

    @pytest.mark.parametrize("there", ["key", "key.pub"])
    def test_no_key_is_overwritten(self, tmp_path, there):
        (tmp_path / there).write_text("before")
        with pytest.raises(OutputError, match="never overwritten"):
            new_key_pair(tmp_path / "key")
        assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(there, "before")]

    def test_keys_of_openssh(self, folder, tmp_path):
        key = Ed25519PrivateKey.generate()
        plain = form.NoEncryption()
        (tmp_path / "key").write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, plain))
        public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
        (tmp_path / "key.pub").write_bytes(public + b" ann@example.org\n")
        qc.write_release(qc.anonymize(sample_log(), "sweep", seed=1), tmp_path / "r.tsv", sign=tmp_path / "key")
        assert failed(tmp_path / "r.tsv", tmp_path / "key.pub") == []

    def test_the_fingerprint_is_that_of_openssh(self, tmp_path):
        raw = bytes(range(32))
        blob = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20" + raw
        (tmp_path / "key.pub").write_bytes(b"ssh-ed25519 " + base64.b64encode(blob) + b"\n")
        assert read_public_key(tmp_path / "key.pub").fingerprint == FINGERPRINT

    def test_what_is_no_key_is_refused(self, folder, tmp_path):
        (tmp_path / "none").write_text("no key")
        for read in (read_signing_key, read_public_key):
            with pytest.raises(InputError, match="not a p"):
                read(tmp_path / "none")
            with pytest.raises(InputError, match="there is no such file"):
                read(tmp_path / "missing")
        with pytest.raises(InputError, match="is a private key"):
            read_public_key(folder / "key")
        with pytest.raises(InputError, match="not a private key"):
            read_signing_key(folder / "key.pub")

    def test_a_key_of_another_kind_is_refused(self, tmp_path):
        key = generate_private_key(SECP256R1())
        pem, plain = form.Encoding.PEM, form.NoEncryption()
        (tmp_path / "key").write_bytes(key.private_bytes(pem, form.PrivateFormat.PKCS8, plain))
        (tmp_path / "pub").write_bytes(key.public_key().public_bytes(pem, form.PublicFormat.SubjectPublicKeyInfo))
        with pytest.raises(InputError, match="not an Ed25519 key"):
            read_signing_key(tmp_path / "key")
        with pytest.raises(InputError, match="not an Ed25519 key"):
            read_public_key(tmp_path / "pub")

    def test_an_encrypted_key_is_refused(self, tmp_path):
        secret = form.BestAvailableEncryption(b"word")
        content = Ed25519PrivateKey.generate().private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, secret)
        (tmp_path / "key").write_bytes(content)
        with pytest.raises(InputError, match="is encrypted"):
            read_signing_key(tmp_path / "key")

    def test_no_repr_shows_the_key(self, folder):
        key = read_signing_key(folder / "key")
        assert repr(key) == f"SigningKey({key.public.fingerprint})"


class TestWithoutTheLibrary:
    def test_a_missing_library_is_one_sentence(self, folder, monkeypatch):
        monkeypatch.setitem(sys.modules, "cryptography", None)
        for call in (
            lambda: read_public_key(folder / "key.pub"),
            lambda: read_signing_key(folder / "key"),
            lambda: new_key_pair(folder / "other"),
        ):
            with pytest.raises(UserError, match=r"pip install 'querycloak\[sign\]'"):
                call()

    @pytest.mark.slow
    def test_unsigned_releases_do_not_import_it(self, folder):
        path = str(folder / "signed.tsv")
        code = f"import sys, querycloak as qc; qc.verify({path!r}); print('cryptography' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"
