"""All runs of words of texts, numbered: what of a text may be published without the rest of it.

Nothing is counted here, and no run is left out because few people share it: the runs of a text follow from that text
alone. Whoever chooses among them with noise needs that (`methods/dp/_set_union.py`).

>>> import polars as pl
>>> runs = WordRuns.of(pl.Series(["the green tea", "green tea"]))
>>> runs.texts(runs.of_text.values[runs.of_text.start[1] :]).to_list()
['green', 'tea', 'green tea']
>>> runs.texts(np.arange(len(runs.words))).to_list()
['green', 'tea', 'the green', 'green tea', 'the green tea']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.texts._longest_runs import LONGEST, run_texts, split_words
from querycloak.texts._phrases_kernels import number_runs

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LONGEST", "WordRuns"]

Int64s = npt.NDArray[np.int64]


class WordRuns(NamedTuple):
    """The runs of at most `LONGEST` words of each text that hold a word which is no stop word."""

    of_text: Ragged
    """row t = the runs of text t, short ones first; a run that is twice in a text is there twice"""
    words: npt.NDArray[np.int32]
    """int32[runs]: how many words each run has"""
    at: Int64s
    """int64[runs]: where each first occurs, into `split`"""
    split: pl.Series
    """the words of all texts, one after the other"""

    @classmethod
    def of(cls, plain: pl.Series) -> WordRuns:
        """Find the runs of texts in their compared form."""
        found = split_words(plain)
        n_words, lengths = len(found.word), np.diff(found.start)
        text = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        left = (found.start[1:][text] - np.arange(n_words)).astype(np.int32)
        width = int(found.word.max(initial=0)) + 1
        says = np.zeros(n_words, dtype=np.bool_)  # the run that begins here holds a word that says something
        number = np.zeros(n_words, dtype=np.int32)
        owner: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int32)]
        run: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int64)]
        first: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int64)]
        words: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int32)]
        known = 0
        for n in range(1, LONGEST + 1):
            previous, number = number, np.empty(n_words, dtype=np.int32)
            count = number_runs(n, found.word, left, previous, width, number)
            at = np.flatnonzero(number >= 0)
            says[at] |= found.content[at + n - 1]
            at = at[says[at]]
            where = np.full(count, -1, dtype=np.int64)  # where each run of n words occurs, if it says something
            where[number[at[::-1]]] = at[::-1]  # of several the first: the last that is written stays
            code = np.cumsum(where >= 0) - 1  # a run says the same wherever it is
            owner.append(text[at])
            run.append(known + code[number[at]])
            first.append(where[where >= 0])
            words.append(np.full(len(first[-1]), n, dtype=np.int32))
            known += len(first[-1])
            if not count:
                break
        of_text = Ragged.of(np.concatenate(owner), np.concatenate(run), len(lengths))
        return cls(of_text, np.concatenate(words), np.concatenate(first), found.words)

    def texts(self, runs: npt.NDArray[np.integer[Any]]) -> pl.Series:
        """Return runs as they are in the compared texts."""
        return run_texts(self.split, self.at[runs], self.words[runs])
