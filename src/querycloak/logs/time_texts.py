"""Times as texts that are read, changed, and written again in the form in which each of them came.

A time with a zone is written in UTC, with `Z`; fractions of a second are left out.

>>> import polars as pl
>>> texts = pl.Series(["2006-03-01 07:17:12", "2006-03-01T07:17:12.5+01:00", "1141197432", "soon", None])
>>> seconds, way = read_times(texts)
>>> write_times(seconds - 12, way, texts).to_list()
['2006-03-01 07:17:00', '2006-03-01T06:17:00Z', '1141197420', None, None]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME
from querycloak.logs.times import PATTERNS, format_times, parse_times

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.layout import Layout
    from querycloak.logs.query_log import Times

__all__ = ["NO_WAY", "known_pattern", "read_times", "write_times"]

Ways = npt.NDArray[np.int8]

NO_WAY: Final = -1


def known_pattern(layout: Layout) -> str | None:
    """Return the pattern of times where the format of a log names one."""
    return layout.form.time_format if layout.form.format == "excite" else None


def read_times(texts: pl.Series, pattern: str | None = None) -> tuple[Times, Ways]:
    """Return seconds, int64[n], and which of PATTERNS each text is written in, int8[n], -1 = it is no time.

    Each text is read by itself, by the first pattern that it fits, as in `logs/times.py`; by `pattern` before all
    others, where the format of the log names one.
    """
    import polars as pl

    seconds = np.full(len(texts), MISSING_TIME, dtype=np.int64)
    way = np.full(len(texts), NO_WAY, dtype=np.int8)
    names = [name for name, _ in PATTERNS]
    at, left = texts.is_not_null().arg_true().to_numpy(), texts.drop_nulls()
    told = [(names.index(pattern), "")] if pattern in names else []
    for which, look in [*told, *enumerate(look for _, look in PATTERNS)]:
        if not len(left):
            break
        found = np.full(len(left), MISSING_TIME, dtype=np.int64)
        fits = left.str.contains(look)
        if fits.any():
            found[fits.to_numpy()] = parse_times(left.filter(fits), names[which])
        parsed = found != MISSING_TIME
        seconds[at[parsed]], way[at[parsed]] = found[parsed], which
        at, left = at[~parsed], left.filter(pl.Series(~parsed))
    return seconds, way


def write_times(seconds: Times, way: Ways, texts: pl.Series) -> pl.Series:
    """Return times as texts, each in the way of the text at its place; null where that is no time."""
    import polars as pl

    out = pl.Series([None] * len(texts), dtype=pl.String)
    for which in np.unique(way[way != NO_WAY]).tolist():
        name, rows = PATTERNS[which][0], np.flatnonzero(way == which)
        if name == "iso":
            written = format_times(seconds[rows], "%Y-%m-%dT%H:%M:%S")
            came = texts.gather(rows)
            zone = pl.select(pl.when(came.str.contains(r"(Z|[+-]\d\d:?\d\d)$")).then(pl.lit("Z")).otherwise(pl.lit("")))
            spaced = came.str.contains(" ", literal=True)
            written = pl.select(
                pl.when(spaced).then(written.str.replace("T", " ", literal=True)).otherwise(written)
            ).to_series()
            written = written + zone.to_series()
        else:
            written = format_times(seconds[rows], name)
        out = out.scatter(rows, written)
    return out
