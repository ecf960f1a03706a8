"""What single words mean, computed ahead of time: the embedded file that `tools/build_word_table.py` makes.

========  ==========  ================================================================================
sense     int32[n]    concept of WordNet that the word, by itself, is a noun for; -1 = none
guess     int32[n]    concept that its neighbours suggest, where it has no sense; -1 = none
topic     int16[n]    node of the tree of topics, known or suggested; -1 = none
name      int8[n]     how it may be a name, by the lists of `texts`: the marks below, added up
========  ==========  ================================================================================

Rows are those of the embedded vectors. Words that are too rare for these have guesses alone, in three more columns:
`rare` (the words, one per line), `rare_guess` and `rare_topic`, read when a word is asked for that has no vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.knowledge.look_up import LookUp, rows_of_lines
from querycloak.knowledge.vectors import load_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["FAMILY", "GIVEN", "NOT_THERE", "PERHAPS_GIVEN", "SURELY_FAMILY", "WordTable", "load_word_table"]

FILE: Final = "word-table.npz"
GIVEN: Final = 1
FAMILY: Final = 2
PERHAPS_GIVEN: Final = 4
SURELY_FAMILY: Final = 8
"""A first name before a last name is a person: one that is no noun or place, or any before a sure last name."""
OF_FREQUENT: Final = frozenset({"sense", "name"})
"""Columns that rare words do not have."""
NOT_THERE: Final = -2
"""In the file: no entry."""


@dataclass(frozen=True, eq=False)
class WordTable:
    """Word → concept or topic; words without one are not there, except that `sense` has -1 for names."""

    sense: Mapping[str, int]
    """nouns of WordNet; -1 = the word is mostly used for something else"""
    guess: Mapping[str, int]
    topic: Mapping[str, int]
    name: Mapping[str, int]
    """the marks above, added up"""
    sense_of_row: npt.NDArray[np.int32]
    """int32[n]: `sense` by rows of the vectors, NOT_THERE = no entry"""


@cache
def load_word_table() -> WordTable:
    """Return the embedded table; read once."""
    known = _read("sense", "guess", "topic", "name")
    sense, guess, topic, name = (_look_up(column, values) for column, values in known.items())
    return WordTable(sense, guess, topic, name, known["sense"])


def _look_up(name: str, column: npt.NDArray[Any]) -> LookUp[int]:
    rows = load_vectors().words

    def find(word: str) -> int | None:
        row = rows.get(word)
        if row is not None:
            return _value(column, row)
        row = None if name in OF_FREQUENT else _rare_words().get(word)
        return None if row is None else _value(_rare()[f"rare_{name}"], row)

    def unpack() -> dict[str, int]:
        out = _by_word(list(rows), column)
        return out if name in OF_FREQUENT else out | _by_word(list(_rare_words()), _rare()[f"rare_{name}"])

    return LookUp(find, unpack)


def _value(column: npt.NDArray[Any], row: int) -> int | None:
    value: int = column.item(row)
    return None if value <= NOT_THERE else value


@cache
def _rare() -> dict[str, npt.NDArray[Any]]:
    return _read("rare", "rare_guess", "rare_topic")


@cache
def _rare_words() -> LookUp[int]:
    return rows_of_lines(_rare()["rare"].tobytes())


def _read(*names: str) -> dict[str, npt.NDArray[Any]]:
    with as_file(files("querycloak.mapping") / FILE) as path, np.load(path, allow_pickle=False) as npz:
        return {name: npz[name] for name in names}


def _by_word(words: list[str], column: npt.NDArray[Any]) -> dict[str, int]:
    rows = np.flatnonzero(column > NOT_THERE)
    return {words[row]: value for row, value in zip(rows.tolist(), column[rows].tolist(), strict=True)}
