"""How well the classes of a generalized release agree with what is known of each person.

The memory, made by the caller and read only; nodes are in depth-first order, so that a subtree is a range:

    known      Ragged, row t = the nodes that person t is known to have asked about, ascending, with repetition
    Items      rows of all classes, one after the other: class c is start[c] .. start[c + 1] - 1, ascending by node
                 node[i], end[i]   item i stands for something at node[i] .. end[i] - 1
                 worth[i]          how specific it is

and of `name_classes`, one per person:

    open       int64[most known], known nodes that no item stands for yet, the smallest on top

Why a stack is enough. Ranges of items are nested or disjoint. Items are taken from the last to the first: those below
an item come before it. Known nodes go on the stack in the same order, so what is in the range of an item is on top. An
item takes one of them, no matter which: whoever comes later and could take one of them could take all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["Items", "Named", "Rule", "agreement", "name_classes"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Items(NamedTuple):
    """The published items of every class."""

    start: Int64s
    node: Int32s
    end: Int32s
    worth: Int64s


class Rule(NamedTuple):
    """What makes a class a worse guess."""

    explained: bool
    """an item that stands for nothing known is a fault: all that the person asked is known"""
    covered: bool
    """a known node that no item stands for is a fault: the method suppresses nothing"""
    matched: int
    missed: int
    """score of a class: matched * worth of the items that stand for something known, - missed * worth of the others"""


class Named(NamedTuple):
    """What the attacker names for each person."""

    candidates: Int64s
    """int64[persons], published ids in the best classes"""
    right: npt.NDArray[np.bool_]
    """bool[persons], the right class is one of them"""
    consistent: Int64s
    """int64[persons], classes without a fault"""

    @property
    def chance(self) -> npt.NDArray[np.float64]:
        """float64[persons]: the chance of naming the right id, guessing among all ids of the best classes."""
        return self.right / np.maximum(self.candidates, 1)


@kernel
def agreement(
    known: Ragged, items: Items, t: int, c: int, rule: Rule, most_faults: int, open_: Int64s
) -> tuple[int, int]:
    """Return the faults of class c for person t, and its score. Stops where there are more than `most_faults`."""
    low, high = known.start[t], known.start[t + 1]
    faults, score = 0, 0
    if rule.covered:
        reach, i = -1, items.start[c]
        for at in range(low, high):
            while i < items.start[c + 1] and items.node[i] <= known.values[at]:
                reach = max(reach, items.end[i])
                i += 1
            if known.values[at] >= reach:
                faults += 1
        if faults > most_faults:
            return faults, 0
    top, at = 0, high - 1
    for i in range(items.start[c + 1] - 1, items.start[c] - 1, -1):
        while at >= low and known.values[at] >= items.node[i]:
            open_[top] = known.values[at]
            top += 1
            at -= 1
        if top and open_[top - 1] < items.end[i]:
            top -= 1
            score += rule.matched * items.worth[i]
        else:
            score -= rule.missed * items.worth[i]
            if rule.explained:
                faults += 1
                if faults > most_faults:
                    return faults, 0
    return faults, score


@parallel_kernel
def name_classes(known: Ragged, items: Items, ids: Int64s, owner: Int64s, rule: Rule) -> Named:
    """Name for each person the classes with the fewest faults, and among these the highest score; ties are kept.

    ids: int64[classes], published ids in each; owner: int64[persons], the right class.
    """
    persons, classes = len(known.start) - 1, len(items.start) - 1
    candidates = np.zeros(persons, dtype=np.int64)
    right = np.zeros(persons, dtype=np.bool_)
    consistent = np.zeros(persons, dtype=np.int64)
    for t in numba.prange(persons):
        open_ = np.empty(known.start[t + 1] - known.start[t], dtype=np.int64)
        fewest = len(items.node) + len(open_)  # no class has more faults
        best = 0
        for c in range(classes):
            faults, score = agreement(known, items, t, c, rule, fewest, open_)
            if faults == 0:
                consistent[t] += 1
            if faults < fewest or (faults == fewest and (score > best or candidates[t] == 0)):
                fewest, best = faults, score
                candidates[t] = ids[c]
                right[t] = owner[t] == c
            elif faults == fewest and score == best:
                candidates[t] += ids[c]
                right[t] |= owner[t] == c
    return Named(candidates, right, consistent)
