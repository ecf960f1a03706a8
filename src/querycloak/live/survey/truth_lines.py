"""The truth of a stream, read while it is written (`live/truth.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError
from querycloak.releases.truth_file import DELAY, HEADER

if TYPE_CHECKING:
    from querycloak.live.survey.rows import Names

__all__ = ["TruthLines"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class TruthLines:
    """Who asked each published row, whose the published ids are, and how long each row waited."""

    def __init__(self, name: object, people: Names) -> None:
        """`people` numbers the original users."""
        self._name, self._people = name, people
        self.owner: dict[str, int] = {}
        """published id → original user"""
        self._rest = b""
        self._line = 0
        self._askers: list[int] = []
        self._delays: list[int] = []
        self._taken = 0

    def __len__(self) -> int:
        """Return how many rows are known and were not taken."""
        return min(len(self._askers), len(self._delays))

    def read(self, data: bytes) -> None:
        """Take in bytes; a line that is not whole yet is kept."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line += 1
            fields = line.decode(errors="replace").split("\t")
            if self._line == 1:
                if tuple(fields) != HEADER:
                    raise self._wrong(f"not a truth file: expected the columns {', '.join(HEADER)}")
            else:
                self._take_line(fields)

    def _take_line(self, fields: list[str]) -> None:
        if len(fields) != len(HEADER):
            raise self._wrong(f"expected {len(HEADER)} tab-separated fields, found {len(fields)}")
        kind, published, original = fields
        if kind == "user":
            self.owner[published] = self._people.code(original)
        elif kind == "row" and published == str(self._taken + len(self._askers)):
            self._askers.append(self._people.code(original))
        elif kind == DELAY and published == str(self._taken + len(self._delays)) and original.isdecimal():
            self._delays.append(int(original))
        else:
            raise self._wrong("it is not the truth of a stream that is written row by row")

    def take(self, rows: int) -> tuple[Int32s, Int64s]:
        """Return asker and delay of the next rows: int32[n], int64[n]."""
        asker = np.array(self._askers[:rows], dtype=np.int32)
        delay = np.array(self._delays[:rows], dtype=np.int64)
        del self._askers[:rows], self._delays[:rows]
        self._taken += rows
        return asker, delay

    def _wrong(self, problem: str) -> InputError:
        return InputError.at(self._name, problem, self._line)
