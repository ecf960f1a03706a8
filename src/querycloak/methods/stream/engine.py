"""The stream anonymizers as engines: records go in batch by batch, and leave with another user.

>>> from querycloak.randomness import Randomness
>>> engine = SelfAdjusting(k=2, depth=1, random=Randomness(seed=7))
>>> batch = [("ann", "tea", "Food"), ("bob", "oars", "Sports"), ("cat", "ham", "Food"), ("dan", "rye", "Food")]
>>> out = engine.push(batch)
>>> len(out), engine.waiting
(1, 3)
>>> user, query, category = out[0]
>>> (user, query) in {("ann", "tea"), ("cat", "ham"), ("dan", "rye")}
False
"""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - for the dataclass
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.mapping.category_tree import UNCLASSIFIED, CategoryTree, split_path
from querycloak.methods.stream import _engine_kernels as kernels
from querycloak.randomness import Randomness

__all__ = ["ENGINES", "Departures", "FixedDepth", "Flat", "SelfAdjusting", "StreamEngine", "make_engine"]

Int32s = npt.NDArray[np.int32]

WORDS: Final = 1 << 14
"""64-bit random words drawn at a time."""
ANY_NUMBER: Final = 1 << 40


def _no_numbers() -> npt.NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Departures:
    """The records that left, in the order in which they left."""

    record: npt.NDArray[np.int64]
    """int64[m], running number of the record: the first that entered is 0"""
    user: npt.NDArray[np.int64]
    """int64[m], code of the user it leaves with"""
    candidates: npt.NDArray[np.int64]
    """int64[m], distinct users other than the asker among which that user was drawn"""
    delay: npt.NDArray[np.int64]
    """int64[m], records that entered after it and before it left"""
    dropped_record: npt.NDArray[np.int64] = field(default_factory=_no_numbers)
    """int64[d], running numbers of records that were dropped, because they would have waited too long"""
    dropped_user: npt.NDArray[np.int64] = field(default_factory=_no_numbers)
    """int64[d], codes of the waiting users that were dropped with them"""

    def __len__(self) -> int:
        return len(self.record)


