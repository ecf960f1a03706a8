"""Runs of words that many people share, and labels that many people mean.

The memory, all of it made by the caller but what a function returns:

    word        int64[positions]: the words of all forms, one form after the other; 2 x the code of the word, + 1 where
                no space is between it and the word before it
    left        int32[positions]: words from here to the end of the form, this one included
    form        int32[positions]: the form that each word is in
    people_of   Ragged, row f = the people who asked form f, each once
    gram        int32[positions]: the number of the run of n words that begins here; -1 = there is none, or too few
                people share it

A run of n words is told by the number of its first n - 1 words and its last word: 64 bits that hold both exactly. They
are looked up in a table of hashes that keeps the bits themselves, so two runs never share a number. A run cannot have
more people than its parts, so a run is looked at only where both of its parts of n - 1 words are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, wraps_around

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["choose_labels", "choose_runs", "count_people_of_runs", "count_reached", "number_runs"]

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@kernel
@wraps_around
def _mixed(key: int) -> int:
    """Mix 64 bits so that keys which differ little are far apart; not negative."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return int((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(1))


@kernel
def number_runs(n: int, word: Int64s, left: Int32s, gram: Int32s, width: int, out: Int32s) -> int:
    """Find the number of each run of n words, from 0 in the order in which they first occur; return how many there are.

    `gram` is of runs of n - 1 words, `width` above every value of `word`; the numbers are written to `out`, which may
    not be `gram`.
    """
    size = 1 << 10
    while size < 2 * len(word):
        size *= 2
    key = np.full(size, -1, dtype=np.int64)
    number = np.zeros(size, dtype=np.int32)
    count = 0
    for p in range(len(word)):
        out[p] = -1
        if left[p] < n:
            continue
        if n == 1:
            wanted = word[p] >> 1  # what is before the first word is no part of a run
        elif gram[p] < 0 or gram[p + 1] < 0:
            continue
        else:
            wanted = gram[p] * np.int64(width) + word[p + n - 1]
        slot = _mixed(wanted) & (size - 1)
        while key[slot] != wanted and key[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        if key[slot] < 0:
            key[slot] = wanted
            number[slot] = count
            count += 1
        out[p] = number[slot]
    return count


@kernel
def count_people_of_runs(gram: Int32s, runs: int, form: Int32s, people_of: Ragged, n_users: int) -> Int32s:
    """Return int32[runs]: how many people hold each run.

    Positions are sorted by run; a person whose stamp is the number of the run has been counted in it.
    """
    start = np.zeros(runs + 1, dtype=np.int64)
    for p in range(len(gram)):
        if gram[p] >= 0:
            start[gram[p] + 1] += 1
    for g in range(runs):
        start[g + 1] += start[g]
    fill = start[:-1].copy()
    occurs = np.empty(start[runs], dtype=np.int32)  # the forms of each run
    for p in range(len(gram)):
        if gram[p] >= 0:
            occurs[fill[gram[p]]] = form[p]
            fill[gram[p]] += 1
    stamp = np.full(n_users, -1, dtype=np.int32)
    count = np.zeros(runs, dtype=np.int32)
    for g in range(runs):
        for i in range(start[g], start[g + 1]):
            f = occurs[i]
            for j in range(people_of.start[f], people_of.start[f + 1]):
                u = people_of.values[j]
                if stamp[u] != g:
                    stamp[u] = g
                    count[g] += 1
    return count


@kernel
def choose_runs(
    wanted: Int64s, start: Int64s, gram: npt.NDArray[np.int32], people: Int32s, good: Bools, at: Int64s, length: Int32s
) -> None:
    """Write where the best run of each form in `wanted` begins, and how many words it has; 0 words = there is none.

    start: int64[forms + 1], the first position of each form. gram: int32[longest, positions], row n - 1 = runs of n
    words, numbered through all lengths. people, good: by those numbers. The longest good run is best; of equally long
    ones that of most people, then the left one.
    """
    longest = gram.shape[0]
    for i in range(len(wanted)):
        f = wanted[i]
        length[f] = 0
        for n in range(longest, 0, -1):
            most = 0
            for p in range(start[f], start[f + 1] - n + 1):
                g = gram[n - 1, p]
                if g >= 0 and good[g] and people[g] > most:
                    most = people[g]
                    at[f] = p
                    length[f] = n
            if most > 0:
                break


@kernel
def count_reached(queries_of: Ragged, size: Int32s, wanted: Bools, people_of: Ragged, n_users: int) -> Int64s:
    """Return int64[concepts]: how many people have a query at or below each concept that is wanted, 0 for others.

    queries_of: row c = the queries with concept c; concepts are in depth-first order, so that a subtree is a slice.
    size: int32[concepts], of the subtree. people_of: row q = the people who asked query q.
    """
    stamp = np.full(n_users, -1, dtype=np.int64)
    count = np.zeros(len(size), dtype=np.int64)
    for c in range(len(size)):
        if not wanted[c]:
            continue
        for i in range(queries_of.start[c], queries_of.start[c + size[c]]):
            q = queries_of.values[i]
            for j in range(people_of.start[q], people_of.start[q + 1]):
                u = people_of.values[j]
                if stamp[u] != c:
                    stamp[u] = c
                    count[c] += 1
    return count


@kernel
def choose_labels(
    concepts_of: Ragged, parent: Int32s, depth: Int32s, reached: Int64s, least: int, least_depth: int
) -> Int32s:
    """Return int32[queries]: the concept whose label stands for each query, -1 = none.

    concepts_of: row q = the concepts of query q from left to right. The deepest concept that `least` people reach, one
    of the query's own or one above it that is at `least_depth` or deeper; then the one of most people, then the left.
    """
    n = len(concepts_of.start) - 1
    chosen = np.full(n, -1, dtype=np.int32)
    for q in range(n):
        for i in range(concepts_of.start[q], concepts_of.start[q + 1]):
            own = concepts_of.values[i]
            c = own
            while c >= 0 and (c == own or depth[c] >= least_depth):
                if reached[c] >= least:
                    best = chosen[q]
                    deeper = best < 0 or depth[c] > depth[best]
                    if deeper or (depth[c] == depth[best] and reached[c] > reached[best]):
                        chosen[q] = c
                    break
                c = parent[c]
    return chosen
