"""The people who have asked each text, run of words and label of a stream so far: memory of `_text_kernels`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, require, take
from querycloak.methods.stream import _text_kernels as kernels
from querycloak.methods.stream._text_kernels import Store

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PeopleSoFar"]

Words = npt.NDArray[np.uint64]
_HALF = np.uint64(32)


class PeopleSoFar:
    """Items and their people, in arrays that grow. No more than `enough` people of an item are told apart."""

    def __init__(self, enough: int) -> None:
        self.enough = enough
        self.store = Store(
            slots=np.zeros((1024, 2), dtype=np.uint64),
            items=np.zeros((512, kernels.ITEM_COLUMNS), dtype=np.int32),
            pairs=np.zeros(1024, dtype=np.uint64),
            counts=np.array([0, 0, 0, 64 - 10, 64 - 10], dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self.store.counts[kernels.ITEMS])

    @property
    def phrases(self) -> int:
        """Items that are no labels."""
        return int(self.store.counts[kernels.PHRASES])

    @property
    def memory(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.store)

    def until_done(self, work: Callable[[int], int], n: int, make_room: Callable[[], None]) -> None:
        """Call a kernel that returns how far it came, and make room, until it has done all n."""
        done = 0
        while (done := work(done)) < n:
            make_room()

    def more_items(self, wanted: int) -> None:
        """Make room for so many more items."""
        store, needed = self.store, len(self) + wanted
        if needed > len(store.items):
            items = np.zeros((max(2 * len(store.items), needed), kernels.ITEM_COLUMNS), dtype=np.int32)
            items[: len(self)] = store.items[: len(self)]
            store = store._replace(items=items)
        if 2 * needed > len(store.slots):
            bits = (2 * needed).bit_length()
            slots = np.zeros((1 << bits, 2), dtype=np.uint64)
            kernels.move_keys(store.slots, 64 - bits, slots)
            store = store._replace(slots=slots)
            store.counts[kernels.SLOT_SHIFT] = 64 - bits
        self.store = store

    def more_pairs(self, wanted: int) -> None:
        """Forget the pairs of items that have enough people; take more room where that is not much."""
        store = self.store
        bits = 64 - int(store.counts[kernels.PAIR_SHIFT])
        kept = np.zeros(1 << bits, dtype=np.uint64)
        used = kernels.keep_pairs(store.pairs, store.items, self.enough, 64 - bits, kept)
        if 4 * used > len(kept) or 2 * (used + wanted) > len(kept):
            bits = max(bits + 1, (2 * (used + wanted)).bit_length())
            larger = np.zeros(1 << bits, dtype=np.uint64)
            kernels.keep_pairs(kept, store.items, self.enough, 64 - bits, larger)
            kept = larger
        store.counts[kernels.PAIRS], store.counts[kernels.PAIR_SHIFT] = used, 64 - bits
        self.store = store._replace(pairs=kept)

    def to_arrays(self) -> Arrays:
        """Return what a checkpoint keeps. What texts hold is not among it: they are looked at again where they come."""
        n, store = len(self), self.store
        pairs = store.pairs[store.pairs != 0]
        few = store.items[(pairs >> _HALF).astype(np.int64) - 1, kernels.PEOPLE] < self.enough
        return {
            "keys": self._keys(),
            "people": store.items[:n, kernels.PEOPLE].copy(),
            "first": store.items[:n, kernels.FIRST].copy(),
            "pairs": np.sort(pairs[few]),
        }

    def restore(self, arrays: Arrays, *, words: int, spellings: int, labels: int, users: int) -> None:
        """Go on from `to_arrays`, with so many of each known; BadStateError where that cannot be.

        Kernels look items up without checking their codes, and rely on all people of an item being there once.
        """
        keys = take(arrays, "keys", np.uint64)
        n = len(keys)
        people = take(arrays, "people", np.int32, length=n, low=0, high=self.enough)
        first = take(arrays, "first", np.int32, length=n, low=-1, high=users - 1)
        pairs = take(arrays, "pairs", np.uint64)
        kind, low = keys >> np.uint64(62), (keys & np.uint64((1 << 62) - 1)).astype(np.int64)
        above, word = low >> 32, low & 0xFFFFFFFF
        is_run = kind == 0
        require((kind <= 2).all() and (keys != 0).all(), "items are runs, spellings or labels")
        require((above[is_run] <= np.flatnonzero(is_run)).all(), "a run comes after the run without its last word")
        require(is_run[above[is_run & (above > 0)] - 1].all(), "a run is in no label")
        require((word[is_run] <= words).all(), "runs are of known words")
        require((low[kind == 2] < spellings).all() and (low[kind == 1] < labels).all(), "items have known texts")
        require(((first >= 0) == (people > 0)).all(), "who has people has a first one")

        item, person = (pairs >> _HALF).astype(np.int64) - 1, (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
        require((item >= 0).all() and (item < n).all() and (person < users).all(), "pairs are of known codes")
        require(len(np.unique(pairs)) == len(pairs), "each pair is there once")
        require((person != first[item]).all(), "the first person of an item is in no pair")
        few = people < self.enough
        require(few[item].all(), "pairs are of items that few have asked")
        found = np.bincount(item, minlength=n) + (first >= 0)
        require(np.array_equal(found[few], people[few]), "each person of an item that few have asked is there")

        slot_bits, pair_bits = max(10, (2 * n).bit_length()), max(10, (4 * len(pairs)).bit_length())
        slots = np.zeros((1 << slot_bits, 2), dtype=np.uint64)
        listed = np.stack([keys, np.arange(n, dtype=np.uint64)], axis=1)
        require(kernels.move_keys(listed, 64 - slot_bits, slots), "each item is there once")
        items = np.zeros((max(512, n), kernels.ITEM_COLUMNS), dtype=np.int32)
        items[:n, kernels.PEOPLE], items[:n, kernels.FIRST] = people, first
        room = np.zeros(1 << pair_bits, dtype=np.uint64)
        used = kernels.keep_pairs(pairs, items, self.enough, 64 - pair_bits, room)
        phrases = int((kind != 1).sum())
        counts = np.array([n, phrases, used, 64 - slot_bits, 64 - pair_bits], dtype=np.int64)
        self.store = Store(slots, items, room, counts)

    def _keys(self) -> Words:
        """uint64[items]: the key of each."""
        slots, keys = self.store.slots, np.zeros(len(self), dtype=np.uint64)
        taken = slots[:, kernels.KEY] != 0
        keys[slots[taken, kernels.CODE].astype(np.int64)] = slots[taken, kernels.KEY]
        return keys
