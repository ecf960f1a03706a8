"""A commitment to the input of a release: whoever keeps its salt can show later which log a release was made from.

The commitment is SHA-256(salt ‖ digest of the log ‖ digest of the truth), with a salt of 32 bytes from the operating
system for each run. It is published in the statement; the salt is in the truth file only. The truth is in it, so that
nobody can make attacks look harmless by exchanging who is who.

What it gives away: nothing. With a fresh salt of 256 bits that is never published, the commitment of any log looks like
256 random bits, so that it tells no two logs apart, and a statement under differential privacy stays as private as it
was (against whoever cannot try 2^256 salts). A digest without a salt would let anybody test a guess of the whole log,
and tell whether two releases are of the same log.

What it binds to: nobody can find another log, or another truth, with any salt that gives the same commitment.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.logs.content_digest import content_digest

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = ["NO_COMMITMENT", "SALT_BYTES", "Opening", "commit", "is_commitment", "new_salt", "opens"]

SALT_BYTES: Final = 32
NO_COMMITMENT: Final = "no commitment: no truth file was kept"
"""Without a truth file the salt would be lost, and nobody could ever open the commitment."""


def new_salt() -> bytes:
    """Draw a salt; from the operating system even where the run has a seed, which somebody may guess."""
    return secrets.token_bytes(SALT_BYTES)


class Opening(NamedTuple):
    """What a truth file holds to open a commitment with."""

    salt: bytes
    truth: bytes
    """SHA-256 of the lines of the truth, without header and salt"""


def commit(opening: Opening, log: QueryLog) -> str:
    """Return the commitment to a log and a truth, in hexadecimal."""
    if len(opening.salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes")
    return hashlib.sha256(opening.salt + content_digest(log) + opening.truth).hexdigest()


def opens(commitment: str, opening: Opening, log: QueryLog) -> bool:
    """Tell whether a commitment is to this log and this truth, under this salt."""
    return hmac.compare_digest(commitment, commit(opening, log))


def is_commitment(text: str) -> bool:
    """Tell a commitment from the sentence that there is none."""
    return len(text) == 2 * hashlib.sha256().digest_size and set(text) <= set("0123456789abcdef")
