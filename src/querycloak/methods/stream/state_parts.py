"""Whole top-level categories out of the states of several engines, joined into the state of one.

Nothing of one top-level category depends on another, so its part of a state can be moved as it is: nodes, what waits in
them, its sets with the order of their bags. Only codes and running numbers change. A category must be in one of the
states alone. The layout of a state is drawn in `engine_state`, that of `nearest` in `nearest_state`.

**Running numbers** are of one engine. In the joined one a record keeps its age (how many records came after it), as far
as no two get the same number: those of equal age follow each other, the older state's first. So nobody waits longer
than before, but for records that had to make room for others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.methods.stream import _nearest_kernels as nearest_kernels
from querycloak.methods.stream.nearest import Nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from querycloak.arrays.checks import Arrays
    from querycloak.methods.stream.engine import StreamEngine

__all__ = ["Joined", "join_states", "spread_ages"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Joined(NamedTuple):
    """The joined state."""

    arrays: Arrays
    """as `engine_state.from_state` takes them; askers and holders are still the codes of their own states"""
    state: Int64s
    """int64[waiting]: which state each record comes from, in the order of `arrays['number']`"""
    at: Int64s
    """int64[waiting]: its position there"""
    holder_state: Int64s
    """int64[waiting]: which state each holder comes from, in the order of `arrays['holder']`"""
    set_users_state: Int64s
    """the same for `arrays['set_users']` of `nearest`"""
    entered: int
    """running numbers that are used up"""
    more: list[Int64s]
    """new running numbers for those that `join_states` was given"""


def spread_ages(age: Int64s) -> Int64s:
    """Return ages that are all different, from ages int64[n] that do not rise: at least 1, and as near as possible.

    >>> spread_ages(np.array([9, 5, 5, 5, 1, 1])).tolist()
    [9, 5, 4, 3, 2, 1]
    """
    out, n = np.empty_like(age), len(age)
    last = np.iinfo(np.int64).max
    for i, wanted in enumerate(age.tolist()):
        last = max(n - i, min(wanted, last - 1))
        out[i] = last
    return out


class _Source:
    """One of the states, with its tree."""

    def __init__(self, engine: StreamEngine, arrays: Arrays, keep: Callable[[str], bool], joined: StreamEngine) -> None:
        paths = [tuple(path) for path in msgspec.json.decode(arrays["paths"].tobytes(), type=list[list[str]])]
        self.arrays, self.entered = arrays, engine.entered
        self.chains, self.length = engine.tree.chains()
        self.sets = engine.tree.sets
        self.node = np.full(len(paths), -1, dtype=np.int64)  # new node of each node; -1 = it is not taken
        taken = [i for i, path in enumerate(paths) if keep(path[0] if path else "")]
        self.node[taken] = joined.tree.nodes([paths[i] for i in taken])

    def follow(self, chains: Int32s) -> None:
        """Find the new sets, by the chains of the joined tree."""
        self.set = np.full(self.sets, -1, dtype=np.int64)
        taken = np.flatnonzero(self.node >= 0)
        node, level = np.nonzero(np.arange(self.chains.shape[1]) < self.length[taken][:, None])
        self.set[self.chains[taken[node], level]] = chains[self.node[taken[node]], level]

    def places(self, node: npt.NDArray[Any]) -> tuple[Int64s, Int32s]:
        """Return item and set of each place that items in these nodes have in their chains."""
        item, level = np.nonzero(np.arange(self.chains.shape[1]) < self.length[node][:, None])
        return item, self.chains[node[item], level]


def join_states(
    engines: list[tuple[StreamEngine, Arrays]],
    joined: StreamEngine,
    keep: Callable[[str], bool],
    more: list[Int64s],
) -> Joined:
    """Join the categories that `keep` names ("" = unclassified) from engines, each with its state, into a new one.

    `joined` must be empty and of the same settings; its tree gets the nodes, and nothing else of it changes. `more`
    are running numbers of each engine, of records that do not wait any more and keep a number of their own.
    """
    joined.tree.node(())
    sources = [_Source(engine, arrays, keep, joined) for engine, arrays in engines]
    chains, _ = joined.tree.chains()
    for source in sources:
        source.follow(chains)
    if isinstance(joined, Nearest):
        found = _join_pools(sources, joined, more)
    else:
        found = _join_bags(sources, joined, chains, more)
    paths = np.frombuffer(msgspec.json.encode(joined.tree.paths()), dtype=np.uint8)
    return found._replace(arrays={"paths": paths, **found.arrays})


def _renumbered(
    sources: list[_Source], numbers: list[Int64s], more: list[Int64s]
) -> tuple[list[Int64s], list[Int64s], int]:
    """Return new running numbers for two lists of each source, equal ones alike, and how many are used up."""
    both = [np.concatenate(pair) for pair in zip(numbers, more, strict=True)]
    age = np.concatenate([source.entered - n for source, n in zip(sources, both, strict=True)])
    state = np.repeat(np.arange(len(sources)), [len(n) for n in both])
    distinct, inverse = np.unique(np.stack([-age, state], axis=1), axis=0, return_inverse=True)  # oldest first
    spread = spread_ages(-distinct[:, 0])
    entered = int(spread.max(initial=0))
    made = (entered - spread)[inverse.ravel()]
    parts = np.split(made, np.cumsum([len(part) for pair in zip(numbers, more, strict=True) for part in pair])[:-1])
    return parts[::2], parts[1::2], entered


def _ordered(parts: Sequence[tuple[npt.NDArray[Any], ...]], key: int = 0) -> list[npt.NDArray[Any]]:
    """Return columns of several sources after each other, sorted by one of them; those that are equal as they come."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[key], kind="stable")
    return [column[order] for column in columns]


