"""Grams of four letters: what a text is spelled like, typing errors and endings aside.

>>> import polars as pl
>>> (tea, teas), size = code_grams(pl.Series(["tea"]), pl.Series(["Teas"]))
>>> size, len(set(tea.row(0)) & set(teas.row(0)))
(4, 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged, row_starts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["code_grams"]

LENGTH: Final = 4
BITS: Final = 6
"""Bits of a letter: 64 letters are told apart; where a log has more, the rarer ones share codes."""


def code_grams(*vocabularies: pl.Series) -> tuple[list[Ragged], int]:
    """Cut texts into grams, with the same codes in all vocabularies: the grams of each text, and how many codes.

    Texts are put into lower case, with single spaces, and one space before and after. One shorter than a gram has none.
    """
    import polars as pl

    texts = pl.concat([v.cast(pl.String) for v in vocabularies]).fill_null("")
    plain = texts.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" ")
    letters = np.frombuffer(" ".join(["", *plain.to_list(), ""]).encode("utf-32-le"), dtype=np.uint32)
    # Neighbours share the space between them: text t begins at start[t] with that space, and ends with the next one.
    start = row_starts(plain.str.len_chars().to_numpy().astype(np.int64) + 1)
    code = _letter_codes(letters)
    gram = np.zeros(max(len(letters) - LENGTH + 1, 0), dtype=np.int32)
    for i in range(LENGTH):
        gram = (gram << BITS) | code[i : i + len(gram)]
    has = np.maximum(np.diff(start) + 1 - (LENGTH - 1), 0)  # grams of each text
    rows = row_starts(has)
    index = np.arange(rows[-1]) + np.repeat(start[:-1] - rows[:-1], has)
    column, size = _dense(gram[index])
    out, first = [], 0
    for vocabulary in vocabularies:
        end = first + len(vocabulary)
        out.append(Ragged(rows[first : end + 1] - rows[first], column[rows[first] : rows[end]]))
        first = end
    return out, size


def _letter_codes(letters: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    """int32[letters]: the rank of each by frequency, the most frequent first, modulo 64."""
    count = np.bincount(letters)
    rank = np.empty(len(count), dtype=np.int64)
    rank[np.argsort(-count, kind="stable")] = np.arange(len(count))
    return (rank % (1 << BITS)).astype(np.int32)[letters]


def _dense(values: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], int]:
    """Return the number of each value among those that occur, and how many do; nothing is sorted, there are many."""
    occurs = np.zeros(1 << (BITS * LENGTH), dtype=np.bool_)
    occurs[values] = True
    found = np.flatnonzero(occurs)
    number = np.empty(len(occurs), dtype=np.int32)  # set where it is read
    number[found] = np.arange(len(found), dtype=np.int32)
    return number[values], len(found)
