"""The layers over codes of words: what `layers.find_units` finds, for many queries at once.

A query is a row of word codes. What is known of a word is a row of `facts`, with these columns:

==============  =====================================================================================
LETTER          class by itself, see `_class_kernels`; 0 = nothing is known of the word yet
FLAGS           STOP: stop word; CONCEPT: means something by itself; MARKS: how it may be a name, times NAME;
                BEGINS, FOLLOWS: its stem is the first, or the second, of a label of several words
ROW             row of its vector, -1 = it has none, or is a stop word
STEM            code of its stem, -1 = of no label
SINGULAR        codes of up to three singular forms, -1 = none
SENSE           its sense by itself, as the word table has it; NOTHING = it is not there
GUESS           concept of a guess; NOTHING = none; UNKNOWN = not asked yet
ENTRY           its entry among the senses; UNKNOWN = not made yet
BRANDS          bit k is set where a brand of k words begins with the word
OWN             words of the longest label of the taxonomy's own that begins with the word
==============  =====================================================================================

Guesses, senses of words and senses of labels are made when a query needs them: where one is missing, the query is
`PENDING`, and what it needs is noted.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel, wraps_around

if TYPE_CHECKING:
    from querycloak.mapping.layer_arrays import Choice, Found, Labels, Names, Queries, Room, Senses, Sequences

Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

G, N = 5, 6
LETTER, FLAGS, ROW, STEM, SINGULAR, SENSE, GUESS, ENTRY, BRANDS, OWN = 0, 1, 2, 3, 4, 7, 8, 9, 10, 11
FACTS = 12
SINGULARS = 3
STOP, CONCEPT, BEGINS, FOLLOWS = 1, 2, 4, 8
NAME = 16  # the lowest of the four marks of names
BEFORE = 5 * NAME  # those of first names
NOTHING, UNKNOWN, ASKED = -2, -3, -4
NO_CODE = -1
PENDING = -1
MOST_WORDS = 50
ALWAYS, ALONE = 0, 1
FACTOR = np.uint64(0x9E3779B97F4A7C15)
ROWS = (1 << 32) - 1  # bits of a slot that are the number of its row
TAG = ~ROWS & ((1 << 63) - 1)  # the others are those of its hash


@inlined_kernel
@wraps_around
def _hash(codes: Int32s, begin: int, end: int) -> int:
    """Hash a row of codes: 63 bits, the lower ones for the slot, the upper ones as a tag."""
    h = np.uint64(end - begin)
    for i in range(begin, end):
        h = (h ^ np.uint64(np.int64(codes[i]) + 1)) * FACTOR
        h ^= h >> np.uint64(29)
    return np.int64(h >> np.uint64(1))  # type: ignore[return-value] # to the compiler it is one


@lean_kernel
def fill_sequences(sequences: Sequences) -> None:
    """Put all rows into the slots, which are -1; of equal rows the first is found."""
    mask = len(sequences.slots) - 1
    for row in range(len(sequences.start) - 1):
        h = _hash(sequences.code, sequences.start[row], sequences.start[row + 1])
        slot = h & mask
        while sequences.slots[slot] >= 0:
            slot = (slot + 1) & mask
        sequences.slots[slot] = (h & TAG) | row


@inlined_kernel
def _find(sequences: Sequences, codes: Int32s, begin: int, end: int) -> int:
    """Return the number of a row of codes, or -1."""
    mask = len(sequences.slots) - 1
    h = _hash(codes, begin, end)
    slot = h & mask
    while sequences.slots[slot] >= 0:
        if (sequences.slots[slot] ^ h) & TAG == 0:
            row = sequences.slots[slot] & ROWS
            first = sequences.start[row]
            same = sequences.start[row + 1] - first == end - begin
            for i in range(end - begin):
                same = same and sequences.code[first + i] == codes[begin + i]
            if same:
                return int(row)
        slot = (slot + 1) & mask
    return -1


@inlined_kernel
def _is_meant(names: Names, brand: int, codes: Int32s, words: tuple[int, int, int, int]) -> bool:
    """Tell whether a brand is meant; words = first and end of the query, start and end of the name."""
    first, last, start, end = words
    if names.needs[brand] == ALWAYS or (names.needs[brand] == ALONE and last - first == end - start):
        return True
    for i in range(first, last):
        if not start <= i < end:
            for k in range(names.context_start[brand], names.context_start[brand + 1]):
                if names.context[k] == codes[i]:
                    return True
    return False


@inlined_kernel
def _name(names: Names, facts: Int32s, codes: Int32s, words: tuple[int, int, int, int]) -> tuple[int, int]:
    """Return the length and concept of the longest name or own label; words = query, start, and end of the clause."""
    first, last, at, end = words
    length, concept = 0, NO_CODE
    bits = facts[codes[at], BRANDS]
    for k in range(min(end - at, 31), 0, -1):
        if bits >> k & 1:
            brand = _find(names.brand, codes, at, at + k)
            if brand >= 0 and _is_meant(names, brand, codes, (first, last, at, at + k)):
                length, concept = k, int(names.brand_concept[brand])
                break
    for k in range(min(facts[codes[at], OWN], end - at), length, -1):
        own = _find(names.own, codes, at, at + k)
        if own >= 0:
            return k, int(names.own_concept[own])
    return length, concept


@inlined_kernel
def _first_sense(labels: Labels, facts: Int32s, codes: Int32s, at: int, end: int, scratch: Int32s) -> tuple[int, bool]:
    """Return the first sense of a label of several words, -1 where it is none, and whether it has several."""
    n = end - at
    first, several = -1, False
    last = codes[end - 1]
    for i in range(n):
        scratch[i] = codes[at + i]
    for form in range(-1, SINGULARS):
        if form >= 0:
            scratch[n - 1] = facts[last, SINGULAR + form]
            if scratch[n - 1] < 0:
                break
        label = _find(labels.text, scratch, 0, n)
        if label >= 0:
            for k in range(labels.sense_start[label], labels.sense_start[label + 1]):
                if not labels.possessive[k]:
                    several = several or (first >= 0 and labels.sense[k] != first)
                    first = int(labels.sense[k]) if first < 0 else first
    if first < 0:
        for i in range(n):
            scratch[i] = facts[codes[at + i], STEM]
        found = _find(labels.stems, scratch, 0, n)
        if found >= 0:
            label = int(labels.label_of_stems[found])
            for k in range(labels.sense_start[label], labels.sense_start[label + 1]):
                if not labels.possessive[k]:
                    several = several or first >= 0
                    first = int(labels.sense[k]) if first < 0 else first
    return first, several


@inlined_kernel
def _longest(labels: Labels, facts: Int32s, codes: Int32s, at: int, scratch: Int32s) -> int:
    """Return the words of the longest label that begins with the stems of two words, 1 where there is none."""
    if not (facts[codes[at], FLAGS] & BEGINS and facts[codes[at + 1], FLAGS] & FOLLOWS):
        return 1
    scratch[0], scratch[1] = facts[codes[at], STEM], facts[codes[at + 1], STEM]
    found = _find(labels.starts, scratch, 0, 2)
    return int(labels.longest[found]) if found >= 0 else 1


@inlined_kernel
def _dot(matrix: Int8s, one: int, other: int) -> int:
    out = 0
    for d in range(matrix.shape[1]):
        out += int(matrix[one, d]) * int(matrix[other, d])
    return out


@inlined_kernel
def _is_alike(matrix: Int8s, choice: Choice, joined: int, first: int, second: int) -> bool:
    """Tell whether a joined word is near to one of its parts."""
    square = choice.scale * choice.scale
    one = float(_dot(matrix, joined, first)) / square if first >= 0 else 0.0
    other = float(_dot(matrix, joined, second)) / square if second >= 0 else 0.0
    return max(one, other) >= choice.alike


@inlined_kernel
def _choose(senses: Senses, choice: Choice, entry: int, context: Int32s, others: int) -> tuple[int, float]:
    """Return the row of the sense that is meant, and how near it is, as `context.choose` does."""
    begin, end = senses.start[entry], senses.start[entry + 1]
    if not senses.has_own[entry] and not others:
        return begin, 1.0
    square = 0
    for d in range(len(context)):
        square += int(context[d]) * int(context[d])
    length = sqrt(float(square)) if others else 0.0
    best, score, near = begin, -2.0, 0.0
    for row in range(begin, end):
        product = 0
        for d in range(len(context)):
            product += int(senses.matrix[row, d]) * int(context[d])
        to_context = float(product) / (choice.scale * length) if length else 0.0
        i = row - begin
        found = senses.near[row] + choice.context * to_context + (choice.first if i == 0 else -choice.later * i)
        if found > score:
            best, score, near = row, found, max(senses.near[row], to_context)
    return best, near


@inlined_kernel
def _context(
    facts: Int32s, vectors: Int8s, codes: Int32s, words: tuple[int, int, int, int], total: Int32s, context: Int32s
) -> int:
    """Set the sum of the vectors of all words of a query but some, and return how many have one.

    total = that of all words, summed here once: total[-1] is -1 before.
    """
    first, last, start, end = words
    size = vectors.shape[1]
    if total[size] < 0:
        for d in range(size + 1):
            total[d] = 0
        for i in range(first, last):
            row = facts[codes[i], ROW]
            if row >= 0:
                total[size] += 1
                for d in range(size):
                    total[d] += vectors[row, d]
    others = total[size]
    for d in range(size):
        context[d] = total[d]
    for i in range(start, end):
        row = facts[codes[i], ROW]
        if row >= 0:
            others -= 1
            for d in range(size):
                context[d] -= vectors[row, d]
    return int(others)


@lean_kernel
def read_layers(
    which: Int64s,
    queries: Queries,
    facts: Int32s,
    vectors: Int8s,
    names: Names,
    labels: Labels,
    senses: Senses,
    choice: Choice,
    found: Found,
    room: Room,
) -> None:
    """Find the units of some queries, by number; `found` is filled for these."""
    codes, size = queries.code, vectors.shape[1]
    value, covered, scratch, total, context = room
    for w in range(len(which)):
        q = which[w]
        first, last = queries.start[q], queries.start[q + 1]
        n = last - first
        for i in range(n):
            value[i], covered[i] = NOTHING, False
        total[size] = -1
        pending = False
        at, end = first, first
        while at < last:
            while end <= at or not queries.ends[end - 1]:  # of the clause
                end += 1
            length, concept = _name(names, facts, codes, (first, last, at, end))
            code, done = codes[at], bool(facts[codes[at], FLAGS] & STOP)
            if not done and at + 1 < end:
                words = min(_longest(labels, facts, codes, at, scratch), end - at)
                while words > max(length, 1):
                    sense, several = _first_sense(labels, facts, codes, at, at + words, scratch)
                    if sense >= 0:
                        length, concept, done = words, int(labels.concept[sense]), True
                        others = 0
                        if several:
                            others = _context(facts, vectors, codes, (first, last, at, at + words), total, context)
                        if others:
                            label = _find(senses.span, codes, at, at + words)
                            if label < 0:
                                pending = True
                                found.label[found.missing[2], 0], found.label[found.missing[2], 1] = at, words
                                found.missing[2] += 1
                            else:
                                row, _ = _choose(senses, choice, int(senses.span_entry[label]), context, others)
                                concept = int(senses.concept[row])
                        break
                    words -= 1
                second = codes[at + 1]
                if not done and length < 2 and not facts[second, FLAGS] & STOP:
                    joined = queries.joined_sense[at]
                    if joined >= 0 and _is_alike(
                        vectors, choice, queries.joined_row[at], facts[code, ROW], facts[second, ROW]
                    ):
                        length, concept, done = 2, int(labels.concept[joined]), True
                    elif choice.guesses and facts[code, FLAGS] & BEFORE & (facts[second, FLAGS] >> 1):
                        length, concept, done = 2, choice.person, True
            if not done and length < 1 and facts[code, FLAGS] & CONCEPT and G <= queries.classes[at] <= N:
                others = _context(facts, vectors, codes, (first, last, at, at + 1), total, context)
                if not others and facts[code, SENSE] != NOTHING:
                    if facts[code, SENSE] >= 0:
                        length, concept = 1, int(labels.concept[facts[code, SENSE]])
                elif facts[code, ENTRY] < 0:
                    pending = True
                    covered[at - first] = True  # so that no guess is asked for that may not be needed
                    if facts[code, ENTRY] == UNKNOWN:
                        facts[code, ENTRY] = ASKED
                        found.word[found.missing[1]] = code
                        found.missing[1] += 1
                else:
                    row, near = _choose(senses, choice, int(facts[code, ENTRY]), context, others)
                    if not near < senses.foreign[facts[code, ENTRY]]:
                        length, concept = 1, int(senses.concept[row])
            if length:
                value[at - first] = concept
                for i in range(at - first, at - first + length):
                    covered[i] = True
            at += max(length, 1)
        if choice.guesses:
            for i in range(n):
                code = codes[first + i]
                if covered[i] or facts[code, FLAGS] & STOP or not G <= queries.classes[first + i] <= N:
                    continue
                if facts[code, GUESS] == UNKNOWN or facts[code, GUESS] == ASKED:
                    pending = True
                    if facts[code, GUESS] == UNKNOWN:
                        facts[code, GUESS] = ASKED
                        found.guess[found.missing[0]] = code
                        found.missing[0] += 1
                elif facts[code, GUESS] != NOTHING:
                    value[i], covered[i] = facts[code, GUESS], True
        found.units[q] = PENDING if pending else _write(queries.phrase, first, n, room, found.concept, first + q)


@inlined_kernel
def _write(phrase: Int32s, first: int, n: int, room: Room, concept: Int32s, at: int) -> int:
    """Write the concepts of a query's units in order, one at least, and return their number."""
    for p in range(n):
        touched = phrase[first + p] == 0  # no phrase begins here
        for i in range(p, phrase[first + p] - first):
            touched = touched or room.covered[i]
        if not touched:
            room.value[p] = NO_CODE
    units = 0
    for i in range(n):
        if room.value[i] != NOTHING:
            concept[at + units] = room.value[i]
            units += 1
    if units == 0:
        concept[at] = NO_CODE
        units = 1
    return units