def _join_bags(sources: list[_Source], joined: StreamEngine, chains: Int32s, more: list[Int64s]) -> Joined:
    """Join states of all engines but `nearest`."""
    nodes, sets = len(joined.tree), joined.tree.sets
    old_node = [np.repeat(np.arange(len(s.node)), s.arrays["sizes"]) for s in sources]
    at = [np.flatnonzero(s.node[node] >= 0) for s, node in zip(sources, old_node, strict=True)]
    waiting = [s.arrays["number"][rows] for s, rows in zip(sources, at, strict=True)]
    number, other, entered = _renumbered(sources, waiting, more)
    items = [
        (s.node[node[rows]], new, s.arrays["asker"][rows], s.arrays["holder"][rows], np.full(len(rows), j), rows)
        for j, (s, node, rows, new) in enumerate(zip(sources, old_node, at, number, strict=True))
    ]
    node, number_, asker, holder, state, rows_ = _ordered(items)
    indexed = np.zeros(sets, dtype=np.uint8)
    indexed[np.unique(chains[:, 0])] = 1
    records, tokens = [], []
    for j, (s, where) in enumerate(zip(sources, old_node, strict=True)):
        position = np.full(len(where), -1, dtype=np.int64)
        position[rows_[state == j]] = np.flatnonzero(state == j)
        _, of = s.places(where)
        is_indexed = s.arrays["indexed"].astype(np.bool_)
        set_of = np.repeat(np.arange(s.sets), np.where(is_indexed, np.bincount(of, minlength=s.sets), 0))
        taken = s.set[set_of] >= 0
        records.append((s.set[set_of[taken]], position[s.arrays["set_records"][taken]]))
        tokens.append((s.set[set_of[taken]], position[s.arrays["set_tokens"][taken]]))
        indexed[s.set[is_indexed & (s.set >= 0)]] = 1
    arrays = {
        "sizes": np.bincount(node, minlength=nodes).astype(np.int32),
        "number": number_,
        "asker": asker,
        "holder": holder,
        "indexed": indexed,
        "set_records": _ordered(records)[1].astype(np.int32),
        "set_tokens": _ordered(tokens)[1].astype(np.int32),
    }
    return Joined(arrays, state, rows_, state, np.zeros(0, dtype=np.int64), entered, other)


def _join_pools(sources: list[_Source], joined: StreamEngine, more: list[Int64s]) -> Joined:
    """Join states of `nearest`."""
    at = [np.flatnonzero(s.node[s.arrays["node"]] >= 0) for s in sources]
    token_at = [np.flatnonzero(s.node[s.arrays["token_node"]] >= 0) for s in sources]
    both = [
        np.concatenate([s.arrays["number"][a], s.arrays["token"][b]])
        for s, a, b in zip(sources, at, token_at, strict=True)
    ]
    made, other, entered = _renumbered(sources, both, more)
    records, tokens = [], []
    for j, (s, a, b, new) in enumerate(zip(sources, at, token_at, made, strict=True)):
        node, token_node = s.node[s.arrays["node"][a]], s.node[s.arrays["token_node"][b]]
        records.append((new[: len(a)], node, s.arrays["asker"][a], np.full(len(a), j), a))
        tokens.append((new[len(a) :], token_node, s.arrays["holder"][b], np.full(len(b), j), b))
    number, node, asker, state, rows = _ordered(records)
    token, token_node, holder, token_state, token_rows = _ordered(tokens)
    set_records, set_users, top_tokens, ready = [], [], [], []
    for j, s in enumerate(sources):
        position, token_position = (np.full(len(s.arrays["number"]), -1, dtype=np.int64) for _ in range(2))
        position[rows[state == j]] = np.flatnonzero(state == j)
        token_position[token_rows[token_state == j]] = np.flatnonzero(token_state == j)
        _, of = s.places(s.arrays["node"])
        set_of = np.repeat(np.arange(s.sets), np.bincount(of, minlength=s.sets))
        taken = s.set[set_of] >= 0
        set_records.append((s.set[set_of[taken]], position[s.arrays["set_records"][taken]]))
        item, of = s.places(s.arrays["token_node"])
        pairs = np.unique(of.astype(np.int64) << 31 | s.arrays["holder"][item])
        set_of = (pairs >> 31).astype(np.int64)
        taken = s.set[set_of] >= 0
        set_users.append((s.set[set_of[taken]], s.arrays["set_users"][taken], np.full(int(taken.sum()), j)))
        top = s.set[s.chains[s.arrays["token_node"][s.arrays["top_tokens"]], 0]]
        top_tokens.append((top[top >= 0], token_position[s.arrays["top_tokens"][top >= 0]]))
        ready.append((s.set[s.arrays["ready"]][s.set[s.arrays["ready"]] >= 0],))
    joined._follow_tree()  # noqa: SLF001 - this module is part of the engine
    is_ready = np.concatenate([part[0] for part in ready])
    row = joined._state.sets[is_ready, nearest_kernels.READY_ROW]  # noqa: SLF001
    users, users_state = _ordered(set_users)[1:]
    arrays = {
        "number": number,
        "node": node.astype(np.int32),
        "asker": asker,
        "token": token,
        "token_node": token_node.astype(np.int32),
        "holder": holder,
        "set_records": _ordered(set_records)[1].astype(np.int32),
        "set_users": users,
        "top_tokens": _ordered(top_tokens)[1].astype(np.int32),
        "ready": is_ready[np.argsort(row, kind="stable")].astype(np.int32),
    }
    return Joined(arrays, state, rows, token_state, users_state, entered, other)
