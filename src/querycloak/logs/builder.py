"""A log is built batch by batch: strings become codes at once, so that memory holds codes and vocabularies only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from querycloak.arrays.vocabulary import Vocabulary
from querycloak.errors import InputError
from querycloak.logs import _records_kernels as kernels
from querycloak.logs._values_kernels import parse_common_times, parse_numbers
from querycloak.logs.category_paths import split_path
from querycloak.logs.memory import available_memory
from querycloak.logs.query_log import MISSING_TIME, NO_CODE, QueryLog
from querycloak.logs.records import COLUMNS
from querycloak.logs.times import choose_pattern, parse_as, parse_each

if TYPE_CHECKING:
    from querycloak.logs.form import LogForm, Role
    from querycloak.logs.query_log import Codes, Times
    from querycloak.logs.records import RecordBatch, RecordReader

__all__ = ["BAD_RANK", "BAD_TIME", "LogBuilder"]

BAD_TIME: Final = "times that do not parse, taken as missing"
BAD_RANK: Final = "ranks that are not numbers, taken as missing"
COMMON: Final = "%Y-%m-%d %H:%M:%S"
MOST_ROWS: Final = 2**31 - 1
HIGHEST_RANK: Final = 2**31 - 1
LATEST: Final = 10**11
"""seconds since 1970 that are read as a plain number"""
ROOM: Final = 1 << 28
"""bytes that reading one more batch may take for a moment"""
PLURAL: Final = {"user": "users", "query": "queries", "url": "urls", "category": "categories"}


class LogBuilder:
    """Takes the batches of a reader, and returns a QueryLog."""

    def __init__(
        self, reader: RecordReader, time_format: str | None, max_memory: int | None = None, separator: str = "/"
    ) -> None:
        """`time_format` None = by the first times; `separator` is that of category paths."""
        self._reader = reader
        self._problems = reader.problems
        roles = {c.role for c in reader.layout.form.columns}
        self._roles: list[Role] = [role for role in COLUMNS if role in roles]
        self.time_format = time_format
        self._guessed = time_format is None
        self._max_memory = max_memory
        self._separator = separator
        self._vocabularies = {role: Vocabulary() for role in PLURAL if role in roles}
        self._codes: dict[str, list[Codes]] = {role: [] for role in self._vocabularies}
        self._bad_category = np.zeros(0, dtype=np.bool_)
        self._dropped_late = False  # a vocabulary holds texts of records that were left out
        self._times: list[Times] = []
        self._ranks: list[Codes] = []
        self._extra: list[pl.DataFrame] = []
        self._rows = 0

    def add(self, batch: RecordBatch, extra: pl.DataFrame | None = None) -> None:
        """Take the records of a batch; a bad line that ends the reading is raised.

        `extra` = the columns without a role, where they have types.
        """
        before = int((batch.status == kernels.GOOD).sum())
        codes = {}
        # Categories first: a record with a bad path is left out, and its user and query are never known.
        if "category" in self._vocabularies:
            codes["category"] = self._categories(batch)
        for role in ("query", "user"):
            if role in self._vocabularies:
                codes[role] = self._reader.code(batch, COLUMNS[role], self._vocabularies[role])
        end, problem = self._reader.settle(batch)
        if problem is not None or batch.problem is not None:
            raise problem or batch.problem  # type: ignore[misc]
        good = batch.status == kernels.GOOD
        kept = batch.kept()
        self._dropped_late |= len(kept.rows) < before
        if "url" in self._vocabularies:
            self._codes["url"].append(self._reader.code(kept, COLUMNS["url"], self._vocabularies["url"]))
        for role, code in codes.items():
            self._codes[role].append(code if len(kept.rows) == end else code[good])
        if "time" in self._roles:
            self._times.append(self._parse_times(kept))
        if "rank" in self._roles:
            self._ranks.append(self._parse_ranks(kept))
        if extra is not None:
            if extra.width:  # a frame without columns has no rows to choose from
                self._extra.append(extra.filter(pl.Series(good)))
        elif self._reader.extras:
            columns = enumerate(self._reader.extras, len(COLUMNS))
            self._extra.append(pl.DataFrame({c.name: self._reader.texts(kept, i) for i, c in columns}))
        self._rows += len(kept.rows)
        self._check_memory()

    def finish(self, form: LogForm) -> QueryLog:
        """Join what the batches gave."""
        columns: dict[str, Any] = {}
        for role, vocabulary in self._vocabularies.items():
            code, texts = _joined(self._codes[role], np.int32), vocabulary.codes.to_series()
            columns[role], columns[PLURAL[role]] = _compact(code, texts) if self._dropped_late else (code, texts)
        if "user" not in columns:
            columns["user"] = np.zeros(self._rows, dtype=np.int32)
            columns["users"] = pl.Series(["*"] if self._rows else [], dtype=pl.String)
        if "time" in self._roles:
            columns["time"] = _joined(self._times, np.int64)
        if "rank" in self._roles:
            columns["rank"] = _joined(self._ranks, np.int32)
        names = [c.name for c in form.columns if c.role is None]
        if names and self._extra:
            columns["extra"] = pl.concat(self._extra, how="diagonal").select(names)
        elif names:
            columns["extra"] = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        return QueryLog(**columns, form=form, problems={k: n for k, n in self._problems.counts.items() if n})

    def _categories(self, batch: RecordBatch) -> Codes:
        vocabulary = self._vocabularies["category"]
        code = self._reader.code(batch, COLUMNS["category"], vocabulary)
        new = (vocabulary.text(c).decode() for c in range(len(self._bad_category), len(vocabulary)))
        bad = np.array([split_path(text, self._separator) is None for text in new], dtype=np.bool_)
        self._bad_category = np.concatenate([self._bad_category, bad])
        batch.status[np.append(self._bad_category, np.False_)[np.maximum(code, -1)]] = kernels.BAD_PATH
        return code

    def _parse_times(self, batch: RecordBatch) -> Times:
        """int64[n]: seconds; the common patterns straight from the bytes, all else as text."""
        column = COLUMNS["time"]
        if self.time_format is None:
            first = self._reader.texts(batch.until(1000), column)
            if first.null_count() == len(first):
                first = self._reader.texts(batch, column)
            self.time_format = choose_pattern(first) if first.null_count() < len(first) else None
        times = np.empty(len(batch.rows), dtype=np.int64)
        pattern = self.time_format or "epoch"
        if (batch.how[:, column] == kernels.ESCAPED).any() or pattern not in {COMMON, "epoch"}:
            return self._slow_times(batch, pattern)
        if pattern == "epoch" and self._guessed and not _surely_seconds(batch, 2 * column):
            return self._slow_times(batch, pattern)
        if pattern == COMMON:
            bad = parse_common_times(batch.array, batch.spans, 2 * column, MISSING_TIME, times)
        else:
            bad = parse_numbers(batch.array, batch.spans, 2 * column, LATEST, MISSING_TIME, times)
        return self._slow_times(batch, pattern) if bad else times

    def _slow_times(self, batch: RecordBatch, pattern: str) -> Times:
        texts = self._reader.texts(batch, COLUMNS["time"])
        times = parse_each(texts, pattern) if self._guessed else parse_as(texts, pattern)
        self._problems.counts[BAD_TIME] += int((times == MISSING_TIME).sum()) - texts.null_count()
        return times

    def _parse_ranks(self, batch: RecordBatch) -> Codes:
        numbers = np.empty(len(batch.rows), dtype=np.int64)
        bad = parse_numbers(batch.array, batch.spans, 2 * COLUMNS["rank"], HIGHEST_RANK, NO_CODE, numbers)
        self._problems.counts[BAD_RANK] += bad
        return numbers.astype(np.int32)

    def _check_memory(self) -> None:
        """Refuse in time: the last step holds all codes twice for a moment, and a batch needs room to be read."""
        source = self._problems.source
        if self._rows > MOST_ROWS:
            raise InputError.at(source, f"more than {MOST_ROWS:,} rows; split the log by user")
        row = 4 * (len(self._codes) + ("rank" in self._roles)) + 8 * ("time" in self._roles)
        if self._max_memory is not None:
            used = self._rows * row + sum(v.memory for v in self._vocabularies.values())
            used += sum(int(frame.estimated_size()) for frame in self._extra)
            if used > self._max_memory:
                problem = (
                    f"the log takes more than the {self._max_memory / 2**20:,.0f} MB that reading may take: stopped "
                    f"after {self._rows:,} rows; allow more with --max-memory, or split the log by user"
                )
                raise InputError.at(source, problem)
        needed = self._rows * row + min(self._rows * 1024, ROOM)
        there = available_memory()
        if there is not None and needed > there:
            problem = (
                f"the log does not fit into memory: after {self._rows:,} rows {there >> 20:,} MB are left; "
                "use a machine with more memory, Spark (`querycloak spark anonymize`), or split the log by user"
            )
            raise InputError.at(source, problem)


def _surely_seconds(batch: RecordBatch, span: int) -> bool:
    """Tell whether every number that is there can only be seconds since 1970.

    Eight digits may be a day, twelve and more a day and time, and these are read text by text (`logs/times.py`); so is
    what begins with a sign, which one way of parsing takes and the other does not.
    """
    begin = batch.spans[:, span]
    length = batch.spans[:, span + 1] - begin
    first = batch.array[begin[length > 0]]
    return not (((length == 8) | (length > 11)).any() or (first < ord("0")).any())


def _compact(code: Codes, texts: pl.Series) -> tuple[Codes, pl.Series]:
    """Leave out the texts that no row has; codes are again by first appearance."""
    used, first = np.unique(code, return_index=True)
    first, used = first[used >= 0], used[used >= 0]
    used = used[np.argsort(first)]
    new = np.full(len(texts) + 1, NO_CODE, dtype=np.int32)
    new[used] = np.arange(len(used), dtype=np.int32)
    return new[code], texts.gather(pl.Series(used))


def _joined(parts: list[Any], dtype: type) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
