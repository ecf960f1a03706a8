"""The secret of which shards make their ids: one file of 32 bytes, which only its owner may read.

Whoever has it can tell which id is whose. It is made once, by the first command that asks for it, and nobody removes it
but the user: as long as it is there, a shard that is added later publishes a person under the same id.
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, OutputError
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["IdSecret", "make_secret", "read_secret", "secret_of_seed"]

SECRET_BYTES: Final = 32


@dataclass(frozen=True, repr=False)
class IdSecret:
    """What the ids of all shards are made of."""

    value: bytes

    def __repr__(self) -> str:
        return "IdSecret()"

    @property
    def run_key(self) -> bytes:
        """The key of ids that stay the same throughout a run."""
        return blake2b(key=self.value, digest_size=16, person=b"querycloak run").digest()

    @property
    def period_key(self) -> bytes:
        """The key of ids of an epoch or a day."""
        return blake2b(key=self.value, digest_size=32, person=b"querycloak perio").digest()

    @property
    def fingerprint(self) -> str:
        """What tells two secrets apart, and nothing of them."""
        return blake2b(key=self.value, digest_size=8, person=b"querycloak print").hexdigest()


def secret_of_seed(seed: int) -> IdSecret:
    """Return the secret of an experiment."""
    return IdSecret(Randomness(seed).child("secret of shards").words(SECRET_BYTES // 8).astype("<u8").tobytes())


def read_secret(path: Path) -> IdSecret:
    """Read a secret; InputError where it is none, or others can read it."""
    try:
        raw = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        hint = "; `--shards N` makes one, or: head -c 32 /dev/urandom > FILE" * isinstance(error, FileNotFoundError)
        raise InputError.at(path, f"the secret cannot be read ({(error.strerror or '').lower()}){hint}") from None
    with os.fdopen(raw, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_mode & 0o077 or about.st_uid != os.getuid():
            raise InputError.at(path, "expected a file that only you can read, as after `chmod 600`")
        value = file.read(SECRET_BYTES + 1)
    if len(value) != SECRET_BYTES:
        raise InputError.at(path, f"expected a secret of {SECRET_BYTES} bytes, found another size")
    return IdSecret(value)


def make_secret(path: Path) -> IdSecret:
    """Read a secret; where there is none, make one first, whole or not at all."""
    if not path.exists():
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(SECRET_BYTES))
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(part, path)  # two that begin at once: the first one's counts for both
            except FileExistsError:
                pass
            finally:
                part.unlink()
        except OSError as error:
            raise OutputError(f"{path}: the secret cannot be written ({error.strerror}).") from None
    return read_secret(path)
