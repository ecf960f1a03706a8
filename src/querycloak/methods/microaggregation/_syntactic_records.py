"""The records that the syntactic distance compares, in memory, and their sketches. Kernels only read them.

A record is one distinct query of one user:

    start[u] ──> text[i], times[i], time[i], domain[i]      the records of user u
                   │                            └──> label_start ──> label     com, example, www
                   ├──> letter_start ──> letter
                   └──> word_start ──> word

`Sketches` has one entry per record and is read from end to end, without following any of these arrows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["TURNS", "WORD", "Int32s", "Int64s", "Records", "Sketches"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

WORD: Final = 64
"""bits of a machine word"""
TURNS: Final = 16
"""times that a letter comes in a text which are told apart"""


class Records(NamedTuple):
    """What users asked: user u has the records start[u] .. start[u + 1] - 1, one per distinct query."""

    start: Int64s
    text: Int32s
    """int32[m], code of the query"""
    times: Int64s
    """int64[m], how often the user asked it"""
    time: npt.NDArray[np.float64]
    """float64[m], mean time in 0 .. 1 over the log, NaN = unknown; empty = the log has no times"""
    domain: Int32s
    """int32[m], clicked domain, -1 = none; empty = the log has no clicks"""
    letter_start: Int64s
    letter: Int32s
    """letters of text t: letter_start[t] .. letter_start[t + 1] - 1"""
    word_start: Int64s
    word: Int32s
    """words of each text"""
    label_start: Int64s
    label: Int32s
    """labels of each domain, the last label first"""


class Sketches(NamedTuple):
    """What a bound on the distance of two records needs, one entry per record, read in the order of the records."""

    letters: npt.NDArray[np.float32]
    """float32[m], number of letters"""
    words: npt.NDArray[np.float32]
    letter_bits: npt.NDArray[np.uint64]
    """uint64[2, m], a bit for each letter and each time it comes; rare ones share a bit"""
    word_bits: npt.NDArray[np.uint64]
    letter_ones: Int32s
    """int32[m], bits that are set"""
    word_ones: Int32s
    top: Int32s
    """int32[m], last label of the domain, -1 = no click; empty = the log has no clicks"""
    second: Int32s
    """int32[m], the label before it, -1 = none"""
    label_share: npt.NDArray[np.float32]
    """float32[m], 1 / number of labels; 1 = no click"""
    time: npt.NDArray[np.float32]
    """float32[m], as in `Records`"""
