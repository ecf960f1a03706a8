r"""The tree of categories as arrays: names below names, looked up by hash.

.. code-block:: text

    entries  int32[m, 4]      PARENT (-1 = none) | SET of the branch (-1 = the tree has no branches)
                              | NODE whose path ends here (-1 = none) | DEPTH, from 1
    ends     int64[m]         where the name of each entry ends in `texts`; it begins where the one before ends
    texts    uint8            the names, without anything between: S p o r t s R o w i n g ...
    slots    uint64[2^b, 2]   HASH of (parent, name) | entry + 1; 0 = the slot is free. At most half are taken
    nodes    int32[n, 2]      ENTRY (-1 = the unclassified) | OWN set (-1 = its branch is its own set)
    counts   int64[4]         ENTRIES, NODES, SETS in use; UNCLASSIFIED: its node, -1 = none

    entry 0: (-1, "Sports") ── entry 1: (0, "Rowing")        path Sports/Rowing = node of entry 1

The caller (`CategoryTree`) owns the arrays, and makes larger ones where there is no room. What is there never changes,
but for NODE, which is set once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

PARENT, SET, NODE, DEPTH, ENTRY_COLUMNS = range(5)
ENTRY, OWN, NODE_COLUMNS = range(3)
ENTRIES, NODES, SETS, UNCLASSIFIED, COUNTS = range(5)
HASH, TAG = 0, 1
BAD = -1  # levels of a path of which one is empty
FACTOR = np.uint64(0x9E3779B97F4A7C15)
ROOT = 3  # bytes of "top"


class Tree(NamedTuple):
    """The arrays: see the drawing above."""

    entries: Int32s
    ends: Int64s
    texts: Bytes
    slots: Words
    nodes: Int32s
    counts: Int64s


@inlined_kernel
@wraps_around
def _hash(data: Bytes, begin: int, end: int, parent: int, key: np.uint64) -> np.uint64:
    """Hash a name below a parent; without the key nobody can write names that all fall into one slot."""
    h = (np.uint64(parent + 1) ^ key) * FACTOR
    h ^= h >> np.uint64(32)
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * FACTOR
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return h ^ (h >> np.uint64(27))


@inlined_kernel
def _is_name(tree: Tree, entry: int, data: Bytes, begin: int, end: int) -> bool:
    """Tell whether an entry has this name."""
    first = tree.ends[entry - 1] if entry > 0 else 0
    if tree.ends[entry] - first != end - begin:
        return False
    for i in range(end - begin):  # noqa: SIM110 - compiled
        if tree.texts[first + i] != data[begin + i]:
            return False
    return True


@inlined_kernel
def _child(tree: Tree, parent: int, data: Bytes, begin: int, end: int, key: np.uint64, borrows: bool) -> int:
    """Return the entry of a name below another entry; a new one is added: there must be room."""
    h, mask = _hash(data, begin, end, parent, key), len(tree.slots) - 1
    slot = np.int64(h) & mask
    while tree.slots[slot, TAG] != 0:
        if tree.slots[slot, HASH] == h:
            entry = int(tree.slots[slot, TAG]) - 1
            if tree.entries[entry, PARENT] == parent and _is_name(tree, entry, data, begin, end):
                return entry
        slot = (slot + 1) & mask
    entry = int(tree.counts[ENTRIES])
    tree.counts[ENTRIES] = entry + 1
    tree.slots[slot, HASH], tree.slots[slot, TAG] = h, np.uint64(entry + 1)
    first = tree.ends[entry - 1] if entry > 0 else 0
    for i in range(end - begin):
        tree.texts[first + i] = data[begin + i]
    tree.ends[entry] = first + end - begin
    tree.entries[entry, PARENT], tree.entries[entry, NODE] = parent, -1
    tree.entries[entry, DEPTH] = 1 + (tree.entries[parent, DEPTH] if parent >= 0 else 0)
    tree.entries[entry, SET] = -1
    if borrows:
        tree.entries[entry, SET] = tree.counts[SETS]
        tree.counts[SETS] += 1
    return entry


@inlined_kernel
def _new_node(tree: Tree, entry: int, own: bool) -> int:
    """Add a node, with a set of its own where its branch is none."""
    node = tree.counts[NODES]
    tree.counts[NODES] = node + 1
    tree.nodes[node, ENTRY], tree.nodes[node, OWN] = entry, -1
    if own:
        tree.nodes[node, OWN] = tree.counts[SETS]
        tree.counts[SETS] += 1
    return int(node)


@lean_kernel
def add_paths(
    tree: Tree,
    shape: tuple[int, bool],
    key: np.uint64,
    data: Bytes,
    levels: Int64s,
    counts: Int32s,
    node: Int32s,
    first: tuple[int, int],
) -> tuple[int, int]:
    """Fill node int32[n] with the nodes of paths, -1 = it is bad; stops where there may not be room.

    shape = depth, whether there are branches; levels int64[*, 2]: begin and end of the names in `data`, path after
    path; counts int32[n]: names of each path, or BAD; names below the depth are passed over. first = path and level to
    begin with; returns those to go on with.
    """
    depth, borrows = shape
    path, level = first
    while path < len(counts):
        if counts[path] == BAD:
            node[path] = BAD
            path += 1
            continue
        used, size = min(counts[path], depth), 0
        for i in range(level, level + used):
            size += levels[i, 1] - levels[i, 0]
        known = tree.counts[ENTRIES]
        last = tree.ends[known - 1] if known > 0 else 0
        room = known + used <= len(tree.entries) and 2 * (known + used) <= len(tree.slots)
        if not room or last + size > len(tree.texts) or tree.counts[NODES] == len(tree.nodes):
            break
        entry = -1
        for i in range(level, level + used):
            entry = _child(tree, entry, data, levels[i, 0], levels[i, 1], key, borrows)
        found = tree.entries[entry, NODE] if entry >= 0 else tree.counts[UNCLASSIFIED]
        if found < 0:
            found = _new_node(tree, entry, not borrows or used < depth)
            if entry >= 0:
                tree.entries[entry, NODE] = found
            else:
                tree.counts[UNCLASSIFIED] = found
        node[path] = found
        level += counts[path]
        path += 1
    return path, level


@lean_kernel
def move_slots(old: Words, slots: Words) -> None:
    """Put what is in a table into a larger one, which is empty."""
    mask = len(slots) - 1
    for i in range(len(old)):
        if old[i, TAG] == 0:
            continue
        slot = np.int64(old[i, HASH]) & mask
        while slots[slot, TAG] != 0:
            slot = (slot + 1) & mask
        slots[slot, HASH], slots[slot, TAG] = old[i, HASH], old[i, TAG]


@lean_kernel
def fill_chains(tree: Tree, first: int, chains: Int32s, length: Int32s) -> None:
    """Fill the sets of the nodes from `first` on: branches from depth 1 down, then its own; -1 past the length.

    chains int32[n, width], length int32[n].
    """
    for i in range(len(chains)):
        entry, own = tree.nodes[first + i, ENTRY], tree.nodes[first + i, OWN]
        branches = 0
        if entry >= 0 and tree.entries[entry, SET] >= 0:
            branches = tree.entries[entry, DEPTH]
        for level in range(chains.shape[1]):
            chains[i, level] = -1
        for level in range(branches - 1, -1, -1):
            chains[i, level] = tree.entries[entry, SET]
            entry = tree.entries[entry, PARENT]
        if own >= 0:
            chains[i, branches] = own
        length[i] = branches + (1 if own >= 0 else 0)


@lean_kernel
def split_plain_paths(
    texts: Bytes, ends: Int64s, begin: int, separator: int, levels: Int64s, counts: Int32s
) -> tuple[int, int]:
    """Find the levels of paths, as `split_path` does, in texts without blanks or bytes outside ASCII.

    ends int64[n]: where each path ends in `texts`; the first begins at `begin`. Fills levels int64[*, 2] and counts
    int32[n] as `add_paths` takes them. Stops at a text that is not plain; returns how many paths and levels there are.
    `separator` is one byte, and plain itself.
    """
    n = 0
    for path in range(len(ends)):
        end, top = ends[path], n
        after = end
        for i in range(begin, end):
            if texts[i] <= 32 or texts[i] >= 127:
                return path, n
        while begin < end and texts[begin] == separator:
            begin += 1
        while begin < end and texts[end - 1] == separator:
            end -= 1
        at, is_bad = begin, begin == end
        for i in range(begin, end + 1):
            if i == end or texts[i] == separator:
                is_bad |= i == at
                if not is_bad and not (n == top and at == begin and _is_root(texts, at, i)):
                    levels[n, 0], levels[n, 1] = at, i
                    n += 1
                at = i + 1
        counts[path] = n - top
        if is_bad:
            counts[path], n = BAD, top
        begin = after
    return len(ends), n


@inlined_kernel
def _is_root(texts: Bytes, begin: int, end: int) -> bool:
    """Tell whether a name is that of the root, "top", in whichever case."""
    if end - begin != ROOT:
        return False
    return texts[begin] | 32 == 116 and texts[begin + 1] | 32 == 111 and texts[begin + 2] | 32 == 112  # type: ignore[no-any-return]
