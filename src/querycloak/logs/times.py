"""Times as text and as seconds.

Where nobody said how times are written, each text is read by itself, by the first pattern that it fits: how one user
writes times never changes the times of another. The pattern of most of them only says how times are written back, and
what to try first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.logs.query_log import MISSING_TIME

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import Times

__all__ = ["choose_pattern", "format_times", "parse_as", "parse_each", "parse_times"]

SECOND: Final = 1_000_000
"""in microseconds"""
PATTERNS: Final = (
    ("%Y-%m-%d %H:%M:%S", r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"),
    ("%Y-%m-%dT%H:%M:%S", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"),
    ("%Y-%m-%dT%H:%M:%SZ", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"),
    ("iso", r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?$"),
    ("%y%m%d%H%M%S", r"^\d{12}$"),
    ("%Y%m%d%H%M%S", r"^\d{14}$"),
    ("epoch_ms", r"^\d{13}$"),
    ("%Y%m%d", r"^(?:19|20)\d{6}$"),
    ("epoch", r"^-?\d{1,11}(\.\d+)?$"),
    ("%Y-%m-%d %H:%M", r"^\d{4}-\d\d-\d\d \d\d:\d\d$"),
    ("%Y-%m-%d", r"^\d{4}-\d\d-\d\d$"),
)
"""Pattern, and what its texts look like; the surest first."""
_SURER: Final = {"epoch": r"^(?:(?:19|20)\d{6}|\d{12,})$"}
"""Texts that fit a pattern's look, or its parser, and belong to one before it in PATTERNS."""


def choose_pattern(texts: pl.Series) -> str:
    """Choose the pattern that fits most of the first times; that of AOL where none does."""
    first = texts.drop_nulls().head(1000)
    fits = [int(first.str.contains(look).sum()) for _, look in PATTERNS]
    return PATTERNS[int(np.argmax(fits))][0]


def parse_each(texts: pl.Series, pattern: str) -> Times:
    """Parse each text by the first of PATTERNS that it looks like and that parses it, whatever the others look like.

    `pattern` is that of most of them, and makes no difference but in speed: what fits it and none before it is parsed
    at once.
    """
    import polars as pl

    times = parse_times(texts, pattern).copy()
    odd = pl.Series(times == MISSING_TIME) | ~texts.str.contains(dict(PATTERNS)[pattern])
    if pattern in _SURER:
        odd |= texts.str.contains(_SURER[pattern])
    at, left = (odd & texts.is_not_null()).arg_true().to_numpy(), texts.filter(odd & texts.is_not_null())
    times[at] = MISSING_TIME
    for other, look in PATTERNS:
        if not len(left):
            break
        found = np.full(len(left), MISSING_TIME, dtype=np.int64)
        fits = left.str.contains(look)
        if fits.any():
            found[fits.to_numpy()] = parse_times(left.filter(fits), other)
        parsed = found != MISSING_TIME
        times[at[parsed]] = found[parsed]
        at, left = at[~parsed], left.filter(pl.Series(~parsed))
    return times


def parse_as(texts: pl.Series, pattern: str) -> Times:
    """Parse times by a pattern that the form of a log names; what is no such time is parsed as `parse_each` does."""
    import polars as pl

    times = parse_times(texts, pattern).copy()
    at = (pl.Series(times == MISSING_TIME) & texts.is_not_null()).arg_true()
    if len(at):
        left = texts.gather(at)
        times[at.to_numpy()] = parse_each(left, choose_pattern(left))
    return times


def parse_times(texts: pl.Series, pattern: str) -> Times:
    """Return seconds since 1970-01-01 UTC: int64[n], MISSING_TIME where the text is missing or does not parse."""
    import polars as pl

    if pattern in {"epoch", "epoch_ms"}:
        numbers = texts.cast(pl.Int64, strict=False)
        if numbers.null_count() > texts.null_count():
            numbers = numbers.fill_null(texts.cast(pl.Float64, strict=False).floor().cast(pl.Int64, strict=False))
        seconds = numbers // 1000 if pattern == "epoch_ms" else numbers
    elif pattern == "iso":
        plain = texts.str.replace(" ", "T", literal=True)
        zoned = plain.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%#z", strict=False, time_unit="us").dt.replace_time_zone(
            None
        )
        naive = plain.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
        seconds = zoned.fill_null(naive).to_physical() // SECOND
    elif pattern in {"%Y-%m-%d", "%Y%m%d"}:
        seconds = texts.str.to_date(pattern, strict=False).cast(pl.Datetime("us")).to_physical() // SECOND
    else:
        whole = pattern + ":%S" if pattern.endswith("%M") else pattern
        complete = texts + ":00" if pattern.endswith("%M") else texts
        seconds = complete.str.to_datetime(whole, strict=False, time_unit="us").to_physical() // SECOND
    return seconds.fill_null(MISSING_TIME).to_numpy().astype(np.int64, copy=False)


def format_times(times: Times, pattern: str) -> pl.Series:
    """Return times as text again, null where missing."""
    import polars as pl

    seconds = pl.Series("time", times)
    seconds = seconds.set(seconds == MISSING_TIME, None)
    if pattern == "epoch":
        return seconds.cast(pl.String)
    if pattern == "epoch_ms":
        return (seconds * 1000).cast(pl.String)
    shown = "%Y-%m-%dT%H:%M:%SZ" if pattern == "iso" else pattern
    return (seconds * SECOND).cast(pl.Datetime("us")).dt.strftime(shown)
