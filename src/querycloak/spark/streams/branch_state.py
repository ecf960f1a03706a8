"""A branch as bytes, for the state store of Spark: the container of a checkpoint of one machine, checked as there.

    engine.*     `methods/stream/engine_state.py`, with how many random words were drawn
    users.*      the original ids of users, in the order of their codes
    texts.*      who asked what so far (`stream_texts.py`); missing where texts are published as they are
    rows.*       of each waiting row, in the order of running numbers: `number`, `kind` and the columns; of a text its
                 bytes and `length`, -1 = missing
    delays       how many records left with which delay

Nothing of it is unpickled or evaluated, and every value is checked before a kernel indexes with it.
"""

from __future__ import annotations

import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from querycloak._version import __version__
from querycloak.arrays.checks import Arrays, BadStateError, Count, part, prefixed, read_plain, require, take
from querycloak.arrays.container import OlderStateError, read_container, write_container
from querycloak.arrays.vocabulary import ByteCodes, sliced_texts
from querycloak.errors import InputError
from querycloak.methods.stream import engine_state
from querycloak.methods.stream.delays import BUCKETS, Delays
from querycloak.methods.stream.stream_texts import KINDS
from querycloak.spark.streams.branch import NONE_LEFT, Branch, Tally

if TYPE_CHECKING:
    import polars as pl

    from querycloak.spark.streams.plan import Plan

__all__ = ["branch_of_bytes", "bytes_of_branch", "run_of"]

TEXTS: Final = ("query", "url", "category")
NUMBERS: Final = ("time", "rank")
NO_NUMBER: Final = np.iinfo(np.int64).min


class _Values(msgspec.Struct, forbid_unknown_fields=True):
    run: dict[str, Any]
    engine: dict[str, Any]
    tally: dict[str, Any]
    total_delay: Count
    longest_delay: Count


def run_of(plan: Plan) -> dict[str, Any]:
    """Return what must be the same to go on with a state."""
    settings = msgspec.json.decode(msgspec.json.encode(plan.settings.to_json()))
    return {"version": __version__, "method": plan.method, "settings": settings, "columns": list(plan.roles)}


def bytes_of_branch(branch: Branch) -> bytes:
    """Return the state of a branch."""
    engine, about_engine = engine_state.to_state(branch.engine)
    rows = branch.waiting
    arrays = {
        **prefixed("engine", engine),
        **prefixed("users", branch.users.to_arrays()),
        **({} if branch.texts is None else prefixed("texts", branch.texts.to_arrays())),
        "rows.number": rows["number"].to_numpy(),
        "rows.kind": rows["kind"].to_numpy().astype(np.uint8),
        "delays": branch.delays.counts,
    }
    for name in branch.columns:
        arrays |= _of_text(name, rows[name]) if name in TEXTS else {f"rows.{name}": _of_number(rows[name])}
    delays = branch.delays.total, branch.delays.longest
    values = _Values(run_of(branch.plan), about_engine, asdict(branch.tally), *delays)
    file = io.BytesIO()
    write_container(file, arrays, msgspec.to_builtins(values))
    return file.getvalue()


def branch_of_bytes(plan: Plan, top: str, state: bytes) -> Branch:
    """Return a branch in a saved state; InputError where that is of another run, or contradicts itself."""
    try:
        arrays, found = read_container(io.BytesIO(state), len(state))
        said = read_plain(found, _Values)
        if said.run != run_of(plan):
            raise InputError.at("the checkpoint", "its state is of another method, version, or other settings")
        branch = Branch(plan, top)
        _restore(branch, arrays, said)
    except (BadStateError, OlderStateError, msgspec.ValidationError) as error:
        raise InputError.at("the checkpoint", f"a state in it cannot be read: {error}") from None
    return branch


def _restore(branch: Branch, arrays: Arrays, said: _Values) -> None:
    import polars as pl

    engine = part("engine", arrays)
    engine_state.from_state(branch.engine, engine, said.engine)
    branch.users = ByteCodes.from_arrays(part("users", arrays))
    users = len(branch.users)
    for name in ("asker", "holder"):
        take(engine, name, np.int32, high=users - 1)
    if branch.texts is not None:
        branch.texts.restore(part("texts", arrays), users)
    branch.tally = msgspec.convert(said.tally, Tally)
    delays = take(arrays, "delays", np.int64, length=BUCKETS, low=0)
    branch.delays = Delays.from_state(delays, said.total_delay, said.longest_delay)
    order = np.argsort(engine["number"])
    waiting = len(order)
    number = take(arrays, "rows.number", np.int64, length=waiting)
    require(np.array_equal(number, engine["number"][order]), "the rows that wait are those of the engine")
    kind = take(arrays, "rows.kind", np.uint8, length=waiting, high=len(KINDS) - 1)
    tally = branch.tally
    require(tally.left + tally.too_long + waiting == branch.engine.entered, "what entered has left, or waits")
    require(sum(tally.kinds) == tally.left and 0 <= tally.fewest <= NONE_LEFT, "what left was of one kind")
    columns = [
        pl.Series("number", number),
        pl.Series("asker", engine["asker"][order].astype(np.int32)),
        pl.Series("kind", kind.astype(np.int8)),
    ]
    for name in branch.columns:
        if name in TEXTS:
            columns.append(_text(name, arrays, waiting))
        else:
            values = take(arrays, f"rows.{name}", np.int64, length=waiting)
            columns.append(_number(name, values))
    branch.set_waiting(pl.DataFrame(columns))


def _of_text(name: str, values: pl.Series) -> Arrays:
    length = values.str.len_bytes().cast(int).fill_null(-1).to_numpy().astype(np.int32)
    data = "".join(values.drop_nulls().to_list()).encode()
    return {f"rows.{name}": np.frombuffer(data, dtype=np.uint8), f"rows.{name}.length": length}


def _text(name: str, arrays: Arrays, n: int) -> pl.Series:
    import polars as pl

    data = take(arrays, f"rows.{name}", np.uint8)
    length = take(arrays, f"rows.{name}.length", np.int32, length=n, low=-1)
    size = np.maximum(length, 0).astype(np.int64)
    require(int(size.sum()) == len(data), "every byte belongs to a text")
    try:
        values = sliced_texts(data, np.cumsum(size) - size, size)
    except pl.exceptions.PolarsError:
        raise BadStateError("it does not hold that texts are UTF-8") from None
    missing = pl.Series(length < 0)
    return pl.select(pl.when(missing).then(None).otherwise(values).cast(pl.String)).to_series().alias(name)


def _of_number(values: pl.Series) -> np.ndarray[Any, Any]:
    numbers: np.ndarray[Any, Any] = values.cast(int).fill_null(NO_NUMBER).to_numpy().astype(np.int64)
    return numbers


def _number(name: str, values: np.ndarray[Any, Any]) -> pl.Series:
    import polars as pl

    if name == "time":  # a missing time is a number here, as in all of the stream
        return pl.Series(name, values)
    return (
        pl.select(pl.when(pl.Series(values != NO_NUMBER)).then(pl.Series(values)).cast(pl.Int32))
        .to_series()
        .alias(name)
    )
