"""The syntactic distance of all users to all, in batches, with a word beforehand where it takes long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.methods.microaggregation._syntactic_kernels import compare_users
from querycloak.methods.microaggregation._syntactic_sketch_kernels import count_turns, sketch
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.methods.microaggregation._syntactic_records import Records, Sketches

__all__ = ["sketched", "syntactic_matrix"]

BATCHES: Final = 50
"""Parts of the work after which progress is shown; the first of them is the sample for the estimate."""
LETTER_BITS: Final = 128
"""of the sketch of a text's letters;"""
OWN_BITS: Final = 112
"""of these, those that one letter and turn has for itself"""
WORTH_A_NOTE: Final = 30.0
"""Seconds from which on the user is told how long it will take."""


def syntactic_matrix(
    records: Records, alphabet: int, longest: int, progress: Progress = QUIET
) -> npt.NDArray[np.int32]:
    """Return the distances of all users: int32[n, n], in units of 1 / SCALE.

    The work for a pair of users grows with the product of their records. Pairs are dealt into batches of about equal
    work, each like the whole, so that the time of one batch tells that of all.
    """
    n = len(records.start) - 1
    out = np.zeros((n, n), dtype=np.int32)
    one, other = (side.astype(np.int32) for side in np.triu_indices(n, 1))  # int32[pairs]
    records_of = np.diff(records.start)
    work = records_of[one] * records_of[other]  # int64[pairs]
    order = np.argsort(-work, kind="stable")
    sketches = sketched(records, alphabet)
    compare_users(records, sketches, one[:0], other[:0], 1, alphabet, longest)  # compile before the clock runs
    threads = _threads()
    total, done, spent = int(work.sum()), 0, 0.0
    progress.start("comparing queries", BATCHES)
    for batch in range(BATCHES):
        pairs = order[batch::BATCHES]
        begin = time.perf_counter()
        found = compare_users(records, sketches, one[pairs], other[pairs], threads, alphabet, longest)
        spent += time.perf_counter() - begin
        out[one[pairs], other[pairs]] = found
        out[other[pairs], one[pairs]] = found
        done += int(work[pairs].sum())
        progress.advance()
        if batch == 0 and done and (left := spent * (total - done) / done) > WORTH_A_NOTE:
            progress.note(f"Comparing {total:,} pairs of queries will take about {_rounded(left)}.")
    return out


def sketched(records: Records, alphabet: int) -> Sketches:
    """Return the sketches of all records."""
    sketches = sketch(records, _slots(records, alphabet))
    sketches.letter_ones[:] = np.bitwise_count(sketches.letter_bits).sum(axis=0)
    sketches.word_ones[:] = np.bitwise_count(sketches.word_bits)
    return sketches


def _slots(records: Records, alphabet: int) -> npt.NDArray[np.int64]:
    """Choose the bit of each letter and turn, the frequent ones first: int64[alphabet * TURNS]."""
    order = np.argsort(-count_turns(records, alphabet), kind="stable")
    rank = np.arange(len(order))
    slot = np.empty(len(order), dtype=np.int64)
    slot[order] = np.where(rank < OWN_BITS, rank, OWN_BITS + rank % (LETTER_BITS - OWN_BITS))
    return slot


def _threads() -> int:
    from querycloak.arrays.jit import JIT_OFF

    if JIT_OFF:
        return 1
    import numba

    return int(numba.get_num_threads())


def _rounded(seconds: float) -> str:
    return f"{seconds:,.0f} seconds" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
