"""The arrays that the kernels of the layers work on; `_layer_kernels` says how."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

__all__ = ["Choice", "Found", "Labels", "Names", "Queries", "Room", "Senses", "Sequences"]


class Sequences(NamedTuple):
    """Rows of codes, found by an open hash."""

    slots: Int64s
    """int64[power of 2]: numbers of rows and parts of their hashes, -1 = free"""
    start: Int64s
    code: Int32s


class Names(NamedTuple):
    """Brands, and the labels of the taxonomy's own."""

    brand: Sequences
    brand_concept: Int32s
    needs: Bytes
    context_start: Int64s
    """int64[brands + 1]: the context words of brand b are context[context_start[b] : context_start[b + 1]]"""
    context: Int32s
    own: Sequences
    own_concept: Int32s


class Labels(NamedTuple):
    """The labels of WordNet."""

    text: Sequences
    sense_start: Int64s
    sense: Int32s
    possessive: Bytes
    """uint8[senses]: the label has this sense by a possessive alone"""
    stems: Sequences
    label_of_stems: Int32s
    starts: Sequences
    longest: Bytes
    concept: Int32s
    """int32[concepts of WordNet]: in the taxonomy asked for"""


class Senses(NamedTuple):
    """The senses of words and of labels that were needed so far: entry e has the rows start[e] .. start[e + 1] - 1."""

    start: Int64s
    concept: Int32s
    """in the taxonomy asked for"""
    matrix: Int8s
    near: Floats
    """how near each is to the words of the label"""
    has_own: Bytes
    """uint8[entries]: whether these have a vector"""
    foreign: Floats
    """float64[entries]: the word is used for something else where nothing is as near as this"""
    span: Sequences
    """labels of several words"""
    span_entry: Int32s


class Choice(NamedTuple):
    """How senses are chosen: the constants of `context` and `layer_tables`."""

    scale: int
    first: float
    later: float
    context: float
    alike: float
    guesses: bool
    person: int


class Queries(NamedTuple):
    """The words of queries."""

    start: Int64s
    code: Int32s
    ends: Bytes
    """uint8[words]: 1 = the last of its clause"""
    classes: Int32s
    """int32[words]: classes in context"""
    phrase: Int32s
    """int32[words]: where the noun phrase that begins at a word ends, 0 = none begins there"""
    joined_row: Int32s
    """int32[words]: vector of the word that this and the next one make together, -1 = none"""
    joined_sense: Int32s


class Found(NamedTuple):
    """To be filled."""

    units: Int32s
    """int32[queries]: how many, PENDING = something is missing"""
    concept: Int32s
    """int32[words + queries]: those of query q from start[q] + q on"""
    missing: Int32s
    """int32[3]: words whose guess, words whose senses, and labels whose senses are missing"""
    guess: Int32s
    word: Int32s
    label: Int32s
    """int32[words, 2]: first word, words"""


class Room(NamedTuple):
    """Room for one query."""

    value: Int64s
    """int64[words]: concept of the unit that begins at a word, NOTHING = none does"""
    covered: npt.NDArray[np.bool_]
    codes: Int32s
    total: Int32s
    """int32[dimensions + 1]: the sum of the vectors of all words, and how many have one"""
    context: Int32s

    @classmethod
    def of(cls, words: int, dimensions: int) -> Room:
        """Return room for queries of so many words."""
        return cls(
            np.zeros(words, np.int64),
            np.zeros(words, np.bool_),
            np.zeros(words, np.int32),
            np.zeros(dimensions + 1, np.int32),
            np.zeros(dimensions, np.int32),
        )
