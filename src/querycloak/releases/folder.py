"""A release that is a folder of parts, as a cluster writes it: which files it has, and the digest of all of them.

Its parts are the files whose names do not begin with `_` or `.`, in the order of their names. All are of one form, that
of the statement, and a table of text has its header in each. `_SUCCESS` says that the folder is whole.

The digest that the statement holds for a folder is the SHA-256 of one line per part, in the order of their names: the
SHA-256 of its bytes, two spaces, its name, a line end; that is what `sha256sum *` prints.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["SUCCESS", "digest_of_parts", "digest_of_table", "open_release", "parts_of"]

SUCCESS: Final = "_SUCCESS"


def parts_of(folder: Path) -> list[Path]:
    """Return the parts of a folder, in their order; one that was not written to its end is refused."""
    if not (folder / SUCCESS).is_file():
        raise InputError.at(folder, f"a folder without {SUCCESS}: no release, or one that was not written to its end")
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith(("_", ".")))
    for name in names:
        if not (folder / name).is_file():
            raise InputError.at(folder, "a folder in a folder, which no release has")
    return [folder / name for name in names]


def digest_of_parts(digests: Mapping[str, str]) -> str:
    """Return the digest of a folder from those of its parts: name → SHA-256.

    >>> digest_of_parts({"b": "2" * 64, "a": "1" * 64}) == digest_of_parts({"a": "1" * 64, "b": "2" * 64})
    True
    """
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()


def digest_of_table(path: Path) -> str:
    """Return the digest of a release's table, a file or a folder, as its statement holds it."""
    if path.is_dir():
        return digest_of_parts({part.name: _digest_of_file(part) for part in parts_of(path)})
    return _digest_of_file(path)


def open_release(path: Path) -> None:
    """Try whether a release's table can be opened."""
    if path.is_dir():
        parts_of(path)
        return
    with path.open("rb"):
        pass


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
