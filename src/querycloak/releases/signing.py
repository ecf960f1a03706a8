"""Signatures of statements with Ed25519: who holds the public key can tell who wrote a release.

A digest finds accidents. It stops nobody who can change both files, since anyone can compute it. A signature can be
made by the holder of the private key alone. It says who wrote the pair and that it is unchanged; it does not say that
the writer was honest about the log.

Keys are files: a private one in PEM (PKCS8, not encrypted) or of OpenSSH, a public one in PEM or of OpenSSH. A key is
named by the fingerprint that `ssh-keygen -l` shows. The library `cryptography` is optional and imported where it is
used.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from querycloak.errors import InputError, OutputError, UserError
from querycloak.logs.atomic import PRIVATE, check_output, write_text
from querycloak.logs.guarded import guarded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["PublicKey", "Signature", "SigningKey", "new_key_pair", "read_public_key", "read_signing_key"]

PURPOSE: Final = b"querycloak statement\n"
"""What is signed begins with this: a signature that the same key made for another purpose cannot be used here."""
LONGEST_KEY: Final = 1 << 16
OPENSSH: Final = b"-----BEGIN OPENSSH PRIVATE KEY-----"
SSH_NAME: Final = b"ssh-ed25519"


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a statement's file says about its signature."""

    algorithm: Literal["ed25519"]
    key: str
    """fingerprint of the key; anybody can write one here, only a check with the public key proves it"""
    value: str
    """64 bytes in hexadecimal"""


class SigningKey:
    """A private key. Its repr shows the fingerprint alone."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = PublicKey(private.public_key())

    def __repr__(self) -> str:
        return f"SigningKey({self.public.fingerprint})"

    def sign(self, content: bytes) -> Signature:
        """Sign the canonical bytes of a statement."""
        return Signature("ed25519", self.public.fingerprint, self._private.sign(PURPOSE + content).hex())


class PublicKey:
    """A public key."""

    def __init__(self, public: Ed25519PublicKey) -> None:
        self._public = public
        self.fingerprint = _fingerprint(public.public_bytes_raw())

    def __repr__(self) -> str:
        return f"PublicKey({self.fingerprint})"

    def made(self, signature: Signature, content: bytes) -> bool:
        """Tell whether the holder of this key signed just these bytes."""
        from cryptography.exceptions import InvalidSignature

        try:
            value = bytes.fromhex(signature.value)
            self._public.verify(value, PURPOSE + content)
        except (ValueError, InvalidSignature):
            return False
        return signature.key == self.fingerprint and signature.value == value.hex()


def new_key_pair(path: str | Path) -> str:
    """Write a new private key, which only its owner may read, and the public key next to it; return the fingerprint.

    The public key goes to the same name with `.pub`. A file that is there is never overwritten: a lost private key
    cannot be made again.
    """
    _need_cryptography()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private_path, public_path = check_output(path), check_output(f"{path}.pub")
    for there in (private_path, public_path):
        if there.exists() or there.is_symlink():
            raise OutputError(f"{there}: is already there, and a key is never overwritten; choose another name.")
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    write_text(private_path, private.decode(), mode=PRIVATE)
    write_text(public_path, public.decode())
    return PublicKey(key.public_key()).fingerprint


def read_signing_key(path: str | Path) -> SigningKey:
    """Read a private key that is not encrypted."""
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = _content(path)
    read = form.load_ssh_private_key if content.startswith(OPENSSH) else form.load_pem_private_key
    try:
        key = read(content, password=None)
    except TypeError:  # a password is needed and none was given
        raise InputError.at(path, "is encrypted; give a key without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        if b"encrypted" in content.lower() or (content.startswith(OPENSSH) and b"bcrypt" in _decoded(content)):
            raise InputError.at(path, "is encrypted; give a key without a password") from None
        raise InputError.at(
            path, "not a private key in PEM or of OpenSSH; `querycloak keys new FILE` makes one"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError.at(path, "not an Ed25519 key; `querycloak keys new FILE` makes one")
    return SigningKey(key)


def read_public_key(path: str | Path) -> PublicKey:
    """Read a public key."""
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = _content(path)
    if b"PRIVATE KEY" in content:
        raise InputError.at(path, "is a private key, which its owner keeps; give the public one, as in KEYFILE.pub")
    read = form.load_ssh_public_key if content.startswith(b"ssh-") else form.load_pem_public_key
    try:
        key = read(content)
    except (ValueError, UnsupportedAlgorithm):
        raise InputError.at(path, "not a public key in PEM or of OpenSSH") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError.at(path, "not an Ed25519 key")
    return PublicKey(key)


def _content(path: str | Path) -> bytes:
    with guarded(Path(path)), Path(path).open("rb") as file:
        return file.read(LONGEST_KEY)


def _decoded(content: bytes) -> bytes:
    """Return what is between the lines of a PEM file; nothing where that is no base64."""
    body = b"".join(line for line in content.splitlines() if not line.startswith(b"-----"))
    try:
        return base64.b64decode(body)
    except ValueError:
        return b""


def _fingerprint(raw: bytes) -> str:
    """Return the name of a key of 32 bytes as OpenSSH writes it."""
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in (SSH_NAME, raw))
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _need_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise UserError(
            "Signatures need the library `cryptography`, which is not installed: pip install 'querycloak[sign]'."
        ) from None
