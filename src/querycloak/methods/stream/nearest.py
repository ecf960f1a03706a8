"""The stream method `nearest`: a pool for each top-level category, the deepest ready set first, and no user moves.

A record and its asker's token wait in the node of the record's category, and so in every set of the node's chain. A set
is *ready* while a record and more than k distinct users wait in it; a branch lets out only while, besides, more than
`pool` records wait in its top-level category. When a record has entered, the deepest ready set of its top-level
category lets out a record, and then once more: first the own sets of nodes, where waiting longer brings nobody nearer,
then the branches, the deepest first; of several a random one. The record is uniform over those of the set. So nothing
leaves from a wide branch while a narrow one can let something out, whichever record has just entered.

A record that has waited for `max_delay` others leaves from the deepest ready set of its own chain, the pool full or
not; where none is ready it is dropped, with a token drawn uniformly from all that wait in its top-level category.

**The new user.** How near a user is = how deep the deepest set is that holds both the record and a token of the user.
The *circle* of a record is the k + 1 nearest distinct users, *whoever asked*; which of the equally near users of the
last class are in it is drawn uniformly. The new user is uniform over the circle without the asker: k or k + 1
candidates. The token that is used up is the one of that user in the set that came first. No token moves.

**What holds.** Which set lets out, which record, and the circle C depend on who waits where, and not on which of them
asked the record. So, given all that waits, P(published p | asked a, C) = 1 / k if a is in C, else 1 / (k + 1), for each
p in C other than a; and for any two people a, b other than p, whatever an attacker knows that was not drawn here,

    odds(a : b | he sees p) = odds(a : b | he does not) · r        with k / (k + 1) <= r <= (k + 1) / k.

*Whom a record is published under tells nearly nothing about who asked it*, but that it was not p. (The k nearest
*other than the asker* would not do: p in the last class then tells that the asker is one of the nearer ones, and r can
be anything.)

**What does not hold.** The odds that he begins with are not bounded by 1/k, and later departures add to them. The
asker's own token waits in the record's own node, at distance 0, until it is drawn, and leaves with a query from nearby.
An attacker who knows which ids wait where, or guesses it from where they are published next, begins far from 1/k:
`attacks/stream_pool.py`, and the figures in the method's card. The same is true of `self-adjusting`.

>>> from querycloak.randomness import Randomness
>>> engine = Nearest(k=2, depth=2, pool=3, random=Randomness(seed=7))
>>> out = engine.push([(f"u{i}", f"q{i}", "Food/Tea" if i else "Food/Ham") for i in range(4)])
>>> len(out), out[0][2], engine.waiting
(1, 'Food/Tea', 3)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.mapping.category_tree import CategoryTree
from querycloak.methods.stream import _nearest_kernels as kernels
from querycloak.methods.stream.engine import Departures, StreamEngine, aligned_table
from querycloak.randomness import Randomness

__all__ = ["Nearest", "free_entries", "numbers"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

NO_LIMIT: Final = 1 << 62


class Nearest(StreamEngine):
    """A pool of records for each top-level category; see the text above."""

    _state: kernels.Pools  # type: ignore[assignment]

    def __init__(
        self,
        k: int = 10,
        depth: int = 5,
        *,
        pool: int = 300,
        max_delay: int | None = None,
        random: Randomness | None = None,
    ) -> None:
        """Make an empty engine."""
        for name, value, least, below in (
            ("k", k, 2, 1 << 31),
            ("depth", depth, 1, 1000),
            ("pool", pool, 0, 1 << 31),
            ("max_delay", 1 if max_delay is None else max_delay, 1, 1 << 52),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value < below:
                raise ParameterError.of(f"Nearest.{name}", f"an integer >= {least} and < {below:,}", value)
        self.k = k
        self.depth = depth
        self.pool = pool
        self.max_delay = max_delay
        self.random = random if random is not None else Randomness()
        self.tree = CategoryTree(depth)
        self._users: dict[str, int] = {}
        self._user_names: list[str] = []
        self._texts: dict[int, tuple[str, str | None]] = {}
        self._state = _empty(self.tree.width)._replace(draws=self._words())
        counts = self._state.counts
        counts[kernels.K], counts[kernels.POOL] = k, pool
        counts[kernels.MAX_DELAY] = NO_LIMIT if max_delay is None else max_delay
        self._make_room()

    @property
    def waiting(self) -> int:
        """How many records wait."""
        return int(self._state.counts[kernels.WAITING])

    @property
    def entered(self) -> int:
        """How many records have entered."""
        return int(self._state.counts[kernels.SEEN])

    @property
    def memory(self) -> int:
        """Bytes of the arrays that hold what waits (the random words and the tree are apart)."""
        state = self._state
        held = (state.nodes, state.sets, state.ready, state.entries, state.buckets, state.records, state.tokens)
        used = int(state.counts[kernels.ARENA_TOP]) * state.arena.itemsize
        return used + sum(a.nbytes for a in held)

    def push_codes(self, user: Int32s, node: Int32s) -> Departures:
        """Let coded records enter: user int32[n] (>= 0), node int32[n] of `tree`; return those that leave."""
        if len(user) != len(node):
            raise ValueError("user and node must have the same length")
        if len(node) and not (int(node.min()) >= 0 and int(node.max()) < len(self.tree)):
            raise ValueError("a node is not in the tree")
        if len(user) and int(user.min()) < 0:
            raise ValueError("a user code is negative")
        self._follow_tree()
        done = 0
        parts: list[tuple[Int64s, Int64s]] = []
        room = max(256, len(user) + len(user) // 8)
        while done < len(user):
            out, dropped = _out_tables(room)
            entered, left, lost = kernels.run(self._state, user[done:], node[done:], out, dropped)
            done += entered
            parts.append((out[:left], dropped[:lost]))
            self._make_room()
        return _joined(parts)

    def expire(self, before: int) -> Departures:
        """Let out, or drop, every waiting record whose running number is below `before`."""
        parts: list[tuple[Int64s, Int64s]] = []
        while True:
            out, dropped = _out_tables(1024)
            left, lost = kernels.expire(self._state, before, out, dropped)
            parts.append((out[:left], dropped[:lost]))
            self._make_room()
            if left + lost == 0:
                return _joined(parts)

    def waiting_per_level(self) -> list[int]:
        """Count the waiting users by the depth of their node: index 0 is the unclassified branch, the last the cut."""
        node = self._in_use_of(self._state.tokens)[:, kernels.NODE]
        return [int(n) for n in np.bincount(self.tree.depths()[node], minlength=self.depth + 1)]

    def bag_sizes(self) -> Int32s:
        """int32[nodes that hold something]: how many queries wait in each."""
        node = self._in_use_of(self._state.records)[:, kernels.NODE]
        return np.unique(node, return_counts=True)[1].astype(np.int32)

    def waiting_records(self) -> Int64s:
        """int64[waiting]: running numbers of the records that wait, sorted."""
        return np.sort(numbers(self._in_use_of(self._state.records)))

    def waiting_users(self) -> Int32s:
        """int32[waiting]: codes of the users that wait, sorted, with repetitions."""
        return np.sort(self._in_use_of(self._state.tokens)[:, kernels.HOLDER])

    def _in_use_of(self, rows: Int32s) -> Int32s:
        """Return the rows of `records` or `tokens` that wait."""
        rows = rows[: int(self._state.counts[kernels.SLOT_TOP])]
        return rows[rows[:, kernels.ASKER] >= 0]  # ASKER and HOLDER are one column

    def _follow_tree(self) -> None:
        """Add rows for the nodes that were added to the tree since the last batch."""
        state, tree, width = self._state, self.tree, self.tree.width
        if len(tree) == len(state.nodes):
            return
        chains, length = tree.chains(len(state.nodes))
        sets = tree.sets  # read after the chains: another thread may add nodes, whose sets are counted before
        if sets > len(state.sets):
            grown = np.zeros((sets + sets // 2 + 64, kernels.SET_COLUMNS), dtype=np.int32)
            grown[:, kernels.READY_AT] = grown[:, kernels.READY_ROW] = -1
            grown[: len(state.sets)] = state.sets
            state = state._replace(sets=grown)
        tops = np.unique(chains[:, 0])
        new = tops[state.sets[tops, kernels.READY_ROW] < 0]  # top-level categories seen for the first time
        state.sets[new, kernels.CATEGORY] = len(state.ready) + (width + 1) * np.arange(len(new))
        ready = np.concatenate([state.ready, np.zeros(((width + 1) * len(new), kernels.BAG), dtype=np.int32)])
        first = state.sets[chains[:, 0], kernels.CATEGORY][:, None]
        node, level = np.nonzero(np.arange(width) < length[:, None])
        where = chains[node, level]
        own = level == length[node] - 1  # the last set of a chain is the own set of its node, and of no other
        state.sets[where, kernels.LEVEL], state.sets[where, kernels.CATEGORY] = level, first[node, 0]
        state.sets[where, kernels.READY_ROW] = first[node, 0] + np.where(own, width, level)
        nodes = np.concatenate([length[:, None], chains], axis=1).astype(np.int32)
        self._state = state._replace(nodes=np.concatenate([state.nodes, nodes]), ready=ready)

    def _make_room(self) -> None:
        """Grow what may be too small for the next record, and refill the random words: see `kernels._has_room`."""
        state, counts, width = self._state, self._state.counts, self.tree.width
        top = int(counts[kernels.ARENA_TOP])
        reserve = (3 * width + 1) * 2 * max(int(counts[kernels.LARGEST]), kernels.SMALLEST)
        if len(state.arena) - top < reserve:
            if top + 2 * reserve >= 1 << 31:
                raise ParameterError(
                    f"{self.waiting:,} records wait: too many for one engine; choose a smaller k, depth or pool."
                )
            arena = np.empty(min(max(2 * len(state.arena), top + 4 * reserve), (1 << 31) - 1), dtype=np.int32)
            arena[:top] = state.arena[:top]
            state = state._replace(arena=arena)
        if len(state.entries) - int(counts[kernels.ENTRIES]) <= width:
            state = _more_entries(state)
        if len(state.records) <= int(counts[kernels.WAITING]):
            state = state._replace(records=_doubled(state.records), tokens=_doubled(state.tokens))
        if len(state.draws) - int(counts[kernels.CURSOR]) < kernels.SPARE_DRAWS:
            state = state._replace(draws=self._words())
            counts[kernels.CURSOR] = 0
        self._state = state

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._state = kernels.Pools(*values["_state"])
        self._make_room()


def numbers(rows: Int32s) -> Int64s:
    """int64[n]: the running numbers of rows of `records` or `tokens`."""
    return rows[:, kernels.ID_HIGH].astype(np.int64) << 31 | rows[:, kernels.ID_LOW]


def _empty(width: int) -> kernels.Pools:
    """Return pools in which nothing waits, without random words."""
    counts = np.full(kernels.COUNTS, -1, dtype=np.int64)
    zeros = (kernels.ARENA_TOP, kernels.LARGEST, kernels.ENTRY_TOP, kernels.ENTRIES, kernels.SLOT_TOP)
    counts[[*zeros, kernels.WAITING, kernels.SEEN, kernels.CURSOR]] = 0
    return kernels.Pools(
        nodes=np.empty((0, kernels.CHAIN + width), np.int32),
        sets=np.empty((0, kernels.SET_COLUMNS), np.int32),
        ready=np.empty((0, kernels.BAG), np.int32),
        entries=free_entries(1024),
        buckets=np.full(1024, -1, dtype=np.int32),
        records=aligned_table(256, kernels.FIRST + width),
        tokens=aligned_table(256, kernels.LINKS + 3 * width),
        arena=np.empty(4096, np.int32),
        counts=counts,
        draws=np.empty(0, np.uint32),
    )


def free_entries(rows: int) -> Int32s:
    """Return a table of entries of which none is in use."""
    entries = aligned_table(rows, kernels.ENTRY_COLUMNS)
    entries[:, kernels.HEAD] = -1
    return entries


def _more_entries(state: kernels.Pools) -> kernels.Pools:
    """Double the table of entries. Entries keep their rows, so that tokens still point at them; buckets are new."""
    entries = free_entries(2 * len(state.entries))
    entries[: len(state.entries)] = state.entries
    buckets = np.full(len(entries), -1, dtype=np.int32)
    kernels.rehash(entries, buckets, np.flatnonzero(entries[:, kernels.HEAD] >= 0).astype(np.int32))
    return state._replace(entries=entries, buckets=buckets)


def _doubled(table: Int32s) -> Int32s:
    out = aligned_table(2 * len(table), table.shape[1])
    out[: len(table)] = table
    return out


def _out_tables(room: int) -> tuple[Int64s, Int64s]:
    out = np.empty((room, kernels.OUT_COLUMNS), dtype=np.int64)
    return out, np.empty((room, kernels.DROPPED_COLUMNS), dtype=np.int64)


def _joined(parts: list[tuple[Int64s, Int64s]]) -> Departures:
    """Return the rows of `out` and `dropped` of several calls as one."""
    empty = _out_tables(0)
    out = np.concatenate([empty[0], *(left for left, _ in parts)])
    lost = np.concatenate([empty[1], *(dropped for _, dropped in parts)])
    return Departures(
        out[:, kernels.RECORD],
        out[:, kernels.NEW_USER],
        out[:, kernels.CANDIDATES],
        out[:, kernels.DELAY],
        lost[:, kernels.DROPPED_RECORD],
        lost[:, kernels.DROPPED_USER],
    )
