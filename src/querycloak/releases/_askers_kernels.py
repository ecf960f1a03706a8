"""Queries that hold a text as a run of words, and how many people asked any of several queries.

The memory, made by the caller and read only:

    texts         Ragged, row t = the words of text t, in order: 2 x the code of the word, + 1 where no space is
                  between it and the word before it
    words         Ragged, row q = the same for query q
    query         int32[words], the row of `words` that each of its values is in
    occurrences   Ragged, row w = the indexes in `words.values` at which the word of code w occurs, ascending

What is before the first word of a run is no part of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["count_people", "find_runs"]

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)


@kernel
def find_runs(
    texts: Ragged,
    words: Ragged,
    query: npt.NDArray[np.int32],
    occurrences: Ragged,
    found: npt.NDArray[np.int32],
) -> npt.NDArray[np.int64]:
    """Return int64[texts]: how many queries hold the words of each text one after the other.

    The queries themselves are written to `found`, those of text 0 first, ascending, while there is room: a first call
    with an empty array counts, a second one with an array of that size fills it. The rarest word of a text is looked
    up, and its neighbours are compared.
    """
    n_texts = len(texts.start) - 1
    count = np.zeros(n_texts, dtype=np.int64)
    written = 0
    for t in range(n_texts):
        begin, length = texts.start[t], texts.start[t + 1] - texts.start[t]
        if length == 0:
            continue
        rarest, fewest = 0, np.int64(-1)
        for i in range(length):
            w = texts.values[begin + i] >> 1
            often = occurrences.start[w + 1] - occurrences.start[w]
            if fewest < 0 or often < fewest:
                rarest, fewest = i, often
        word = texts.values[begin + rarest] >> 1
        last = -1
        for o in range(occurrences.start[word], occurrences.start[word + 1]):
            at = occurrences.values[o]
            q = query[at]
            first = at - rarest
            if q == last or first < words.start[q] or first + length > words.start[q + 1]:
                continue
            same = words.values[first] >> 1 == texts.values[begin] >> 1
            for i in range(1, length):
                if not same:
                    break
                if words.values[first + i] != texts.values[begin + i]:
                    same = False
            if same:
                last = q
                count[t] += 1
                if written < len(found):
                    found[written] = q
                    written += 1
    return count


@kernel
def count_people(queries: Ragged, users_of: Ragged, n_users: int) -> npt.NDArray[np.int64]:
    """Return int64[texts]: how many distinct users asked one of the queries of each row.

    `users_of`: row q = the users of query q. A user whose stamp is the number of the row has been counted in it.
    """
    n_texts = len(queries.start) - 1
    stamp = np.full(n_users, -1, dtype=np.int64)
    count = np.zeros(n_texts, dtype=np.int64)
    for t in range(n_texts):
        for i in range(queries.start[t], queries.start[t + 1]):
            q = queries.values[i]
            for p in range(users_of.start[q], users_of.start[q + 1]):
                u = users_of.values[p]
                if stamp[u] != t:
                    stamp[u] = t
                    count[t] += 1
    return count
