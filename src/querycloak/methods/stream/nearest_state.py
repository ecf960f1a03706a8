"""The state of `nearest` as plain arrays, to be saved and read again; `engine_state` is for the other engines.

As there, what the kernels index with is never saved: all slots, entries, lists and blocks are built again from what the
state means, so that a crafted one can describe another stream, but cannot make a kernel read outside its arrays:

    paths        uint8[*]         the paths of all nodes, in their order, as JSON
    number       int64[waiting]   running numbers of the records that wait, in their order
    node, asker  int32[waiting]   where they wait, and who asked them
    token        int64[waiting]   running numbers of the records that the waiting users came with, in their order
    token_node, holder  int32[waiting]   where they wait, and who they are
    set_records  int32[*]         of each set its records (positions in `number`), in the order of its bag
    set_users    int32[*]         of each set its distinct users, in the order of its bag
    top_tokens   int32[*]         of each set of level 0 its tokens (positions in `token`), in the order of its bag
    ready        int32[*]         the ready sets, row by row of the machine's table, in the order of their bags
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, require, take
from querycloak.methods.stream import _nearest_kernels as kernels
from querycloak.methods.stream.engine import aligned_table
from querycloak.methods.stream.nearest import free_entries, numbers
from querycloak.methods.stream.state_bags import Arena, items_of, next_power_of_two, positions_of, within

if TYPE_CHECKING:
    from querycloak.methods.stream.nearest import Nearest

__all__ = ["CURSOR", "build", "waiting_arrays"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

CURSOR: Final = kernels.CURSOR


def waiting_arrays(engine: Nearest) -> Arrays:
    """Return the arrays of the drawing above, without `paths`."""
    m = engine._state  # noqa: SLF001 - this module is the other half of the engine
    sets = m.sets[: engine.tree.sets]
    record, token = (_slots_by_number(m, rows) for rows in (m.records, m.tokens))
    set_record, _ = items_of(m.arena, sets, kernels.QUERIES)
    entry, _ = items_of(m.arena, sets, kernels.USERS)
    top_token, _ = items_of(m.arena, sets, kernels.TOKENS)
    ready, _ = items_of(m.arena, m.ready, 0)
    return {
        "number": numbers(m.records[record]),
        "node": m.records[record, kernels.NODE],
        "asker": m.records[record, kernels.ASKER],
        "token": numbers(m.tokens[token]),
        "token_node": m.tokens[token, kernels.NODE],
        "holder": m.tokens[token, kernels.HOLDER],
        "set_records": positions_of(record, len(m.records))[set_record],
        "set_users": m.entries[entry, kernels.USER],
        "top_tokens": positions_of(token, len(m.tokens))[top_token],
        "ready": ready.astype(np.int32),
    }


def _slots_by_number(m: kernels.Pools, rows: Int32s) -> Int64s:
    """int64[waiting]: the slots in use, in the order of their running numbers."""
    used = np.flatnonzero(rows[: int(m.counts[kernels.SLOT_TOP]), kernels.ASKER] >= 0)  # of tokens: HOLDER
    return used[np.argsort(numbers(rows[used]))]


class _Waiting:
    """What waits, checked: after this, everything is consistent, and every index is in its range."""

    def __init__(self, engine: Nearest, arrays: Arrays, entered: int) -> None:
        tree, sets = engine.tree, engine.tree.sets
        waiting = self.waiting = len(take(arrays, "number", np.int64))
        high = entered - 1
        self.number, self.token = (
            take(arrays, name, np.int64, length=waiting, low=0, high=high) for name in ("number", "token")
        )
        for sorted_numbers in (self.number, self.token):
            require((np.diff(sorted_numbers) > 0).all(), "each record and each user waits once, in their order")
        longest = entered - 1 - int(self.number.min(initial=entered))
        require(engine.max_delay is None or longest < engine.max_delay, "no record waits for longer than it may")
        self.node, self.token_node = (
            take(arrays, name, np.int32, length=waiting, low=0, high=len(tree) - 1) for name in ("node", "token_node")
        )
        self.asker, self.holder = (take(arrays, name, np.int32, length=waiting, low=0) for name in ("asker", "holder"))
        self.chains, self.length = tree.chains()
        tops = [np.bincount(self.chains[nodes, 0], minlength=sets) for nodes in (self.node, self.token_node)]
        require(np.array_equal(tops[0], tops[1]), "as many users as records wait in each top-level category")

        item, level, where = self._places(self.node)
        self.sizes = np.bincount(where, minlength=sets)
        self.set_of = np.repeat(np.arange(sets), self.sizes)
        self.set_records = take(arrays, "set_records", np.int32, length=len(where), low=0, high=waiting - 1)
        expected = np.sort(where.astype(np.int64) * max(waiting, 1) + item)
        found = self.set_of * max(waiting, 1) + self.set_records
        require(np.array_equal(np.sort(found), expected), "each set holds the records that wait in it, once")
        self.level = np.zeros(sets, dtype=np.int64)
        self.level[where] = level

        item, level, where = self._places(self.token_node)
        self.level[where] = level
        key = where.astype(np.int64) << 31 | self.holder[item]
        pairs = np.unique(key)
        self.users = np.bincount(pairs >> 31, minlength=sets)
        self.entry_set = np.repeat(np.arange(sets), self.users)
        self.entry_user = take(arrays, "set_users", np.int32, length=len(pairs), low=0).astype(np.int64)
        named = self.entry_set << 31 | self.entry_user
        require(np.array_equal(np.sort(named), pairs), "each set holds the users that wait in it, once")
        by_key = np.argsort(named)
        self.entry = by_key[np.searchsorted(pairs, key)]
        order = np.lexsort((item, self.entry))
        self.entry, self.link_token, self.link_level = self.entry[order], item[order], level[order]

        top = np.flatnonzero(tops[1])
        self.top_sizes = tops[1]
        self.top_tokens = take(arrays, "top_tokens", np.int32, length=waiting, low=0, high=waiting - 1)
        require(len(np.unique(self.top_tokens)) == waiting, "each user waits once in its category")
        of = self.chains[self.token_node[self.top_tokens], 0]
        require(np.array_equal(of, np.repeat(top, tops[1][top])), "a category holds its own users")

        is_ready = np.flatnonzero((self.sizes > 0) & (self.users > engine.k))
        self.ready = take(arrays, "ready", np.int32, length=len(is_ready), low=0, high=sets - 1)
        require(np.array_equal(np.sort(self.ready), is_ready), "a set is ready with a record and more than k users")

    def _places(self, nodes: Int32s) -> tuple[Int64s, Int64s, Int32s]:
        """Return item, level and set of each place that items in these nodes have in their chains."""
        item, level = np.nonzero(np.arange(self.chains.shape[1]) < self.length[nodes][:, None])
        return item, level, self.chains[nodes[item], level]


def build(engine: Nearest, arrays: Arrays, entered: int) -> None:
    """Build the arrays of the kernels: record and token i get slot i, the users of sets get entries in their order."""
    w = _Waiting(engine, arrays, entered)
    m, n, entries_used = engine._state, w.waiting, len(w.entry_user)  # noqa: SLF001
    arena, sets = Arena(), len(w.sizes)
    for column, items, sizes in (
        (kernels.QUERIES, w.set_records, w.sizes),
        (kernels.USERS, np.arange(entries_used), w.users),
        (kernels.TOKENS, w.top_tokens, w.top_sizes),
    ):
        m.sets[:sets, column : column + kernels.BAG] = arena.bags(items, sizes)
    row = m.sets[w.ready, kernels.READY_ROW]
    require((np.diff(row) >= 0).all(), "ready sets are listed row by row")
    m.ready[:] = arena.bags(w.ready, np.bincount(row, minlength=len(m.ready)))
    m.sets[w.ready, kernels.READY_AT] = within(row)

    entries = free_entries(next_power_of_two(max(1024, entries_used + engine.tree.width + 1)))
    used = entries[:entries_used]
    used[:, kernels.SET], used[:, kernels.USER], used[:, kernels.SLOT] = w.entry_set, w.entry_user, within(w.entry_set)
    first = np.flatnonzero(np.diff(w.entry, prepend=-1))
    last = np.append(first[1:], len(w.entry)) - 1
    used[:, kernels.HEAD], used[:, kernels.TAIL] = w.link_token[first], w.link_token[last[: len(first)]]
    buckets = np.full(len(entries), -1, dtype=np.int32)
    kernels.rehash(entries, buckets, np.arange(entries_used, dtype=np.int32))

    rows = max(256, next_power_of_two(n + 1))
    records = aligned_table(rows, kernels.FIRST + engine.tree.width)
    tokens = aligned_table(rows, kernels.LINKS + 3 * engine.tree.width)
    for table, number, node, who in (
        (records, w.number, w.node, w.asker),
        (tokens, w.token, w.token_node, w.holder),
    ):
        table[:n, kernels.NODE], table[:n, kernels.ASKER] = node, who  # of tokens: HOLDER
        table[:n, kernels.ID_LOW], table[:n, kernels.ID_HIGH] = number & 0x7FFFFFFF, number >> 31
    records[:n, kernels.OLDER] = np.arange(n) - 1
    records[:n, kernels.YOUNGER] = np.append(np.arange(1, n), -1)[:n]
    records[w.set_records, kernels.FIRST + w.level[w.set_of]] = within(w.set_of)
    tokens[w.top_tokens, kernels.IN_TOP] = within(np.repeat(np.arange(sets), w.top_sizes))
    link = kernels.LINKS + 3 * w.link_level
    before, after = np.roll(w.link_token, 1), np.roll(w.link_token, -1)
    before[first], after[last[: len(first)]] = -1, -1
    tokens[w.link_token, link + kernels.ENTRY] = w.entry
    tokens[w.link_token, link + kernels.BEFORE] = before
    tokens[w.link_token, link + kernels.AFTER] = after

    counts = m.counts  # k, pool and the longest delay are those of the settings; free lists are empty
    counts[kernels.ARENA_TOP], counts[kernels.LARGEST] = arena.top, arena.largest
    counts[kernels.ENTRY_TOP] = counts[kernels.ENTRIES] = entries_used
    counts[kernels.SLOT_TOP] = counts[kernels.WAITING] = n
    counts[kernels.SEEN] = entered
    counts[kernels.OLDEST], counts[kernels.YOUNGEST] = (0, n - 1) if n else (-1, -1)
    engine._state = m._replace(  # noqa: SLF001
        entries=entries, buckets=buckets, records=records, tokens=tokens, arena=arena.joined()
    )
