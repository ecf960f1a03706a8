"""What of the times and clicks of a log a batch release keeps: columns next to the text, where they do no harm.

Three rules, which the gate recomputes (`releases/column_checks.py`):

- a time is rounded down to a grain, and rows of one id are ordered by grain and text: the order within a grain, which
  is a finer time, is gone;
- a click is kept where at least m people of the log, m as for texts, have the same published text and the same URL; its
  rank is kept only with it, and only where m people have all three. A URL with an identifier or a session id inside is
  never kept, and a label has no clicks: what it stands for is not what was searched;
- a search with several clicks that are kept becomes as many rows, one without any becomes one row without a click.

>>> rounded(np.array([7199, 90_000]), "hour").tolist()
[3600, 90000]
>>> [str(np.datetime64(int(t), "s")) for t in rounded(np.array([1_141_171_200]), "week")]  # a Wednesday → its Monday
['2006-02-27T00:00:00']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.logs.durations import round_down
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.settings import Settings, setting
from querycloak.texts.urls import urls_that_identify, urls_with_names

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import Codes, QueryLog, Times
    from querycloak.texts.text_settings import TextRule

__all__ = ["GRAINS", "ColumnSettings", "KeptColumns", "KeptRows", "exposed_columns", "rounded"]

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

GRAINS: Final = {"hour": 3_600, "day": 86_400, "week": 604_800}
"""Seconds of each grain."""
"""When the first grain begins: 1970-01-05 was a Monday."""
CLICKS: Final = "clicks"
TIME: Final = "time"


@dataclass(frozen=True)
class ColumnSettings(Settings):
    """Which columns of the log are published next to the texts."""

    keep: str = setting(
        "none",
        "columns to publish next to the text: times, rounded; clicks (URL and rank) whose text and URL at least "
        "--min-query-users people share",
        choices=("none", "time", "clicks", "time,clicks"),
    )
    time_grain: str = setting("day", "times that are published are rounded down to this", choices=tuple(GRAINS))

    def keeps(self, column: str) -> bool:
        """Tell whether `time` or `clicks` are to be published."""
        return column in self.keep.split(",")


class KeptRows(NamedTuple):
    """Rows of a release with their columns. A column that is not published is None."""

    entry: Int64s
    """int64[n], which of the entries asked for a row is made of, ascending: each entry has one row or more"""
    time: Times | None
    """int64[n], rounded; MISSING_TIME where there is none"""
    url: Codes | None
    """int32[n], into the URLs of the log; -1 where no click is kept"""
    rank: Codes | None
    """int32[n], -1 where it is not kept"""


@dataclass(frozen=True, eq=False, repr=False)
class KeptColumns:
    """What a release keeps of the times and clicks of a log."""

    log: QueryLog
    time_grain: str
    """"" = no times are published"""
    click_users: int
    """people who share each click; 0 = no clicks are published"""
    text: Int64s
    """int64[distinct queries], the text that is published of each, -1 = none that may have a click"""
    click: Bools
    """bool[rows of the log]: the row's click may be published"""
    ranked: Bools
    """bool[rows of the log]: and its rank"""
    by_text: bool = False
    """rows of an id are ordered by their texts even where no times are published"""

    @classmethod
    def of(
        cls,
        log: QueryLog,
        settings: ColumnSettings,
        rule: TextRule,
        text: Int64s,
        words: pl.Series,
        *,
        by_text: bool = False,
    ) -> Self:
        """Find which times and clicks may be published; a column that the log does not have is not.

        `text` int64[distinct queries] is the code of the text published of each query, -1 = none; `words` are these
        texts. All but labels, which stand in brackets, may have clicks.
        """
        grain = settings.time_grain if settings.keeps(TIME) and log.time is not None else ""
        if not settings.keeps(CLICKS) or log.url is None or log.urls is None:
            none = np.zeros(0, dtype=np.bool_)
            return cls(log, grain, 0, text, none, none, by_text)
        is_label = (words.str.starts_with("[") & words.str.ends_with("]")).to_numpy()
        searched = np.where((text >= 0) & ~np.append(is_label, True)[text], text, NO_CODE)
        safe = np.ones(len(log.urls) + 1, dtype=np.bool_)  # the last is for rows without a click
        safe[-1] = False
        if rule.identifiers == "drop":
            safe[:-1] = ~urls_that_identify(log.urls)
        may = safe[log.url] & (searched[log.query] >= 0)
        counted = may if rule.most_rows is None else may & _few_rows(log, rule.most_rows)
        pair = (searched[log.query], log.url)
        click = may & _shared(log.user, counted, rule.people, *pair)
        if rule.identifiers == "drop":
            used = np.unique(log.url[click])
            named = used[urls_with_names(log.urls.gather(used))]
            click &= ~np.isin(log.url, named)
        ranked = np.zeros(len(log), dtype=np.bool_)
        if log.rank is not None:
            ranked = click & (log.rank != NO_CODE) & _shared(log.user, counted, rule.people, *pair, log.rank)
        return cls(log, grain, rule.people, searched, click, ranked, by_text)

    @property
    def sorts(self) -> bool:
        """Rows of an id are brought into the order of their times and texts."""
        return self.by_text or bool(self.time_grain)

    @property
    def promises(self) -> dict[str, Any]:
        """What the statement says, as its fields."""
        return {"time_grain": self.time_grain, "click_users": self.click_users}

    @property
    def exposes(self) -> tuple[str, ...]:
        """What the columns leave open, one sentence each, for the statement."""
        return exposed_columns(self.time_grain, self.click_users)

    def at(self, rows: Int64s, text: npt.NDArray[np.integer[Any]]) -> KeptRows:
        """Return the rows that entries become: `rows` int64[m] the row of the log of each, -1 = none; `text` int[m].

        An entry whose text is not what is published of its row's query has no click: nobody counted that pair.
        """
        known = rows >= 0
        entry, source = np.arange(len(rows)), np.full(len(rows), NO_CODE)
        if self.click_users:
            entry, source = self._clicks(rows, text)
        time = url = rank = None
        if self.time_grain and self.log.time is not None:
            time = np.full(len(rows), MISSING_TIME)
            time[known] = rounded(self.log.time[rows[known]], self.time_grain)
            time = time[entry]
        if self.click_users and self.log.url is not None:
            url = np.where(source >= 0, self.log.url[source], NO_CODE).astype(np.int32)
            if self.log.rank is not None:
                ranked = (source >= 0) & self.ranked[source]
                rank = np.where(ranked, self.log.rank[source], NO_CODE).astype(np.int32)
        return KeptRows(entry, time, url, rank)

    def _clicks(self, rows: Int64s, text: npt.NDArray[np.integer[Any]]) -> tuple[Int64s, Int64s]:
        """Return the entry of each row, ascending, and the row of the log whose click it has, -1 = none."""
        log = self.log
        clicked = np.flatnonzero(self.click)
        of_event = Ragged.of(log.event_row[clicked], clicked, len(log))
        known = np.flatnonzero(rows >= 0)
        found = of_event.take(log.event_row[rows[known]])
        entry, source = known[found.owner], found.values.astype(np.int64)
        counted = self.text[log.query[source]] == text[entry]
        entry, source = entry[counted], source[counted]
        without = np.setdiff1d(np.arange(len(rows)), entry)
        entry = np.concatenate([entry, without])
        source = np.concatenate([source, np.full(len(without), NO_CODE, dtype=np.int64)])
        order = np.argsort(entry, kind="stable")
        return entry[order], source[order]


