"""How many people have a text together with a value, against a plain count."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from querycloak.logs.query_log import QueryLog
from querycloak.releases.column_checks import people_per_pair

TEXTS = ["", "tea", "green tea", "green", "Green  TEA cup", "tea tea", "teapot", "日本", "本", "日 本"]
ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(TEXTS), st.integers(-1, 2)), min_size=1, max_size=12)
WANTED = st.lists(st.tuples(st.integers(-1, len(TEXTS) - 1), st.integers(0, 3)), max_size=8)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _holds(query: str, text: str) -> bool:
    """Tell whether the query is the text or holds its words; Han characters are words without spaces."""
    if text == "":
        return query == ""
    edge = set(" 日本")
    starts = [i for i in range(len(query)) if query.startswith(text, i)]
    return any(
        (i == 0 or query[i - 1] in edge or text[0] in edge)
        and (i + len(text) == len(query) or query[i + len(text)] in edge or text[-1] in edge)
        for i in starts
    )


@given(rows=ROWS, wanted=WANTED, most_rows=st.none() | st.integers(1, 6))
def test_people_of_a_text_and_a_value_are_counted_as_by_hand(rows, wanted, most_rows):
    log = QueryLog.of([u for u, _, _ in rows], [q for _, q, _ in rows])
    value = np.array([v for _, _, v in rows])
    people = people_per_pair(
        log, value, pl.Series(TEXTS), np.array([t for t, _ in wanted], dtype=np.int64),
        np.array([v for _, v in wanted], dtype=np.int64), most_rows,
    )  # fmt: skip
    often = {u: sum(1 for other, _, _ in rows if other == u) for u, _, _ in rows}
    expected = [
        len({
            u for u, q, v in rows
            if t >= 0 and v == wanted_value and _holds(_plain(q), _plain(TEXTS[t]))
            and (most_rows is None or often[u] <= most_rows)
        })
        for t, wanted_value in wanted
    ]  # fmt: skip
    assert people.tolist() == expected