class StreamEngine:
    """What all engines share: a tree of sets and Algorithm 1 over it."""

    borrows: ClassVar[bool] = True
    """a record may leave from a branch above its node"""

    def __init__(
        self,
        k: int = 10,
        depth: int = 5,
        *,
        max_delay: int | None = None,
        random: Randomness | None = None,
        eager: bool = False,
    ) -> None:
        """Make an empty engine; `eager` lets a node let out records until it may not, as Algorithm 2 does.

        With `max_delay` no record waits for more than so many others: see `expire`.
        """
        _check_whole(f"{type(self).__name__}.k", k, 2)
        _check_whole(f"{type(self).__name__}.depth", depth, 1, below=1000)
        if max_delay is not None:
            _check_whole(f"{type(self).__name__}.max_delay", max_delay, 1)
        self.k = k
        self.depth = depth
        self.max_delay = max_delay
        self.random = random if random is not None else Randomness()
        self.tree = CategoryTree(depth, borrows=self.borrows)
        self._most = ANY_NUMBER if eager else 2
        self._users: dict[str, int] = {}
        self._user_names: list[str] = []
        self._texts: dict[int, tuple[str, str | None]] = {}
        self._state = _empty(k, self.tree.width, max_delay)._replace(draws=self._words())
        self._node_room = self._state.nodes  # with rows for nodes that the tree does not have yet
        self._make_room()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k}, depth={self.depth}, {self.waiting:,} waiting)"

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
        held = (state.nodes, state.tally, state.sets, state.entries, state.buckets, state.waits)
        used = int(state.counts[kernels.ARENA_TOP]) * state.arena.itemsize
        used += min(self.entered, len(state.ring)) * state.ring.itemsize
        return used + sum(a.nbytes for a in held)

    def push(self, batch: Sequence[tuple[str, str, str | None]]) -> list[tuple[str, str, str | None]]:
        """Let (user, query, category path) records enter; return those that leave, each with its new user.

        A path is 'Top/Sports/Rowing' or 'Sports/Rowing'; None or '' is the branch of what could not be classified.
        """
        code = np.empty(len(batch), dtype=np.int32)
        node = np.empty(len(batch), dtype=np.int32)
        first = self.entered
        for i, (user, query, category) in enumerate(batch):
            code[i] = self._users.setdefault(user, len(self._users))
            if len(self._users) > len(self._user_names):
                self._user_names.append(user)
            node[i] = self.tree.node(split_path(category, "/") if category else UNCLASSIFIED)
            self._texts[first + i] = (query, category)
        left = self.push_codes(code, node)
        for record in left.dropped_record.tolist():
            del self._texts[record]
        pairs = zip(left.record.tolist(), left.user.tolist(), strict=True)
        return [(self._user_names[user], *self._texts.pop(record)) for record, user in pairs]

    def push_codes(self, user: Int32s, node: Int32s) -> Departures:
        """Let coded records enter: user int32[n] (>= 0), node int32[n] of `tree`; return those that leave."""
        if len(user) != len(node):
            raise ValueError("user and node must have the same length")
        if len(node) and not (int(node.min()) >= 0 and int(node.max()) < len(self.tree)):
            raise ValueError("a node is not in the tree")
        if len(user) and int(user.min()) < 0:
            raise ValueError("a user code is negative")
        self._follow_tree()
        done, parts = 0, []
        room = max(256, 2 * len(user) if len(user) < 65536 else len(user) + len(user) // 8)
        counts = self._state.counts
        while done < len(user) or counts[kernels.PENDING] >= 0 or counts[kernels.LATE] == 1:
            out = np.empty((room, kernels.OUT_COLUMNS), dtype=np.int64)
            entered, left = kernels.run(self._state, self._most, user[done:], node[done:], out)
            done += entered
            parts.append(out[:left])
            self._make_room()
        return _departures(parts, drops=self.max_delay is not None)

    def expire(self, before: int) -> Departures:
        """Let out, or drop, every waiting record whose running number is below `before`, in their order.

        Each leaves from the smallest set around it with k users other than its asker. Where none has so many, it is
        dropped, and a waiting user of its top-level category with it, all of them alike.
        """
        waits = self._state.waits[: int(self._state.counts[kernels.SLOT_TOP])]
        number = waits[:, kernels.ID_HIGH].astype(np.int64) << 31 | waits[:, kernels.ID_LOW]
        overdue = np.flatnonzero((waits[:, kernels.OWN] >= 0) & (number < before))
        slots = overdue[np.argsort(number[overdue])].astype(np.int32)
        done, parts = 0, []
        while done < len(slots):
            out = np.empty((len(slots) - done, kernels.OUT_COLUMNS), dtype=np.int64)
            gone = kernels.expire(self._state, slots[done:], out)
            done += gone
            parts.append(out[:gone])
            self._make_room()
        return _departures(parts, drops=True)

    def waiting_per_level(self) -> list[int]:
        """Count the waiting users by the depth of their node: index 0 is the unclassified branch, the last the cut."""
        sizes = self._state.nodes[:, kernels.TOKENS + kernels.SIZE]
        counts = np.bincount(self.tree.depths()[: len(sizes)], weights=sizes, minlength=self.depth + 1)
        return [int(n) for n in counts]

    def bag_sizes(self) -> Int32s:
        """int32[nodes that hold something]: how many queries wait in each."""
        sizes = self._state.nodes[:, kernels.RECORDS + kernels.SIZE]
        return np.asarray(sizes[sizes > 0], dtype=np.int32)

    def waiting_records(self) -> npt.NDArray[np.int64]:
        """int64[waiting]: running numbers of the records that wait, sorted."""
        records = self._in_use(kernels.RECORD_FREE, kernels.NODE)
        return np.sort(records[:, kernels.ID_HIGH].astype(np.int64) << 31 | records[:, kernels.ID_LOW])

    def waiting_users(self) -> Int32s:
        """int32[waiting]: codes of the users that wait, sorted, with repetitions."""
        tokens = self._in_use(kernels.TOKEN_FREE, kernels.TOKEN_NODE + self.tree.width)
        return np.sort(tokens[:, kernels.TOKEN_USER + self.tree.width])

    def _in_use(self, free: int, link: int) -> Int32s:
        """Return the rows of `waits` that are not in a free list: counts[free] is its head, column `link` the rest."""
        waits = self._state.waits[: int(self._state.counts[kernels.SLOT_TOP])]
        used = np.ones(len(waits), dtype=np.bool_)
        slot = int(self._state.counts[free])
        while slot >= 0:
            used[slot] = False
            slot = int(waits[slot, link])
        return waits[used]

    def _words(self) -> npt.NDArray[np.uint32]:
        """Draw the next random words of the kernels."""
        return self.random.words(WORDS).view(np.uint32)

    def _follow_tree(self) -> None:
        """Add rows for the nodes that were added to the tree since the last batch."""
        state, tree = self._state, self.tree
        if len(tree) == len(state.nodes):
            return
        known = len(state.nodes)
        new = _node_rows(tree, known)
        sets = tree.sets  # read after the rows: another thread may add nodes, whose sets are counted before
        if sets > len(state.sets):
            room = sets + sets // 2 + 64
            state = state._replace(sets=_grown(state.sets, room), tally=_grown(state.tally, room))
        state.tally[new[:, kernels.CHAIN], kernels.INDEXED] = 1  # the sets of depth 1 always are
        if known + len(new) > len(self._node_room):
            self._node_room = _grown(state.nodes, 2 * (known + len(new)))
        self._node_room[known : known + len(new)] = new
        self._state = state._replace(nodes=self._node_room[: known + len(new)])

    def _make_room(self) -> None:
        """Grow what may be too small for the next record, and refill the random words.

        The reserve is what `kernels._has_room` asks for before each record: after this call the next one always fits,
        and `run` makes progress. It is an upper bound, not what a record takes; room that is never touched takes no
        memory. Arrays grow to twice their size, so that all growing together costs a constant per record.
        """
        state, counts, width = self._state, self._state.counts, self.tree.width
        top, largest = int(counts[kernels.ARENA_TOP]), int(counts[kernels.LARGEST])
        most = min(self.k, int(counts[kernels.WAITING])) + 2
        reserve = width * (10 * max(largest, kernels.SMALLEST) + 24 * most)
        if len(state.arena) - top < reserve:
            if top + 2 * reserve >= 1 << 31:
                raise ParameterError(
                    f"{self.waiting:,} records wait: too many for one engine; choose a smaller k or depth."
                )
            arena = np.empty(min(max(2 * len(state.arena), top + 4 * reserve), (1 << 31) - 1), dtype=np.int32)
            arena[:top] = state.arena[:top]
            state = state._replace(arena=arena)
        while len(state.entries) - int(counts[kernels.ENTRIES]) <= 2 * width * most:
            state = _more_entries(state)
        if len(state.waits) <= int(counts[kernels.WAITING]):
            waits = aligned_table(2 * len(state.waits), state.waits.shape[1])
            waits[: len(state.waits)] = state.waits
            state = state._replace(waits=waits)
        if len(state.draws) - int(counts[kernels.CURSOR]) < 2 * kernels.SPARE_DRAWS:
            state = state._replace(draws=self._words())
            counts[kernels.CURSOR] = 0
        self._state = state

    def __getstate__(self) -> dict[str, Any]:
        values = self.__dict__.copy()
        state, top = self._state, int(self._state.counts[kernels.ARENA_TOP])
        values["_state"] = tuple(state._replace(arena=state.arena[:top].copy()))
        return values

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._state = kernels.Machine(*values["_state"])
        self._make_room()


class SelfAdjusting(StreamEngine):
    """Algorithm 1: a record leaves from its own node, or else from the deepest branch above with enough users.

    `hold` is ours: a record leaves from a branch only while more than `hold` records wait in its top-level category.
    More records then find enough users in their own node.
    """

    def __init__(
        self,
        k: int = 10,
        depth: int = 5,
        *,
        hold: int = 0,
        max_delay: int | None = None,
        random: Randomness | None = None,
        eager: bool = False,
    ) -> None:
        """Make an empty engine."""
        _check_whole("SelfAdjusting.hold", hold, 0)
        super().__init__(k, depth, max_delay=max_delay, random=random, eager=eager)
        self.hold = hold
        self._state.counts[kernels.HOLD] = hold


class FixedDepth(StreamEngine):
    """The earlier algorithm of Pàmies-Estrems et al. (2020): a record leaves only from its own node."""

    borrows = False


class Flat(StreamEngine):
    """The first algorithm of Pàmies-Estrems et al. (2016): top-level categories only."""

    borrows = False

    def __init__(
        self,
        k: int = 10,
        depth: int = 1,
        *,
        max_delay: int | None = None,
        random: Randomness | None = None,
        eager: bool = False,
    ) -> None:
        if depth != 1:
            raise ParameterError.of("Flat.depth", "1", depth)
        super().__init__(k, 1, max_delay=max_delay, random=random, eager=eager)


ENGINES: Final[dict[str, type[StreamEngine]]] = {
    "self-adjusting": SelfAdjusting,
    "fixed-depth": FixedDepth,
    "flat": Flat,
}


def make_engine(
    method: str,
    k: int,
    depth: int,
    *,
    random: Randomness,
    hold: int = 0,
    pool: int = 0,
    max_delay: int | None = None,
    eager: bool = False,
) -> StreamEngine:
    """Make the engine of a stream method; only `self-adjusting` can hold records back, only `nearest` has pools."""
    if method == "nearest":
        from querycloak.methods.stream.nearest import Nearest  # it is a StreamEngine: its file imports this one

        return Nearest(k, depth, pool=pool, max_delay=max_delay, random=random)
    if method == "self-adjusting":
        return SelfAdjusting(k, depth, hold=hold, max_delay=max_delay, random=random, eager=eager)
    return ENGINES[method](k, depth, max_delay=max_delay, random=random, eager=eager)


def _departures(parts: list[npt.NDArray[np.int64]], *, drops: bool) -> Departures:
    """Return what kernels have written, in their order."""
    out = np.concatenate(parts) if parts else np.empty((0, kernels.OUT_COLUMNS), dtype=np.int64)
    dropped = out[:0]
    if drops:
        is_dropped = out[:, kernels.CANDIDATES] == kernels.DROPPED
        out, dropped = out[~is_dropped], out[is_dropped]
    return Departures(
        out[:, kernels.RECORD],
        out[:, kernels.NEW_USER],
        out[:, kernels.CANDIDATES],
        out[:, kernels.DELAY],
        dropped[:, kernels.RECORD],
        dropped[:, kernels.NEW_USER],
    )


def _check_whole(name: str, value: object, least: int, *, below: int = 1 << 31) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError.of(name, f"an integer >= {least}", value)
    if value >= below:
        raise ParameterError.of(name, f"an integer < {below:,}", value)


def _empty(k: int, width: int, max_delay: int | None) -> kernels.Machine:
    """Return a machine in which nothing waits, without random words."""
    counts = np.full(kernels.COUNTS, -1, dtype=np.int64)
    zeros = (kernels.ARENA_TOP, kernels.LARGEST, kernels.ENTRY_TOP, kernels.ENTRIES, kernels.SLOT_TOP)
    counts[[*zeros, kernels.WAITING, kernels.SEEN, kernels.CURSOR, kernels.LATE]] = 0
    counts[kernels.K], counts[kernels.HOLD], counts[kernels.LIMIT] = k, 0, max_delay or -1
    return kernels.Machine(
        nodes=np.empty((0, kernels.CHAIN + width), np.int32),
        tally=np.zeros((0, 2), np.int32),
        sets=np.zeros((0, kernels.SET_COLUMNS), np.int32),
        entries=aligned_table(1024, kernels.ENTRY_COLUMNS),
        buckets=np.full(1024, -1, dtype=np.int32),
        waits=aligned_table(256, kernels.TOKEN_FIRST + 3 * width),
        arena=np.empty(4096, np.int32),
        counts=counts,
        draws=np.empty(0, np.uint32),
        ring=np.zeros(0 if max_delay is None else 1 << max_delay.bit_length(), np.int32),  # untouched: no memory yet
    )


def _node_rows(tree: CategoryTree, first: int) -> Int32s:
    """Return the rows of `Machine.nodes` for the nodes from `first` on, int32[n, CHAIN + width], with empty bags."""
    chains, length = tree.chains(first)
    out = np.zeros((len(chains), kernels.CHAIN + tree.width), dtype=np.int32)
    out[:, kernels.LENGTH] = length
    out[:, kernels.CHAIN :] = chains
    return out


def aligned_table(rows: int, columns: int) -> Int32s:
    """Return zeros, int32[rows, columns], of which no row crosses a line of the processor's cache without need.

    The first row begins at a line of 64 bytes. Rows longer than a line are widened to whole lines; the columns added
    are not used. Shorter ones are as they are: `entries` has two to a line.
    """
    line = 16
    columns = -(-columns // line) * line if columns > line else columns
    room = np.zeros(rows * columns + line, dtype=np.int32)
    begin = -(room.ctypes.data // room.itemsize) % line
    return room[begin : begin + rows * columns].reshape(rows, columns)


def _grown(array: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    """Return a copy with more rows, the new ones zero."""
    out = np.zeros((rows, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


def _more_entries(state: kernels.Machine) -> kernels.Machine:
    """Double the table of entries. Entries keep their rows, so that tokens still point at them; buckets are new."""
    entries = aligned_table(2 * len(state.entries), kernels.ENTRY_COLUMNS)
    entries[: len(state.entries)] = state.entries
    buckets = np.full(len(entries), -1, dtype=np.int32)
    top = int(state.counts[kernels.ENTRY_TOP])
    used = np.flatnonzero(entries[:top, kernels.PLACES + kernels.SIZE] > 0).astype(np.int32)
    kernels.rehash(entries, buckets, used)
    return state._replace(entries=entries, buckets=buckets)
