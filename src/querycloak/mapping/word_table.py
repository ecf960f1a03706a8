"""What single words mean, computed ahead of time: the embedded file that `tools/build_word_table.py` makes.

========  ==========  ================================================================================
sense     int32[n]    concept of WordNet that the word, by itself, is a noun for; -1 = none
guess     int32[n]    concept that its neighbours suggest, where it has no sense; -1 = none
topic     int16[n]    node of the tree of topics, known or suggested; -1 = none
========  ==========  ================================================================================

Rows are those of the embedded vectors. Words that are too rare for these have guesses alone, in three more columns:
`rare` (the words, one per line), `rare_guess` and `rare_topic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Final

import numpy as np

from querycloak.knowledge.vectors import load_vectors

__all__ = ["WordTable", "load_word_table"]

FILE: Final = "word-table.npz"


@dataclass(frozen=True, eq=False)
class WordTable:
    """Word → concept or topic; words without one are not there, except that `sense` has -1 for names."""

    sense: dict[str, int]
    """nouns of WordNet; -1 = the word is mostly used for something else"""
    guess: dict[str, int]
    topic: dict[str, int]


@cache
def load_word_table() -> WordTable:
    """Return the embedded table; read once."""
    with as_file(files("querycloak.mapping") / FILE) as path, np.load(path, allow_pickle=False) as npz:
        words, rare = list(load_vectors().words), npz["rare"].tobytes().decode().split("\n")
        sense, guess, topic = (_by_word(words, npz[name]) for name in ("sense", "guess", "topic"))
        guess |= _by_word(rare, npz["rare_guess"])
        topic |= _by_word(rare, npz["rare_topic"])
    return WordTable(sense, guess, topic)


def _by_word(words: list[str], column: np.ndarray) -> dict[str, int]:
    rows = np.flatnonzero(column > NOT_THERE)
    return {words[row]: value for row, value in zip(rows.tolist(), column[rows].tolist(), strict=True)}


NOT_THERE: Final = -2
"""In the file: no entry."""
