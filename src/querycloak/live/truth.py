"""Who asked each published record, written while the stream runs, in the form of `releases.truth_file`.

Just before the first row under a published id comes the line that tells whose it is, so that a run that goes on after a
crash writes the same bytes again, whatever its batches. After each batch all is handed to the system: `querycloak
survey` follows the file.
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
        """Write the askers of records that have left, and whose the ids are that come for the first time."""
        changes_ids = converter.publisher.changes_ids
        names = published.named if changes_ids else self._new_names(converter, published)
        text = {
            code: escaped(converter.reader.users.text(code).decode()).encode()
            for code in {*published.asker.tolist(), *(code for code, _ in names.values())}
        }
        said = {row: b"user\t%b\t%b\n" % (made, text[code]) for made, (code, row) in names.items()}
        kind, lines = DELAY.encode(), []
        for i, (code, delay) in enumerate(zip(published.asker.tolist(), published.delay.tolist(), strict=True)):
            n = self.rows + i
            lines.append(said.get(i, b"") + b"row\t%d\t%b\n%b\t%d\t%d\n" % (n, text[code], kind, n, delay))
        self._file.write(b"".join(lines))
        self.rows += len(published.asker)
        self._file.flush()

    def _new_names(self, converter: Converter, published: Published) -> dict[bytes, tuple[int, int]]:
        """Return the ids of the run that are published for the first time, with their users and first rows."""
        if len(self._named) < len(converter.seen):
            more = np.zeros(len(converter.seen) - len(self._named), dtype=np.bool_)
            self._named = np.concatenate([self._named, more])
        users, first = np.unique(published.user, return_index=True)
        new = np.flatnonzero(~self._named[users])
        self._named[users] = True
        pairs = zip(users[new].tolist(), first[new].tolist(), strict=True)
        return {escaped(converter.reader.published_id(code)).encode(): (code, row) for code, row in pairs}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def sync(self) -> int:
        """Put all on disk, and return the size."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()
