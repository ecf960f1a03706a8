"""A release of items class by class: one row for each class and concept, with the size of the class.

A release in which whole users are equal can be written so: `class` and `size` (how many users it has), then each
concept that they share, and how often it is in each user's rows (`count`). Nothing is lost by it but ids, which said
nothing: `members` returns the table with a row for each item of each user, under ids made of the number of the class
and of the member in it. The gate and all attacks and measures see that one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.errors import GateError, InputError
from querycloak.logs.form import Column, LogForm
from querycloak.releases.classes import distinct_logs
from querycloak.releases.release import table_digest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["CLASS_FORM", "class_table", "is_by_class", "member_ids", "members"]

CLASS_FORM: Final = LogForm(
    "tsv",
    (
        Column("class", "user"),
        Column("size", None, "number"),
        Column("concept", "query"),
        Column("count", None, "number"),
        Column("path", "category"),
        Column("concept_id", None),
    ),
)
Int64s = npt.NDArray[np.int64]


def is_by_class(statement: PrivacyStatement) -> bool:
    """Tell whether a release is written class by class."""
    return statement.settings.get("output_form") == "classes"


def member_ids(
    size: npt.NDArray[np.integer[Any]], avoid: Collection[str] = (), first: int = 1
) -> tuple[list[str], int]:
    """Return an id for each member of each class, and the number of the first class.

    An id is the number of the class and that of the member, 8 hexadecimal digits each. Numbers begin with `first`, or
    later where such an id is one of `avoid`.

    >>> member_ids(np.array([2, 1]), avoid={"0000000200000001"})
    (['0000000300000001', '0000000300000002', '0000000400000001'], 3)
    """
    taken = frozenset(avoid)
    while True:
        ids = [f"{c:08x}{m:08x}" for c, n in enumerate(size.tolist(), first) for m in range(1, n + 1)]
        if taken.isdisjoint(ids):
            return ids, first
        first += max(len(size), 1)


def class_table(log: QueryLog) -> QueryLog:
    """Return the rows of a release class by class; each class must have its members next to each other.

    The ids tell the number of each class. What would not be read back as it is now is refused.
    """
    of, first = distinct_logs(log)
    size = np.bincount(of)
    start = np.searchsorted(log.user, np.arange(len(log.users) + 1))
    rows = np.concatenate([np.arange(start[u], start[u + 1]) for u in first.tolist()] or [np.zeros(0, np.int64)])
    of_row = np.repeat(np.arange(len(first)), start[first + 1] - start[first])
    some = log.take(rows)
    codes = [of_row, some.query, some.category, *(_codes(c) for c in _further(some))]
    new = np.ones(len(rows), dtype=np.bool_)
    if len(rows):
        new[1:] = np.any([np.diff(c) != 0 for c in codes if c is not None], axis=0)
    begin = np.flatnonzero(new)
    count = np.diff(np.append(begin, len(rows)))
    number = [str(int(log.users[int(u)][:8], 16)) for u in first.tolist()]
    extra = pl.DataFrame({"size": size[of_row[begin]], "count": count})
    kept = some.take(begin)
    if kept.extra is not None:
        extra = extra.hstack(kept.extra)
    out = replace(
        kept,
        user=of_row[begin].astype(np.int32),
        users=pl.Series(number, dtype=pl.String),
        extra=extra,
        form=CLASS_FORM,
    )
    if not _tells(out, log):
        raise GateError(
            "The classes of a release do not tell its rows. Nothing is written; this is a fault of the method."
        )
    return out


def _tells(table: QueryLog, log: QueryLog) -> bool:
    """Tell whether a table of classes is read back as just these rows."""
    try:
        return table_digest(members(table, {"users": len(log.users), "rows": len(log)})) == table_digest(log)
    except InputError:
        return False


def members(table: QueryLog, stated: Mapping[str, int], path: Path | None = None) -> QueryLog:
    """Return a table of classes with a row for each item of each member.

    One with more users or rows than are `stated` is refused: a small file must not ask for any amount of memory.
    """
    size, count = _sizes_and_counts(table, stated, path)
    begin = np.flatnonzero(np.diff(table.user, prepend=-1) != 0)
    rows_of = np.diff(np.append(begin, len(table)))
    if len(begin) != len(np.unique(table.user)) or (size != np.repeat(size[begin], rows_of)).any():
        raise _refused(path, "the rows of a class must be next to each other, and have one size")
    sizes = size[begin]
    if int(sizes.sum()) > stated.get("users", 0) or int((size * count).sum()) > stated.get("rows", 0):
        raise _refused(path, "its classes have more users or rows than its statement says")
    numbers = table.users.gather(table.user[begin])
    if not numbers.str.contains(r"^[0-9]{1,9}$").all():
        raise _refused(path, "a class is a number of at most 9 digits")
    ids: list[str] = []
    for number, n in zip(numbers.to_list(), sizes, strict=True):
        ids += member_ids(np.array([n]), first=int(number))[0]
    item = Ragged(row_starts(np.add.reduceat(count, begin) if len(begin) else count), np.repeat(_index(table), count))
    rows = item.take(np.repeat(np.arange(len(begin)), sizes))
    assert table.extra is not None
    rest = table.extra.drop("size", "count")
    out = replace(table, extra=rest if rest.width else None).take(rows.values)
    return replace(out, user=rows.owner.astype(np.int32), users=pl.Series(ids, dtype=pl.String))


def _sizes_and_counts(table: QueryLog, stated: Mapping[str, int], path: Path | None) -> tuple[Int64s, Int64s]:
    """Return the columns size and count of a table of classes: whole numbers that a statement could mean."""
    if table.extra is None or not {"size", "count"} <= set(table.extra.columns):
        raise _refused(path, "a table of classes needs the columns size and count")
    found = [table.extra[name].cast(pl.Int64, strict=False) for name in ("size", "count")]
    for column in found:
        if column.null_count() or not column.is_between(1, max(stated.values(), default=0)).all():
            raise _refused(path, f"the column {column.name} must hold whole numbers, of 1 to what its statement counts")
    size, count = (column.to_numpy().astype(np.int64) for column in found)
    return size, count


def _index(table: QueryLog) -> Int64s:
    return np.arange(len(table), dtype=np.int64)


def _further(table: QueryLog) -> list[pl.Series]:
    return [] if table.extra is None else table.extra.get_columns()


def _codes(values: pl.Series) -> Int64s:
    return values.rank("dense").fill_null(0).to_numpy().astype(np.int64)


def _refused(path: Path | None, problem: str) -> InputError:
    return InputError(problem) if path is None else InputError.at(path, problem)
