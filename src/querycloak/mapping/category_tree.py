"""The tree of the categories seen so far in a stream: a path becomes a node, and a node has a chain of sets."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.category_paths import split_path
from querycloak.mapping import _category_tree_kernels as kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.arrays.vocabulary import ByteCodes

__all__ = ["UNCLASSIFIED", "CategoryTree", "split_path"]

Int32s = npt.NDArray[np.int32]
Path = tuple[str, ...]

UNCLASSIFIED: Final[Path] = ()
"""Path of what could not be classified: a separate top-level branch."""
MOST_REMEMBERED: Final = 1 << 16
"""Paths that `node` remembers."""
BLANK: Final = 32
DELETE: Final = 127


class CategoryTree:
    """Nodes by path, cut to a depth, and the sets each is in. It grows with the categories, not with the stream.

    One thread may read it while another adds: `len` and `sets` are set after what they count is there.
    """

    def __init__(self, depth: int, *, borrows: bool = True) -> None:
        """Make an empty tree; without `borrows` a node has its own set alone, and no branch."""
        self.depth = depth
        self.borrows = borrows
        self.width = depth if borrows else 1
        self.sets = 0
        self._size = 0
        self._key = np.uint64(int.from_bytes(os.urandom(8)))  # nodes do not depend on it
        self._remembered: dict[Path, int] = {}
        self._tree = kernels.Tree(
            entries=np.empty((128, kernels.ENTRY_COLUMNS), dtype=np.int32),
            ends=np.empty(128, dtype=np.int64),
            texts=np.empty(1024, dtype=np.uint8),
            slots=np.zeros((256, 2), dtype=np.uint64),
            nodes=np.empty((64, kernels.NODE_COLUMNS), dtype=np.int32),
            counts=np.array([0, 0, 0, -1], dtype=np.int64),
        )

    def __len__(self) -> int:
        return self._size

    def node(self, path: Path | None) -> int:
        """Return the node of a path cut to the depth; a new one is added."""
        if path is None:
            raise ValueError("a category path has an empty level")
        cut = path[: self.depth]
        node = self._remembered.get(cut)
        if node is None:
            node = int(self.nodes([cut])[0])
            if len(self._remembered) < MOST_REMEMBERED:
                self._remembered[cut] = node
        return node

    def nodes(self, paths: Sequence[Path | None]) -> Int32s:
        """int32[n]: nodes of paths, cut to the depth; -1 = None, a path with an empty level. New ones are added."""
        names = [[name.encode(errors="surrogatepass") for name in path or ()] for path in paths]
        ends = np.cumsum([0, *(len(name) for path in names for name in path)], dtype=np.int64)
        counts = [kernels.BAD if path is None else len(path) for path in paths]
        data = np.frombuffer(bytearray(b"".join(name for path in names for name in path)), dtype=np.uint8)
        return self._add(data, np.stack([ends[:-1], ends[1:]], axis=1), np.array(counts, dtype=np.int32))

    def nodes_from(self, texts: ByteCodes, first: int, separator: str) -> Int32s:
        """int32[n]: nodes of the paths that are written in the texts from code `first` on, as `nodes` returns them.

        Plain texts are split by a kernel. From one that is not on, `split_path` splits all: it knows every blank.
        """
        ends = texts.ends[first + 1 : len(texts) + 1]
        begin = int(texts.ends[first]) if first > 0 else 0
        byte = ord(separator) if len(separator) == 1 else 0
        if not len(ends) or not BLANK < byte < DELETE:
            return self.nodes([split_path(text.decode(), separator) for text in texts.texts_from(first)])
        counts = np.empty(len(ends), dtype=np.int32)
        size = int(ends[-1]) - begin
        levels = np.empty((size // 2 + len(ends) + 1, 2), dtype=np.int64)  # a level and its separator take two bytes
        plain, used = kernels.split_plain_paths(texts.texts, ends, begin, byte, levels, counts)
        made = self._add(texts.texts, levels[:used], counts[:plain])
        if plain == len(ends):
            return made
        rest = [split_path(text.decode(), separator) for text in texts.texts_from(first + plain)]
        return np.concatenate([made, self.nodes(rest)])

    def _add(self, data: npt.NDArray[np.uint8], levels: npt.NDArray[np.int64], counts: Int32s) -> Int32s:
        """int32[n]: nodes of paths; arguments as in the kernel."""
        node, first = np.empty(len(counts), dtype=np.int32), (0, 0)
        shape = (self.depth, self.borrows)
        while True:
            first = kernels.add_paths(self._tree, shape, self._key, data, levels, counts, node, first)
            self._publish()
            if first[0] == len(counts):
                return node
            wanted = levels[first[1] : first[1] + int(counts[first[0]])]
            self._grow(len(wanted), int((wanted[:, 1] - wanted[:, 0]).sum()))

    def _publish(self) -> None:
        """Let other threads see what was added: first the nodes, then their number."""
        self.sets = int(self._tree.counts[kernels.SETS])
        self._size = int(self._tree.counts[kernels.NODES])

    def _grow(self, levels: int, size: int) -> None:
        """Make room for a path of so many levels and bytes, and then as much again."""
        tree = self._tree
        known, nodes = int(tree.counts[kernels.ENTRIES]), int(tree.counts[kernels.NODES])
        used = int(tree.ends[known - 1]) if known else 0
        if known + levels > len(tree.entries) or 2 * (known + levels) > len(tree.slots):
            room = 1 << (2 * (known + levels)).bit_length()
            slots = np.zeros((2 * room, 2), dtype=np.uint64)
            kernels.move_slots(tree.slots, slots)
            tree = tree._replace(
                entries=_longer(tree.entries, known, room), ends=_longer(tree.ends, known, room), slots=slots
            )
        if used + size > len(tree.texts):
            tree = tree._replace(texts=_longer(tree.texts, used, 2 * (used + size)))
        if nodes == len(tree.nodes):
            tree = tree._replace(nodes=_longer(tree.nodes, nodes, 4 * nodes))
        self._tree = tree

    def chains(self, first: int = 0) -> tuple[Int32s, Int32s]:
        """Return the sets of each node from `first` on: int32[nodes, width], the widest first, -1 = none; int32[nodes].

        The second array is the length of each chain.
        """
        n = len(self) - first  # before the arrays: another thread may add to the tree
        chains, length = np.empty((n, self.width), dtype=np.int32), np.empty(n, dtype=np.int32)
        kernels.fill_chains(self._tree, first, chains, length)
        return chains, length

    def paths(self) -> list[Path]:
        """Return the path of each node, in the order of the nodes."""
        n = len(self)
        tree = self._tree
        known = int(tree.counts[kernels.ENTRIES])
        ends = [0, *tree.ends[:known].tolist()]
        texts = tree.texts[: ends[-1]].tobytes()
        found: list[Path] = []
        for parent, (begin, end) in zip(tree.entries[:known, kernels.PARENT].tolist(), pairwise(ends), strict=True):
            name = texts[begin:end].decode(errors="surrogatepass")
            found.append((*(found[parent] if parent >= 0 else ()), name))
        return [found[entry] if entry >= 0 else UNCLASSIFIED for entry in tree.nodes[:n, kernels.ENTRY].tolist()]

    def depths(self) -> Int32s:
        """Return the depth of each node after the cut: int32[nodes], 0 = unclassified."""
        n = len(self)
        tree = self._tree
        entry = tree.nodes[:n, kernels.ENTRY]
        return np.where(entry >= 0, tree.entries[entry, kernels.DEPTH], 0).astype(np.int32)


def _longer(array: npt.NDArray[Any], used: int, rows: int) -> npt.NDArray[Any]:
    """Return an array of so many rows, with those in use."""
    out = np.empty((rows, *array.shape[1:]), dtype=array.dtype)
    out[:used] = array[:used]
    return out
