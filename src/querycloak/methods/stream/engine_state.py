"""The state of a stream engine as plain arrays, to be saved and read again (of `nearest`: see `nearest_state`).

What the kernels index with is never saved. Saved is what the state *means*, in the order of its bags, since draws
choose by position; all slots, entries, hash chains, blocks and free lists are built again from that. A crafted state
can therefore describe another stream, but cannot make a kernel read or write outside its arrays:

    paths        uint8[*]         the paths of all nodes, in their order, as JSON
    sizes        int32[nodes]     records that wait in each node; as many users wait there
    number       int64[waiting]   running numbers of the records, node after node, each in the order of its bag
    asker        int32[waiting]   who asked them
    holder       int32[waiting]   the waiting users (tokens), node after node, each in the order of its bag
    indexed      uint8[sets]      1 = the set has bags
    set_records  int32[*]         of each indexed set, its records (positions in `number`) in the order of its bag
    set_tokens   int32[*]         of each indexed set, its tokens (positions in `holder`), those of one user together,
                                  users in the order of the set's bag

and `entered`, `words`, `cursor`: how many records entered; with a seed or a key, how many random words were drawn, and
how many of the last block are used up. Without either, words that were not used are thrown away, and others drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, BadStateError, Count, read_plain, require, take
from querycloak.methods.stream import _engine_kernels as kernels
from querycloak.methods.stream import nearest_state
from querycloak.methods.stream.engine import WORDS, aligned_table
from querycloak.methods.stream.nearest import Nearest
from querycloak.methods.stream.state_bags import Arena, items_of, next_power_of_two, positions_of, within

if TYPE_CHECKING:
    from querycloak.mapping.category_tree import CategoryTree
    from querycloak.methods.stream.engine import StreamEngine

__all__ = ["from_state", "to_state"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class EngineState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved next to the arrays."""

    entered: Count
    words: Annotated[int, msgspec.Meta(ge=WORDS, lt=1 << 60)] | None = None
    cursor: Annotated[int, msgspec.Meta(ge=0, le=2 * WORDS)] = 0


def to_state(engine: StreamEngine) -> tuple[Arrays, dict[str, Any]]:
    """Return what `from_state` needs; the texts that `push` took are not part of it, records given as codes are."""
    if engine._texts:  # noqa: SLF001 - this module is the other half of the engine
        raise ValueError("an engine that holds texts cannot be saved; push codes")
    engine._follow_tree()  # noqa: SLF001
    paths = np.frombuffer(msgspec.json.encode(engine.tree.paths()), dtype=np.uint8)
    waiting = nearest_state.waiting_arrays(engine) if isinstance(engine, Nearest) else _waiting_arrays(engine)
    plain = EngineState(engine.entered)
    if engine.random.repeats:
        cursor = int(engine._state.counts[_cursor_cell(engine)])  # noqa: SLF001
        plain = EngineState(engine.entered, engine.random.position, cursor)
    return {"paths": paths, **waiting}, msgspec.to_builtins(plain)


def _cursor_cell(engine: StreamEngine) -> int:
    """Return the cell of `counts` that says how many of the random words at hand are used up."""
    return nearest_state.CURSOR if isinstance(engine, Nearest) else kernels.CURSOR


def _waiting_arrays(engine: StreamEngine) -> Arrays:
    """Return the arrays of the drawing above, without `paths`."""
    m, tree = engine._state, engine.tree  # noqa: SLF001
    width, used = tree.width, slice(tree.sets)
    record_slot, sizes = items_of(m.arena, m.nodes, kernels.RECORDS)
    token_slot, _ = items_of(m.arena, m.nodes, kernels.TOKENS)
    set_record, _ = items_of(m.arena, m.sets[used], kernels.QUERIES)
    entry, _ = items_of(m.arena, m.sets[used], kernels.USERS)
    set_token, _ = items_of(m.arena, m.entries[entry], kernels.PLACES)
    records, tokens = m.waits[record_slot], m.waits[token_slot]
    return {
        "sizes": sizes,
        "number": records[:, kernels.ID_HIGH].astype(np.int64) << 31 | records[:, kernels.ID_LOW],
        "asker": records[:, kernels.ASKER],
        "holder": tokens[:, kernels.TOKEN_USER + width],
        "indexed": m.tally[used, kernels.INDEXED].astype(np.uint8),
        "set_records": positions_of(record_slot, len(m.waits))[set_record],
        "set_tokens": positions_of(token_slot, len(m.waits))[set_token],
    }


