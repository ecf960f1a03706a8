"""Who asked each published record, written while the stream runs, in the form of `releases.truth_file`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from querycloak.errors import OutputError
from querycloak.logs.atomic import PRIVATE
from querycloak.releases.truth_file import HEADER, escaped

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.live.converter import Converter, Published

__all__ = ["TruthFile"]


class TruthFile:
    """Appends to a truth file; only its owner may read it, from the first byte."""

    def __init__(self, path: Path, begin: int = 0, rows: int = 0) -> None:
        """Open the file; go on after `begin` bytes and `rows` records, or begin."""
        self.rows = rows
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
        """Write the askers of records that have left."""
        text = {
            code: escaped(converter.reader.users.text(code).decode()).encode() for code in set(published.asker.tolist())
        }
        rows = enumerate(published.asker.tolist(), self.rows)
        self._file.write(b"".join(b"row\t%d\t%b\n" % (row, text[code]) for row, code in rows))
        self.rows += len(published.asker)

    def end(self, converter: Converter) -> None:
        """Write whose the published ids are."""
        reader = converter.reader
        for code in converter.seen.nonzero()[0].tolist():
            published, original = reader.published_id(code), reader.users.text(code)
            self._file.write(f"user\t{escaped(published)}\t{escaped(original.decode())}\n".encode())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def sync(self) -> int:
        """Put all on disk, and return the size."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()
