"""What the rules of a policy work on: the rows that are left, as they would be published, and what was left out.

Each rule is a pure function from draft to draft and reads what the rule before it left: people are counted over the
rows that are still there, each person once. A text is compared in the form of `texts/compared.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from querycloak.errors import UserError
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.texts.compared import compared

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness

__all__ = [
    "DAY",
    "NO_TIMES",
    "Draft",
    "Help",
    "by_letters",
    "counted_people",
    "form_codes",
    "in_last_days",
    "joint_codes",
    "period_of",
]

DAY: Final = 86_400
NO_TIMES: Final = "This policy counts days, sessions or times, and the log has no times: leave these rules out."

Bools = npt.NDArray[np.bool_]
Int64s = npt.NDArray[np.int64]
Ints = npt.NDArray[np.integer[Any]]


class Help(NamedTuple):
    """What rules may need next to the draft."""

    random: Randomness
    taxonomy: Taxonomy


@dataclass(frozen=True, eq=False)
class Draft:
    """Rows on their way to a release."""

    log: QueryLog
    """the original log"""
    row: Int64s
    """int64[n]: row of the log that each row here comes from"""
    table: QueryLog
    """the n rows as they would be published, but that users are still the people of the log"""
    unit: Int64s | None = None
    """int64[n]: rows of one unit are published under one id; None = rows have no ids"""
    names: pl.Series | None = None
    """what each unit is called, by its number in `unit`; ids are drawn by it. None = as its person"""
    ids: str = "person"
    """what a unit is: `person`, `day` or `session` of a person, `none`"""
    dropped: dict[str, int] = field(default_factory=dict)
    """rows left out, by rule and reason"""
    figures: dict[str, int] = field(default_factory=dict)
    """what else was changed, counted"""
    cut: bool = False
    """a text may be a part of a query"""

    @classmethod
    def of(cls, log: QueryLog, *, clicks: bool) -> Self:
        """Begin with all rows of a log; without `clicks` with one row per query event, and no URL."""
        row = np.arange(len(log)) if clicks else np.flatnonzero(log.event)
        table = log.take(row)
        if not clicks:
            table = replace(table, url=None, urls=None, rank=None)
        further = {"further clicks of a query": len(log) - len(row)}
        return cls(log, row, table, table.user.astype(np.int64), dropped=further)

    def __len__(self) -> int:
        return len(self.row)

    def keep(self, kept: Bools, reason: str) -> Self:
        """Leave rows out, and count them under a reason; kept: bool[n]."""
        left_out = int((~kept).sum())
        dropped = {**self.dropped, reason: self.dropped.get(reason, 0) + left_out}
        index = np.flatnonzero(kept)
        unit = None if self.unit is None else self.unit[index]
        return replace(self, row=self.row[index], table=self.table.take(index), unit=unit, dropped=dropped)

    def with_texts(self, words: pl.Series, *, cut: bool) -> Self:
        """Publish other texts; words: one for each distinct query that is still there, in the order of their codes."""
        import polars as pl

        used, query = np.unique(self.table.query, return_inverse=True)
        texts = words.gather(used)
        distinct = texts.unique(maintain_order=True)
        known = pl.DataFrame({"text": distinct, "code": np.arange(len(distinct), dtype=np.int32)})
        code = pl.DataFrame({"text": texts}).join(known, on="text", how="left", maintain_order="left")["code"]
        table = replace(self.table, query=code.to_numpy()[query].astype(np.int32), queries=distinct)
        return replace(self, table=table, cut=self.cut or cut)

    def count(self, name: str, n: int) -> Self:
        """Note how much was changed."""
        return replace(self, figures={**self.figures, name: self.figures.get(name, 0) + n})

    @property
    def asked_at(self) -> npt.NDArray[np.int64]:
        """int64[n]: when each row was asked, not rounded."""
        if self.log.time is None:
            raise UserError(NO_TIMES)
        return self.log.time[self.row]

    @property
    def times_of_log(self) -> tuple[int, int] | None:
        """When the first and the last query of the log were asked; None = no time is known."""
        return None if self.log.time is None else _ends(self.log.time)


def _ends(time: Int64s) -> tuple[int, int] | None:
    known = time[time != MISSING_TIME]
    return (int(known.min()), int(known.max())) if len(known) else None


def counted_people(item: Ints, user: Ints, items: int) -> Int64s:
    """int64[items]: how many distinct users each item has; items of -1 are passed over."""
    known = item >= 0
    width = int(user.max(initial=0)) + 1
    pairs = np.unique(item[known].astype(np.int64) * width + user[known])
    return np.bincount(pairs // width, minlength=items).astype(np.int64)


def by_letters(texts: pl.Series, codes: Ints) -> Int64s:
    """int64[codes]: numbers in the order of the texts behind the codes, the same for any order of rows; -1 stays."""
    used, inverse = np.unique(codes, return_inverse=True)
    out = np.full(len(used), NO_CODE, dtype=np.int64)
    known = used >= 0
    out[known] = texts.gather(used[known]).rank("dense").to_numpy()
    return out[inverse]


def joint_codes(*columns: Ints) -> Int64s:
    """int64[n]: one code for each combination of values of the columns, from 0 on; values may be -1.

    >>> joint_codes(np.array([7, 7, -1]), np.array([1, 2, 1])).tolist()
    [1, 2, 0]
    """
    out = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        out = np.unique(out * max(len(values), 1) + code, return_inverse=True)[1].astype(np.int64)
    return out


def form_codes(texts: pl.Series) -> tuple[Int64s, pl.Series]:
    """Return int64[texts], the code of the form in which each text is compared, and those forms."""
    forms = compared(texts)
    return (forms.rank("dense").to_numpy().astype(np.int64) - 1), forms.unique().sort()


def in_last_days(draft: Draft, days: int | None) -> Bools:
    """bool[n]: the row was asked within so many days before the last query of the log; None = all were."""
    if days is None:
        return np.ones(len(draft), dtype=np.bool_)
    time = draft.asked_at
    ends = draft.times_of_log
    return np.zeros(len(draft), dtype=np.bool_) if ends is None else np.asarray(time > ends[1] - days * DAY)


def period_of(draft: Draft, days: int | None) -> Int64s:
    """int64[n]: which period of so many days, from midnight of the first day on, a row is in; -1 = its time is missing.

    None = all rows are in one period.
    """
    if days is None:
        return np.zeros(len(draft), dtype=np.int64)
    time = draft.asked_at
    ends = draft.times_of_log
    first = 0 if ends is None else ends[0] // DAY
    known = time != MISSING_TIME
    return np.where(known, (np.where(known, time, 0) // DAY - first) // days, NO_CODE)
