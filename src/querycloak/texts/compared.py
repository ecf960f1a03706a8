"""The form in which texts are compared: how something was typed does not make it another text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

__all__ = ["code_sorted", "code_texts", "compared"]


def compared(texts: pl.Series) -> pl.Series:
    """Return texts as they are compared: lower case, no spaces at the ends, runs of spaces as one.

    >>> import polars as pl
    >>> compared(pl.Series(["  Green   TEA "])).to_list()
    ['green tea']
    """
    return texts.str.to_lowercase().str.replace_all(r"[\s\x1c-\x1f]+", " ").str.strip_chars(" ")


def code_texts(texts: pl.Series) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return int64[n], a code from 0 for each text, equal for equal ones; and int64[codes], where each first occurs.

    >>> import polars as pl
    >>> [found.tolist() for found in code_texts(pl.Series(["b", "a", "b"]))]
    [[0, 1, 0], [0, 1]]
    """
    import polars as pl

    table = texts.to_frame("text").with_row_index("at")
    first = table.select(pl.col("at").min().over("text")).to_series().to_numpy().astype(np.int64)
    is_first = first == np.arange(len(first))
    return (np.cumsum(is_first) - 1)[first], np.flatnonzero(is_first)


def code_sorted(texts: pl.Series) -> npt.NDArray[np.int64]:
    """Return int64[n], a code from 0 for each text, in the order of the texts. Each distinct text is sorted once.

    >>> import polars as pl
    >>> code_sorted(pl.Series(["b", "a", "b"])).tolist()
    [1, 0, 1]
    """
    code, first = code_texts(texts)
    rank = np.empty(len(first), dtype=np.int64)
    rank[texts.gather(first).arg_sort().to_numpy()] = np.arange(len(first))
    return rank[code]