def exposed_columns(time_grain: str, click_users: int) -> tuple[str, ...]:
    """Return what times of a grain and clicks of so many people leave open; "" and 0 = they are not published."""
    out = []
    if time_grain:
        out.append(
            f"the {time_grain} of each row is published: who knows when a person searched can look for the id "
            f"with rows in the same {time_grain}s"
        )
    if click_users == 1:
        out.append("clicks are published as they were, also those of one person alone")
    elif click_users:
        out.append(
            f"clicks are published where {click_users} people share text and URL: which of them an id has is "
            "visible, and so is the number of its clicks"
        )
    return tuple(out)


def rounded(time: Times, grain: str) -> Times:
    """Round times down to a grain; weeks begin on Monday, and a missing time stays missing."""
    return round_down(time, grain)


def _few_rows(log: QueryLog, most: int) -> Bools:
    """bool[rows]: the row's user has at most so many rows, and is not taken for a machine."""
    return np.asarray((np.bincount(log.user, minlength=len(log.users)) <= most)[log.user])


def _shared(user: Codes, counted: Bools, people: int, *values: npt.NDArray[np.integer[Any]]) -> Bools:
    """bool[rows]: at least so many people have a counted row with the same values."""
    import polars as pl

    keys = [f"value {i}" for i in range(len(values))]
    frame = pl.DataFrame({"user": user, **dict(zip(keys, values, strict=True))})
    shared = frame.filter(pl.Series(counted)).group_by(keys).agg(people=pl.col("user").n_unique())
    enough = shared.filter(pl.col("people") >= people).with_columns(shared=pl.lit(value=True))
    found = frame.join(enough, on=keys, how="left", maintain_order="left")["shared"]
    return np.asarray(found.fill_null(value=False).to_numpy(), dtype=np.bool_)
