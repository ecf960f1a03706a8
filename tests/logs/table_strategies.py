"""Small tables of searches with every type of column that a log may have, as Hypothesis strategies."""

from __future__ import annotations

from datetime import UTC, date, datetime

import polars as pl
from hypothesis import strategies as st

_ALPHABET = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")
texts = st.one_of(
    st.none(),
    st.sampled_from(["tea", "Tea", "", "  ", 'a "b", c', "line\nend", "=1+1"]),
    st.text(_ALPHABET, max_size=8),
)
user_texts = st.one_of(
    st.none(), st.sampled_from(["ann", " ann", "an\u200bn", "\uff11\uff17", "17", "\ufeffbob", "bob", " ", ""])
)
moments = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1))  # noqa: DTZ001 - naive on purpose
zones = st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York"])

USERS = {
    "text": (user_texts, pl.String),
    "categorical": (user_texts, pl.Categorical),
    "integer": (st.one_of(st.none(), st.integers(-3, 5)), pl.Int64),
    "unsigned": (st.one_of(st.none(), st.integers(2**64 - 3, 2**64 - 1)), pl.UInt64),
}
TIMES = {
    "none": None,
    "naive": (st.one_of(st.none(), moments), pl.Datetime("us")),
    "milliseconds": (st.one_of(st.none(), moments), pl.Datetime("ms")),
    "date": (st.one_of(st.none(), st.dates(date(1971, 1, 1), date(2100, 1, 1))), pl.Date),
    "seconds": (st.one_of(st.none(), st.integers(1_000_000_000, 4_000_000_000)), pl.Int64),
    "text": (st.one_of(st.none(), moments.map(lambda t: t.strftime("%Y-%m-%d %H:%M:%S")), st.just("soon")), pl.String),
    "zoned": (st.one_of(st.none(), moments.map(lambda t: t.replace(tzinfo=UTC))), pl.Datetime("us", "UTC")),
}


@st.composite
def tables(draw, users=None):
    """A Polars table with some rows that have a user and a query."""
    n = draw(st.integers(1, 12))
    value, dtype = USERS[users or draw(st.sampled_from(sorted(USERS)))]
    columns = {
        "uid": pl.Series(draw(st.lists(value, min_size=n, max_size=n)), dtype=dtype),
        "q": pl.Series(draw(st.lists(texts, min_size=n, max_size=n)), dtype=pl.String),
    }
    chosen = draw(st.sampled_from(sorted(TIMES)))
    if (time := TIMES[chosen]) is not None:
        columns["time"] = pl.Series(draw(st.lists(time[0], min_size=n, max_size=n)), dtype=time[1])
        if chosen == "zoned":
            columns["time"] = columns["time"].dt.convert_time_zone(draw(zones))
    if draw(st.booleans()):
        ranks = st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=n, max_size=n)
        columns["rank"] = pl.Series(draw(ranks), dtype=draw(st.sampled_from([pl.Int64, pl.UInt8])))
    if draw(st.booleans()):
        columns["url"] = pl.Series(draw(st.lists(texts, min_size=n, max_size=n)), dtype=pl.String)
    if draw(st.booleans()):
        columns["shop"] = pl.Series(draw(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=n, max_size=n)))
    names = draw(st.permutations(sorted(columns)))
    return pl.DataFrame({name: columns[name] for name in names})
