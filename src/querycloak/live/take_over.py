"""Another number of shards: a new shard goes on with what waits in the states of those that there were before.

Each of the old shards stopped at a position of its own, between two records, with all it had published written. A new
shard takes from their states what waits of its categories, and reads the input from the first of these positions on.
Until it comes to the position of the shard that had a category, it leaves out that category's records: they are in that
shard's output or in its state. So each record is published once, or waits once.

The old states stay as they are, since every new shard needs them, and are marked: whoever started an old shard again
would publish records a second time. Texts of shared phrases are counted from the beginning: fewer are published for a
while. Lines of an open epoch, which are drawn already, go to one of the new shards, and leave with its first epoch.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.arrays.checks import BadStateError, part, prefixed
from querycloak.errors import InputError, OutputError, ParameterError
from querycloak.live.shards import Shard, owner_of
from querycloak.live.state import HANDED, TAKEN, Checkpoint, Handed, Position, Saved, Taken
from querycloak.logs.locks import locked_directory
from querycloak.methods.stream.engine import WORDS
from querycloak.methods.stream.state_parts import Joined, join_states
from querycloak.texts.phrases import QUERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.arrays.checks import Arrays
    from querycloak.live.converter import Converter
    from querycloak.live.ends import Source
    from querycloak.live.run import Run

__all__ = ["begin_shard"]

Int64s = npt.NDArray[np.int64]

OWN: Final = frozenset({"shard", "output", "truth"})
"""What differs between shards of one run."""
PATIENCE: Final = 60.0
"""Seconds that a new shard waits for others that look at the old states at the same time."""


def begin_shard(
    run: Run, checkpoint: Checkpoint, source: Source, make: Callable[[bytes, Shard], Converter]
) -> Taken | None:
    """Return the shards that there were before, None = none; at the first start their states are taken over."""
    handed = checkpoint.handed()
    if handed is not None:
        problem = f"this shard was handed over to {handed.shards:,} shards, which go on with its records"
        raise InputError.at(checkpoint.directory, f"{problem}; to go on here, too, would publish them twice")
    taken = checkpoint.taken()
    if checkpoint.file.exists():
        if taken is None and run.take_over:
            raise InputError.at(
                checkpoint.directory, "this shard has begun already; --take-over is for its first start"
            )
        return taken
    if not run.take_over:
        if taken is not None:
            raise InputError.at(checkpoint.directory, "this shard has not taken over all yet; give --take-over again")
        return None
    with ExitStack() as stack:
        for directory in run.take_over:
            _locked(directory, stack)
        old = _old_states(run)
        _refuse_existing(run)
        taken = Taken(__version__, [saved.position.input for _, saved in old])
        for before, _ in old:
            assert run.shard is not None
            before.note(HANDED, Handed(__version__, run.shard.count))
        checkpoint.note(TAKEN, taken)
        checkpoint.save(_joined(run, old, source, make))
    return taken


def _locked(directory: Path, stack: ExitStack) -> None:
    """Wait until nobody else uses an old state."""
    if not directory.is_dir():
        raise InputError.at(directory, "there is no checkpoint to take over")
    until = time.monotonic() + PATIENCE
    while True:
        try:
            stack.enter_context(locked_directory(directory))
        except OutputError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _refuse_existing(run: Run) -> None:
    """Refuse an output that is there already: it may be of an earlier shard of the same name."""
    if isinstance(run.output, Path) and run.output.exists() and run.output.stat().st_size:
        problem = "is there already; what an earlier shard of this name published would be lost. Choose another --to"
        raise OutputError(f"{run.output}: {problem}.")


def _old_states(run: Run) -> list[tuple[Checkpoint, Saved]]:
    """Return the states to be taken over, by the number of their shard; all must be there, stopped, and of this run."""
    assert run.shard is not None
    found: dict[int, tuple[Checkpoint, Saved]] = {}
    count, ours = 0, run.must_agree()
    for directory in run.take_over:
        before = Checkpoint(directory)
        saved, stopped, handed = before.look(), before.stopped(), before.handed()
        if saved is None:
            if before.says_finished():
                problem = "this shard came to the end of its input; the others are finished with as many shards as now"
                raise InputError.at(directory, problem)
            raise InputError.at(directory, "there is no state of a shard to take over")
        if not isinstance(saved.run.get("shard"), str):
            problem = "this is not the state of a shard; what may get shards later begins with --shards 1"
            raise InputError.at(directory, problem)
        differ = [name for name in ours if name not in OWN and saved.run.get(name) != ours[name]]
        if differ:
            told = "; ".join(f"{name} was {saved.run.get(name)!r}, now {ours[name]!r}" for name in differ)
            raise InputError.at(directory, f"the state is of another run: {told}")
        if stopped is None or stopped.catching_up:
            problem = "the shard was killed, or stopped while it was catching up with the shards before it"
            raise InputError.at(directory, f"{problem}: start it again, and stop it with SIGTERM")
        if handed is not None and handed.shards != run.shard.count:
            raise InputError.at(directory, f"the shard was handed over to {handed.shards:,} shards already")
        shard = Shard.parse(saved.run["shard"])
        count = count or shard.count
        if shard.count != count or shard.index in found:
            raise InputError.at(directory, "the states are not of the shards of one run, each once")
        found[shard.index] = (before, saved)
    if len(found) != count:
        missing = ", ".join(str(i) for i in range(count) if i not in found)
        raise ParameterError(f"--take-over needs the states of all {count} shards; missing: {missing}.")
    if count == run.shard.count:
        raise ParameterError(f"There are {count} shards already: start them again, each with its own state.")
    return [found[i] for i in range(count)]


def _joined(
    run: Run, old: list[tuple[Checkpoint, Saved]], source: Source, make: Callable[[bytes, Shard], Converter]
) -> Saved:
    """Return the first state of a new shard."""
    shard = run.shard
    assert shard is not None
    converters: list[Converter] = []
    for before, saved in old:
        made = make(saved.sample, Shard.parse(saved.run["shard"]))
        with before.refusing():  # all values are checked here; what follows relies on them
            made.from_state(saved.arrays, saved.converter)
        converters.append(made)
    states = [(part("engine", saved.arrays), saved) for _, saved in old]
    fresh = make(old[0][1].sample, shard)
    base, plain = fresh.to_state()
    empty = make(old[0][1].sample, shard).engine
    engines = [(c.engine, arrays) for c, (arrays, _) in zip(converters, states, strict=True)]
    heirs = [j for j in range(len(old)) if j % shard.count == shard.index]  # whose open epochs come here
    kept = [part("publisher", old[j][1].arrays) for j in heirs]
    more = [np.zeros(0, dtype=np.int64) for _ in old]
    for j, lines in zip(heirs, kept, strict=True):
        more[j] = lines["record"]
    found = join_states(engines, empty, lambda label: owner_of(label, shard.count) == shard.index, more)
    record = np.concatenate(found.more)
    entered = found.entered
    limit = fresh.engine.max_delay
    if limit is not None and entered - int(found.arrays["number"].min(initial=entered)) > limit:
        raise ParameterError(f"More records wait than one shard may hold with --max-delay {limit:,}: take more shards.")

    names = _Names(converters)
    arrays = {**base, **prefixed("engine", found.arrays)}
    arrays["engine.asker"] = names.code(found.state, found.arrays["asker"])
    arrays["engine.holder"] = names.code(found.holder_state, found.arrays["holder"])
    if "set_users" in found.arrays:
        arrays["engine.set_users"] = names.code(found.set_users_state, found.arrays["set_users"])
    arrays |= prefixed("waiting", _lines(found, [part("waiting", saved.arrays) for _, saved in old]))
    arrays |= prefixed("publisher", _open_epoch(names, heirs, kept, record))
    count = len(arrays["publisher.record"])
    kinds = base["kinds"].copy()
    kinds[QUERY] = count  # of the lines of an open epoch it is not known which are phrases: told as whole queries
    arrays |= {"kinds": kinds, "seen": np.zeros(names.count, dtype=np.uint8)}
    arrays |= prefixed("reader.users", names.users()) | prefixed("reader.ids", names.ids())
    arrays["reader.needs_quotes"] = names.quotes()

    first = min(range(len(old)), key=lambda j: _order(source.place_of(old[j][1].position.input)))
    plain["before"] = entered - len(found.state) - count
    plain["engine"] |= {"entered": entered, "words": WORDS, "cursor": 0}
    digits = next((c.reader.digits for c in converters if c.reader.digits is not None), None)
    reader = old[first][1].converter["reader"]
    plain["reader"] |= {"records": reader["records"], "known_users": names.count, "digits": digits, "id_words": 0}
    publishers = [c.publisher for c in converters]
    plain["publisher"] |= {
        "epoch": max(p.epoch for p in publishers) + 1,
        "begin": entered,
        "time": max(p.time for p in publishers) if count else plain["publisher"]["time"],
        "clock": max((p.clock for p in publishers), key=lambda clock: clock.present).to_state(),
        "digits": digits if fresh.publisher.changes_ids else None,
        "words": 0,
    }
    plain["timekeeper"] = _marks(found, old, plain["timekeeper"], arrays["engine.number"])
    position = Position(old[first][1].position.input, {}, 0, 0, 0.0)
    check = make(old[0][1].sample, shard)
    try:
        check.from_state(arrays, plain)
    except BadStateError as error:
        raise InputError.at(old[0][0].directory, f"the states do not fit together: {error}") from None
    return Saved(run.must_agree(), position, old[first][1].sample, arrays, plain)


def _order(place: Any) -> tuple[bool, Any]:
    """Return what positions are compared by; None is the begin."""
    return (place is not None, place if place is not None else 0)


class _Names:
    """Users of several states under codes of one."""

    def __init__(self, converters: list[Converter]) -> None:
        self._readers = [c.reader for c in converters]
        self._codes: dict[bytes, int] = {}
        self._ids: list[bytes] = []
        self._quotes: list[int] = []

    @property
    def count(self) -> int:
        return len(self._codes)

    def code(self, state: Int64s, code: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return new codes for codes of these states."""
        out = np.zeros_like(code)
        for j, reader in enumerate(self._readers):
            rows = np.flatnonzero(state == j)
            used, inverse = np.unique(code[rows], return_inverse=True)
            out[rows] = np.array([self._add(reader, int(c)) for c in used], dtype=code.dtype)[inverse]
        return out

    def _add(self, reader: Any, code: int) -> int:
        text = reader.users.text(code)
        found = self._codes.setdefault(text, len(self._codes))
        if found == len(self._ids):
            (_, _, quotes), _ = reader.id_table()
            self._ids.append(reader.ids.text(code))
            self._quotes.append(int(quotes[code]))
        return found

    def users(self) -> Arrays:
        return _texts(list(self._codes))

    def ids(self) -> Arrays:
        return _texts(self._ids)

    def quotes(self) -> npt.NDArray[np.uint8]:
        return np.array(self._quotes, dtype=np.uint8)