def from_state(engine: StreamEngine, arrays: Arrays, plain: dict[str, Any]) -> None:
    """Bring a new engine of the same settings and seed into a saved state; BadStateError where that cannot be one."""
    require(engine.entered == 0, "the engine is new")
    said = read_plain(plain, EngineState)
    try:
        paths = msgspec.json.decode(take(arrays, "paths", np.uint8).tobytes(), type=list[list[str]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadStateError("its tree cannot be read") from None
    tree = engine.tree
    nodes = tree.nodes([tuple(path) for path in paths])
    require(np.array_equal(nodes, np.arange(len(paths))), "each node has its own path")
    require(len(tree) == len(paths), "the tree has all its nodes")
    engine._follow_tree()  # noqa: SLF001
    if isinstance(engine, Nearest):
        nearest_state.build(engine, arrays, said.entered)
    else:
        _build(engine, _Waiting(arrays, tree, engine.k, said.entered, engine.max_delay), said)
    if engine.random.repeats:
        require(said.words is not None, "a run that can be repeated says how many random words it drew")
        assert said.words is not None
        engine.random.wind_to(said.words - WORDS)
        draws = engine._words()  # noqa: SLF001
        engine._state.counts[_cursor_cell(engine)] = min(said.cursor, len(draws))  # noqa: SLF001
        engine._state = engine._state._replace(draws=draws)  # noqa: SLF001
    engine._make_room()  # noqa: SLF001


class _Waiting:
    """What waits, checked: after this, everything is consistent, and every index is in its range."""

    def __init__(self, arrays: Arrays, tree: CategoryTree, k: int, entered: int, max_delay: int | None) -> None:
        sets = tree.sets
        self.sizes = take(arrays, "sizes", np.int32, length=len(tree), low=0)
        waiting = self.waiting = int(self.sizes.sum(dtype=np.int64))
        self.number = take(arrays, "number", np.int64, length=waiting, low=0, high=entered - 1)
        self.asker = take(arrays, "asker", np.int32, length=waiting, low=0)
        self.holder = take(arrays, "holder", np.int32, length=waiting, low=0)
        require(len(np.unique(self.number)) == waiting, "each record waits once")
        longest = entered - 1 - int(self.number.min(initial=entered))
        require(max_delay is None or longest < max_delay, "no record waits for longer than it may")
        self.indexed = take(arrays, "indexed", np.uint8, length=sets, high=1).astype(np.bool_)

        chains, length = tree.chains()
        node, level = np.nonzero(np.arange(tree.width) < length[:, None])
        of = chains[node, level]
        self.level, parent = np.zeros(sets, dtype=np.int64), np.full(sets, -1)
        self.level[of] = level
        parent[of[level > 0]] = chains[node[level > 0], level[level > 0] - 1]
        self.node = np.repeat(np.arange(len(tree)), self.sizes)
        item, level = np.nonzero(np.arange(tree.width) < length[self.node][:, None])
        of = chains[self.node[item], level]
        total = np.bincount(of, minlength=sets)

        # Kernels rely on these: room is made for sets that are indexed when they grow past k, not later.
        top, indexed = parent < 0, self.indexed
        counted = top | indexed[parent]
        require(indexed[top].all() and counted[indexed].all(), "a set is indexed only below indexed sets")
        require((total[counted & ~indexed] <= k).all(), "a set with more than k users is indexed")
        require((2 * total[indexed & ~top] >= k).all(), "a set with fewer than k / 2 users is not indexed")
        self.count = np.where(counted, total, 0)

        self.set_of = np.repeat(np.arange(sets), np.where(indexed, total, 0))
        inside = indexed[of]
        expected = np.sort(of[inside].astype(np.int64) * max(waiting, 1) + item[inside])
        self.set_records, self.set_tokens = (
            take(arrays, name, np.int32, length=len(self.set_of), low=0, high=waiting - 1)
            for name in ("set_records", "set_tokens")
        )
        for items in (self.set_records, self.set_tokens):
            found = np.sort(self.set_of * max(waiting, 1) + items)
            require(np.array_equal(found, expected), "each set holds what waits in it and below it, once")

        user = self.holder[self.set_tokens].astype(np.int64)
        key = self.set_of << 31 | user
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        require(len(np.unique(key)) == len(begins), "the places of a user in a set are together")
        self.entry_begin, self.entry_set, self.entry_user = begins, self.set_of[begins], user[begins]


def _build(engine: StreamEngine, w: _Waiting, said: EngineState) -> None:
    """Build the arrays of the kernels: record and token i get slot i, the users of sets get entries in their order."""
    m, width, waiting = engine._state, engine.tree.width, w.waiting  # noqa: SLF001
    sets, entries_used = len(w.indexed), len(w.entry_begin)
    arena = Arena()
    everything = np.arange(waiting)
    for column in (kernels.RECORDS, kernels.TOKENS):
        m.nodes[:, column : column + 3] = arena.bags(everything, w.sizes)
    entry_sizes = np.diff(np.append(w.entry_begin, len(w.set_tokens)))
    m.sets[:sets, kernels.QUERIES : kernels.QUERIES + 3] = arena.bags(
        w.set_records, np.bincount(w.set_of, minlength=sets)
    )
    m.sets[:sets, kernels.USERS : kernels.USERS + 3] = arena.bags(
        np.arange(entries_used), np.bincount(w.entry_set, minlength=sets)
    )
    m.tally[:sets, kernels.COUNT] = w.count
    m.tally[:sets, kernels.INDEXED] = w.indexed

    entries = aligned_table(next_power_of_two(max(1024, entries_used)), kernels.ENTRY_COLUMNS)
    entries[:entries_used, kernels.SET] = w.entry_set
    entries[:entries_used, kernels.USER] = w.entry_user
    entries[:entries_used, kernels.SLOT] = within(w.entry_set)
    entries[:entries_used, kernels.PLACES : kernels.PLACES + 3] = arena.bags(w.set_tokens, entry_sizes)
    buckets = np.full(len(entries), -1, dtype=np.int32)
    kernels.rehash(entries, buckets, np.arange(entries_used, dtype=np.int32))

    waits = aligned_table(max(256, next_power_of_two(waiting + 1)), kernels.TOKEN_FIRST + 3 * width)
    rows, own = waits[:waiting], within(w.node)
    rows[:, kernels.NODE], rows[:, kernels.ASKER], rows[:, kernels.OWN] = w.node, w.asker, own
    rows[:, kernels.ID_LOW], rows[:, kernels.ID_HIGH] = w.number & 0x7FFFFFFF, w.number >> 31
    rows[:, kernels.TOKEN_NODE + width] = w.node
    rows[:, kernels.TOKEN_USER + width] = w.holder
    rows[:, kernels.TOKEN_OWN + width] = own
    level = w.level[w.set_of]
    rows[w.set_records, kernels.FIRST + level] = within(w.set_of)
    entry = np.repeat(np.arange(entries_used), entry_sizes)
    rows[w.set_tokens, kernels.TOKEN_FIRST + width + 2 * level] = entry
    rows[w.set_tokens, kernels.TOKEN_FIRST + width + 2 * level + 1] = within(entry)

    counts = m.counts  # k and what is held back are those of the settings; free lists are empty
    counts[kernels.ARENA_TOP], counts[kernels.LARGEST] = arena.top, arena.largest
    counts[kernels.ENTRY_TOP] = counts[kernels.ENTRIES] = entries_used
    counts[kernels.SLOT_TOP] = counts[kernels.WAITING] = waiting
    counts[kernels.SEEN] = said.entered
    if len(m.ring):
        m.ring[w.number & (len(m.ring) - 1)] = everything + 1
    engine._state = m._replace(  # noqa: SLF001
        entries=entries, buckets=buckets, waits=waits, arena=arena.joined()
    )
