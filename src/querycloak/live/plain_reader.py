"""The short way of a plain table: lines split, and users and categories coded, in one pass (see `_plain_kernels`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.live import _join_kernels as join
from querycloak.live import _plain_kernels as kernels
from querycloak.logs._records_kernels import RETURN, count_lines
from querycloak.logs.formats.table import separator_of
from querycloak.logs.problems import LONGEST_LINE

if TYPE_CHECKING:
    from querycloak.arrays.vocabulary import Vocabulary
    from querycloak.logs.layout import Layout

__all__ = ["PlainReader", "PlainRecords"]

Int32s = npt.NDArray[np.int32]

BLANK: Final = 32
DELETE: Final = 127
NEEDED: Final = ("user", "query", "category")
"""Columns without which there is no short way."""


class PlainRecords(NamedTuple):
    """The records of a batch, all of them good."""

    cuts: Int32s
    """int32[n, 5]: see `_join_kernels`"""
    codes: Int32s
    """int32[n, 2]: codes of user and category; -1 = the category is empty"""
    consumed: int
    """bytes of their lines"""


class PlainReader:
    """Takes in the whole lines of a batch where all of them are plain."""

    def __init__(self, layout: Layout, separator: str) -> None:
        """`separator`: of the levels of a category."""
        fields = {column.role: i for i, column in enumerate(layout.form.columns) if column.role is not None}
        self._quotes = layout.is_csv
        self._shape = kernels.Shape(
            separator=ord(separator_of(layout.form)),
            odd=RETURN if layout.is_csv else 0,
            fields=len(layout.form.columns),
            user=fields["user"],
            query=fields["query"],
            category=fields["category"],
            levels=ord(separator) if len(separator) == 1 and BLANK < ord(separator) < DELETE else 0,
            header=np.frombuffer(layout.head.rstrip(b"\r\n"), dtype=np.uint8),
            longest=LONGEST_LINE,
        )
        self._room = (
            np.empty(len(layout.form.columns) + 1, dtype=np.int64),
            np.empty((kernels.AHEAD, kernels.ROW_FIELDS), dtype=np.int64),
        )

    @staticmethod
    def knows(layout: Layout) -> bool:
        """Tell whether records of this layout may be plain."""
        roles = {column.role for column in layout.form.columns}
        return not layout.is_json and not layout.form.safe_csv and roles.issuperset(NEEDED)

    def take(self, data: bytes, users: Vocabulary, categories: Vocabulary, node_of: Int32s) -> PlainRecords | None:
        """Return the records of the whole lines; None where one is not plain, whatever was coded until then.

        node_of int32[*]: nodes of the categories known before, -1 = a bad path.
        """
        if self._quotes and b'"' in data:
            return None
        ascii_only = data.isascii()
        if not (ascii_only or _is_text(data)):
            return None
        array = np.frombuffer(data, dtype=np.uint8)
        most = int(count_lines(array))
        cuts, codes = np.empty((most, join.CUTS), dtype=np.int32), np.empty((most, 2), dtype=np.int32)
        n = at = 0
        while True:
            known = (kernels.Codes(*users.codes.arrays), kernels.Codes(*categories.codes.arrays))
            n, at, why = kernels.take_plain(
                array, self._shape, ascii_only, known, node_of, (n, at), self._room, cuts, codes
            )
            if why == kernels.NO_ROOM_FOR_USER:
                users.codes.grow(LONGEST_LINE)
            elif why == kernels.NO_ROOM_FOR_CATEGORY:
                categories.codes.grow(LONGEST_LINE)
            elif why == kernels.DONE and len(data) - at <= LONGEST_LINE:
                return PlainRecords(cuts[:n], codes[:n], at)
            else:
                return None


def _is_text(data: bytes) -> bool:
    """Tell whether whole lines are UTF-8; what comes after the last line end is not looked at."""
    try:
        data[: data.rfind(b"\n") + 1].decode()
    except UnicodeDecodeError:
        return False
    return True
