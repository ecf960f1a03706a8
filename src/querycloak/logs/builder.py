"""A log is built block by block: strings become codes at once, so that memory holds codes and vocabularies only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from querycloak.errors import InputError
from querycloak.logs.memory import available_memory
from querycloak.logs.query_log import MISSING_TIME, NO_CODE, QueryLog
from querycloak.logs.times import choose_pattern, parse_times

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

    from querycloak.logs.form import LogForm, Role
    from querycloak.logs.query_log import Codes, Times

__all__ = ["LogBuilder"]

NO_USER: Final = "rows without a user, left out"
NO_QUERY: Final = "rows without a query, left out"
BAD_TIME: Final = "times that do not parse, taken as missing"
BAD_RANK: Final = "ranks that are not numbers, taken as missing"
MOST_ROWS: Final = 2**31 - 1
HIGHEST_RANK: Final = 2**31 - 1
ROOM: Final = 1 << 28
"""bytes that reading one more block may take for a moment"""


class _Coder:
    """Codes by order of first appearance, over all blocks."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random("querycloak")
        self._kind = pl.Categorical(self._categories)
        self._parts: list[Codes] = []
        self._anchor: pl.Series | None = None

    def add(self, texts: pl.Series) -> None:
        coded = texts.rechunk().cast(self._kind)
        if self._anchor is None and len(coded):
            self._anchor = coded.head(1)  # the vocabulary lives as long as one series holds it
        codes = coded.to_physical()
        self._parts.append(codes.cast(pl.Int32).fill_null(NO_CODE).to_numpy())

    def finish(self) -> tuple[Codes, pl.Series]:
        codes: Codes = _joined(self._parts, np.int32)
        size = int(codes.max(initial=NO_CODE)) + 1
        if not size:
            return codes, pl.Series([], dtype=pl.String)
        return codes, pl.int_range(size, dtype=pl.UInt32, eager=True).cat.to(self._kind).cast(pl.String).rename("")


class LogBuilder:
    """Takes frames of text columns, gives a QueryLog."""

    def __init__(self, path: Path, roles: dict[Role, str], problems: Counter[str], time_format: str | None) -> None:
        self._path = path
        self._roles = roles
        self._problems = problems
        self.time_format = time_format
        self._coders = {role: _Coder() for role in ("user", "query", "url", "category") if role in roles}
        self._times: list[Times] = []
        self._ranks: list[Codes] = []
        self._extra: list[pl.DataFrame] = []
        self._rows = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Take the rows of one block: text columns, null = missing."""
        for role, problem in (("user", NO_USER), ("query", NO_QUERY)):
            if role in self._roles:
                there = (frame[self._roles[role]].str.len_bytes() > 0).fill_null(value=False)
                lacking = len(frame) - int(there.sum())
                if lacking:
                    self._problems[problem] += lacking
                    frame = frame.filter(there)
        self._rows += len(frame)
        for role, coder in self._coders.items():
            coder.add(frame[self._roles[role]])
        if "time" in self._roles:
            self._times.append(self._parse(frame[self._roles["time"]]))
        if "rank" in self._roles:
            self._ranks.append(self._rank(frame[self._roles["rank"]]))
        others = [name for name in frame.columns if name not in self._roles.values()]
        self._extra.append(frame.select(others))
        self._check_memory()

    def finish(self, form: LogForm) -> QueryLog:
        """Join what the blocks gave."""
        columns: dict[str, Any] = {}
        plural = {"user": "users", "query": "queries", "url": "urls", "category": "categories"}
        for role, coder in self._coders.items():
            columns[role], columns[plural[role]] = coder.finish()
        if "user" not in columns:
            columns["user"] = np.zeros(self._rows, dtype=np.int32)
            columns["users"] = pl.Series(["*"] if self._rows else [], dtype=pl.String)
        if "time" in self._roles:
            columns["time"] = _joined(self._times, np.int64)
        if "rank" in self._roles:
            columns["rank"] = _joined(self._ranks, np.int32)
        extra = pl.concat(self._extra, how="diagonal") if self._extra else None
        if extra is not None and extra.width:
            columns["extra"] = extra
        return QueryLog(**columns, form=form, problems={k: n for k, n in self._problems.items() if n})

    def _parse(self, texts: pl.Series) -> Times:
        if self.time_format is None and texts.null_count() < len(texts):
            self.time_format = choose_pattern(texts)
        times = parse_times(texts, self.time_format or "epoch")
        self._problems[BAD_TIME] += int((times == MISSING_TIME).sum()) - texts.null_count()
        return times

    def _rank(self, texts: pl.Series) -> Codes:
        numbers = texts.cast(pl.Int64, strict=False)
        numbers = numbers.set((numbers < 0) | (numbers > HIGHEST_RANK), None)
        self._problems[BAD_RANK] += numbers.null_count() - texts.null_count()
        return numbers.fill_null(NO_CODE).to_numpy().astype(np.int32)

    def _check_memory(self) -> None:
        """Refuse in time: the last step holds all codes twice for a moment, and a block needs room to be read."""
        if self._rows > MOST_ROWS:
            raise InputError.at(self._path, f"more than {MOST_ROWS:,} rows; split the log by user")
        needed = self._rows * 4 * (len(self._coders) + 3) + min(self._rows * 1024, ROOM)
        there = available_memory()
        if there is not None and needed > there:
            problem = (
                f"the log does not fit into memory: after {self._rows:,} rows {there >> 20:,} MB are left; "
                "use a machine with more memory, or split the log by user"
            )
            raise InputError.at(self._path, problem)


def _joined(parts: list[Any], dtype: type) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
