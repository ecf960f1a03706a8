"""Who asked each published record, written while the stream runs, in the form of `releases.truth_file`.

Before the first row under a published id comes the line that tells whose it is, and after each batch all is handed to
the system: `querycloak survey` follows the file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import OutputError
from querycloak.logs.atomic import PRIVATE
from querycloak.releases.truth_file import DELAY, HEADER, escaped

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.live.converter import Converter, Published

__all__ = ["TruthFile"]


class TruthFile:
    """Appends to a truth file; only its owner may read it, from the first byte."""

    def __init__(self, path: Path, begin: int = 0, rows: int = 0, named: npt.NDArray[np.bool_] | None = None) -> None:
        """Open the file; go on after `begin` bytes and `rows` records, or begin.

        `named`: bool[users], whose published ids are told in these bytes.
        """
        self.rows = rows
        self._named = np.zeros(0, dtype=np.bool_) if named is None else named.copy()
        try:
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE), "r+b")
            os.fchmod(self._file.fileno(), PRIVATE)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror}).") from None
        if os.fstat(self._file.fileno()).st_size < begin:
            self._file.close()
            raise OutputError(f"{path}: is shorter than at the checkpoint: it was changed, and cannot be continued.")
        self._file.truncate(begin)
        self._file.seek(begin)
        if begin == 0:
            self._file.write(b"\t".join(word.encode() for word in HEADER) + b"\n")

    def add(self, converter: Converter, published: Published) -> None:
        """Write whose the new ids are, then the askers of records that have left."""
        text = {
            code: escaped(converter.reader.users.text(code).decode()).encode() for code in set(published.asker.tolist())
        }
        for made, code in published.named.items():
            self._name(made.decode(), code, converter)
        if not converter.publisher.changes_ids:
            self._name_users(converter)
        numbers = range(self.rows, self.rows + len(published.asker))
        rows = zip(numbers, published.asker.tolist(), published.delay.tolist(), strict=True)
        kind = DELAY.encode()
        self._file.write(b"".join(b"row\t%d\t%b\n%b\t%d\t%d\n" % (n, text[code], kind, n, d) for n, code, d in rows))
        self.rows += len(published.asker)
        self._file.flush()

    def _name_users(self, converter: Converter) -> None:
        """Write whose the ids of the run are that were published for the first time."""
        seen = converter.seen
        new = seen.copy()
        new[: len(self._named)] &= ~self._named
        for code in new.nonzero()[0].tolist():
            self._name(escaped(converter.reader.published_id(code)), code, converter)
        self._named = seen.copy()

    def _name(self, made: str, code: int, converter: Converter) -> None:
        original = escaped(converter.reader.users.text(code).decode())
        self._file.write(f"user\t{made}\t{original}\n".encode())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def sync(self) -> int:
        """Put all on disk, and return the size."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()
