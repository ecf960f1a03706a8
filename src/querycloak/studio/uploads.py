"""Uploads: what a browser sends is kept under a safe form of its name, whole or not at all, and never above a limit."""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from typing import TYPE_CHECKING, Final

from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["UploadTooLargeError", "safe_name", "save"]

LONGEST: Final = 80
"""Characters of a name that are kept."""
_UNSAFE: Final = re.compile(r"[^\w.-]+")


class UploadTooLargeError(UserError):
    """An upload has more bytes than the studio takes."""


def safe_name(name: str) -> str:
    r"""Return what is kept of the name of an upload: its last part, of letters, digits, `_`, `-` and dots inside.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\logs\\my log (1).csv"), safe_name("<script>.tsv"), safe_name("..")
    ('passwd', 'my_log_1_.csv', 'script_.tsv', 'log')
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    plain = _UNSAFE.sub("_", last).lstrip("._-")
    if len(plain) <= LONGEST:
        return plain or "log"
    suffix = "".join(re.findall(r"\.[A-Za-z0-9]{1,8}", plain[-18:])[-2:])  # that of a format and a compression
    return plain[: LONGEST - len(suffix)] + suffix


def save(folder: Path, name: str, chunks: Iterable[bytes], limit: int) -> Path:
    """Save an upload in a folder, and return its path; above the limit, or on any error, nothing is kept."""
    part = folder / f".{secrets.token_hex(8)}.part"
    size = 0
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise UploadTooLargeError(
                        f"The file has more than {limit / 2**20:,.0f} MB: put it into the studio's folder instead."
                    )
                file.write(chunk)
        return _named(part, folder, safe_name(name))
    except OSError as error:
        raise UserError(f"The upload cannot be saved: {(error.strerror or 'an error of the disk').lower()}.") from None
    finally:
        part.unlink(missing_ok=True)


def _named(part: Path, folder: Path, name: str) -> Path:
    """Give a finished upload its name, or that with a number where it is taken; two uploads never share one."""
    stem, dot, suffixes = name.partition(".")
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{stem}-{number}{dot}{suffixes}")
        try:
            os.link(part, path)
        except FileExistsError:
            continue
        return path
    raise UserError("There are too many uploads of this name: rename the file.")
