"""Classes of words in context, and noun phrases: what `phrases.read_classes` and `reading` find, for many queries.

A class is 1 + its place in `LETTERS`; `phrases` says what the letters stand for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

LETTERS = "dracgnvs"
D, R, A, C, G, N, V, S = range(1, 9)


@inlined_kernel
def _correct(classes: Int32s, begin: int, end: int) -> None:
    """Correct the classes of a clause by their neighbours."""
    for i in range(begin, end - 1):
        if classes[i] == G and classes[i + 1] == D:
            classes[i] = V
    if end - begin > 1 and classes[end - 1] == V and classes[end - 2] in (D, A, G, N):
        classes[end - 1] = N


@inlined_kernel
def _phrases(classes: Int32s, begin: int, end: int, phrase: Int32s) -> int:
    """Note where the noun phrases of a clause end, at their first words, and return how many there are."""
    count, i = 0, begin
    while i < end:
        start, last = i, -1
        while i < end and classes[i] == D:
            i += 1
        while i < end and R <= classes[i] <= N:
            if classes[i] >= G:
                last = i
            i += 1
        if last >= 0:
            phrase[start] = last + 1
            count += 1
        if i == start:
            i += 1
    return count


@lean_kernel
def read_classes(start: Int64s, ends: Bytes, stop: Bools, classes: Int32s, phrase: Int32s) -> None:
    """Correct the classes of all words, and find the noun phrases of all queries.

    start int64[queries + 1] = first word of each query; ends uint8[words]: 1 = the last word of its clause; stop =
    stop words; classes int32[words]: those of the words by themselves. To be filled: phrase int32[words], zeros: where
    the phrase that begins at a word ends.
    """
    for q in range(len(start) - 1):
        first, last = start[q], start[q + 1]
        count, begin = 0, first
        for i in range(first, last):
            if ends[i]:
                _correct(classes, begin, i + 1)
                count += _phrases(classes, begin, i + 1, phrase)
                begin = i + 1
        if count == 0:
            for i in range(last - 1, first - 1, -1):
                if not stop[i] and classes[i] != C:
                    classes[i] = N
                    phrase[i] = i + 1
                    break
