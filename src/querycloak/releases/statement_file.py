"""The statement of a release on disk, `<release>.statement.json`: sealed by a digest, and signed where a key is given.

Digest and signature are over canonical bytes: the JSON of the file with sorted keys and without spaces, the digest
without `digest` and `signature`, the signature without `signature`. Both cover the SHA-256 of the table. The digest
finds an edited statement and a table that it does not belong to; whoever can change both files can write a new pair,
unless the statement is signed and its reader has the public key.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from querycloak.errors import InputError
from querycloak.logs.form import LogForm  # noqa: TC001 - msgspec reads the types of fields
from querycloak.logs.guarded import guarded
from querycloak.releases.commitment import NO_COMMITMENT
from querycloak.releases.release import ReleaseKind  # noqa: TC001
from querycloak.releases.signing import Signature  # noqa: TC001
from querycloak.releases.statement import PrivacyStatement  # noqa: TC001

if TYPE_CHECKING:
    from querycloak.releases.signing import PublicKey, SigningKey

__all__ = [
    "StatementFile",
    "decode_statement",
    "read_statement",
    "read_statement_file",
    "sealed_statement",
    "statement_content",
    "statement_path",
]

VERSION: Final = 6
"""of the statement file"""
OLDEST: Final = 2
"""the oldest version that is still read"""
SINCE_3: Final = {"command", "input_commitment"}
"""Fields of the statement that version 2 does not have."""
SINCE_4: Final = {"parts", "ids", "time_grain", "click_users"}
"""Fields of the statement that version 3 does not have."""
SINCE_5: Final = {"account"}
"""Fields of the statement that version 4 does not have."""
SINCE_6: Final = {"mapping", "mapping_learned"}
"""Fields of the statement that version 5 does not have."""
SUFFIX: Final = ".statement.json"
LONGEST_STATEMENT: Final = 1 << 24
LATER_FIELDS: Final = {"encoding": "utf-8", "separator": ",", "json_array": False, "safe_csv": False}
"""Fields of the form that came later, with what they mean where they are missing: older digests are without them."""


class StatementFile(msgspec.Struct, forbid_unknown_fields=True):
    """What `<release>.statement.json` holds, in the order of the file."""

    version: int
    kind: ReleaseKind
    statement: PrivacyStatement
    form: LogForm
    release_sha256: str
    digest: str = ""
    signature: Signature | None = None
    """None = unsigned"""

    def own_digest(self) -> str:
        """Return the SHA-256 of all but digest and signature."""
        return hashlib.sha256(self._canonical(without=("digest", "signature"))).hexdigest()

    def sign(self, key: SigningKey) -> None:
        """Put a signature over all else into the file."""
        self.signature = key.sign(self._canonical(without=("signature",)))

    def is_signed_by(self, key: PublicKey) -> bool:
        """Tell whether the holder of this key signed just this."""
        return self.signature is not None and key.made(self.signature, self._canonical(without=("signature",)))

    def plain(self) -> dict[str, Any]:
        """Return the file as plain values, as its version has them; numbers of NumPy become Python's."""
        plain = dict(msgspec.to_builtins(self, enc_hook=lambda value: value.item()))
        plain["form"] = {name: value for name, value in plain["form"].items() if LATER_FIELDS.get(name, ...) != value}
        if self.version < 3:
            del plain["signature"]
        added = ((3, SINCE_3), (4, SINCE_4), (5, SINCE_5), (6, SINCE_6))
        later = {name for version, names in added if self.version < version for name in names}
        plain["statement"] = {name: value for name, value in plain["statement"].items() if name not in later}
        return plain

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        return msgspec.json.format(msgspec.json.encode(self.plain()), indent=2) + b"\n"

    def _canonical(self, without: tuple[str, ...]) -> bytes:
        rest = {name: value for name, value in self.plain().items() if name not in without}
        return msgspec.json.encode(rest, order="sorted")


def statement_path(release: str | Path) -> Path:
    """Return the path of a release's statement."""
    return Path(f"{release}{SUFFIX}")


def sealed_statement(
    kind: ReleaseKind, statement: PrivacyStatement, form: LogForm, sha: str, key: SigningKey | None = None
) -> bytes:
    """Return what the statement's file holds, with the digests of the release and of itself, signed with a key."""
    said = replace(statement, input_commitment=statement.input_commitment or NO_COMMITMENT)
    file = StatementFile(VERSION, kind, said, form, sha)
    file.digest = file.own_digest()
    if key is not None:
        file.sign(key)
    return file.encode()


def statement_content(release: str | Path) -> bytes:
    """Read the bytes of a release's statement, by the path of the statement or of the release."""
    table = Path(release)
    path = table if table.name.endswith(SUFFIX) else statement_path(table)
    if path != table and not path.exists():
        raise InputError.at(table, f"its statement is missing; expected {path.name} next to it")
    with guarded(path), path.open("rb") as raw:
        return raw.read(LONGEST_STATEMENT)


def decode_statement(content: bytes) -> StatementFile:
    """Return what the bytes of a statement say; a ValueError names what is wrong with them."""
    try:
        decoded = msgspec.json.decode(content)
        file = msgspec.convert(decoded, StatementFile)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
        raise ValueError("not a statement of QueryCloak, or it was edited") from None
    if not OLDEST <= file.version <= VERSION:
        raise ValueError(f"a statement of version {file.version}; this QueryCloak reads version {OLDEST} to {VERSION}")
    # A name that we do not know is left out of `file`, and so out of its digest: what was read must be all there is.
    if file.digest != file.own_digest() or msgspec.json.decode(msgspec.json.encode(file.plain())) != decoded:
        raise ValueError("the statement was edited after it was written")
    return file


def read_statement_file(release: str | Path) -> StatementFile:
    """Read the statement's file of a release; one that was edited is refused."""
    content = statement_content(release)
    try:
        return decode_statement(content)
    except ValueError as error:
        path = Path(release)
        raise InputError.at(path if path.name.endswith(SUFFIX) else statement_path(path), str(error)) from None


def read_statement(path: str | Path) -> PrivacyStatement:
    """Read a statement, by its own path or by that of its release."""
    return read_statement_file(path).statement