def _texts(texts: list[bytes]) -> Arrays:
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {"texts": np.frombuffer(b"".join(texts), dtype=np.uint8), "ends": ends}


def _lines(found: Joined, waiting: list[Arrays]) -> Arrays:
    """Return the lines of what waits, in their new order."""
    ends = [np.concatenate([[0], np.cumsum(arrays["lengths"])])[::2] for arrays in waiting]
    pairs = list(zip(found.state.tolist(), found.at.tolist(), strict=True))
    texts = [waiting[j]["texts"][ends[j][i] : ends[j][i + 1]] for j, i in pairs]
    out: Arrays = {"texts": np.concatenate([np.zeros(0, dtype=np.uint8), *texts])}
    lengths = [waiting[j]["lengths"][2 * i : 2 * i + 2] for j, i in pairs]
    out["lengths"] = np.concatenate([np.zeros(0, dtype=np.int64), *lengths])
    for name in ("bare", "kind"):
        out[name] = np.array([waiting[j][name][i] for j, i in pairs], dtype=np.uint8)
    return out


def _open_epoch(names: _Names, heirs: list[int], kept: list[Arrays], record: Int64s) -> Arrays:
    """Return the lines of the open epochs of some old shards, to leave with the first epoch of a new one."""
    none = np.zeros(0, dtype=np.int64)
    user = [names.code(np.full(len(k["user"]), j), k["user"]) for j, k in zip(heirs, kept, strict=True)]
    asker = [names.code(np.full(len(k["asker"]), j), k["asker"]) for j, k in zip(heirs, kept, strict=True)]
    return {
        "lines": np.concatenate([np.zeros(0, dtype=np.uint8), *(k["lines"] for k in kept)]),
        "user": np.concatenate([none, *user]),
        "asker": np.concatenate([none.astype(np.int32), *asker]),
        "record": record,
    }


def _marks(found: Joined, old: list[tuple[Checkpoint, Saved]], plain: dict[str, Any], number: Int64s) -> dict[str, Any]:
    """Return when records that wait had entered, at the earliest: nobody waits longer than `--max-age`."""
    now = time.time()
    marks: list[tuple[float, int]] = []
    oldest = 0.0
    for j, (_, saved) in enumerate(old):
        said = saved.converter["timekeeper"]
        away = max(0.0, now - said["wall"])
        if said["marks"] and (found.state == j).any():
            oldest = max(oldest, said["marks"][0][0] + away)
    if oldest and len(number):
        marks.append((oldest, int(number.max()) + 1))
    return {**plain, "events": 0, "wall": now, "marks": marks, "opened": None}
