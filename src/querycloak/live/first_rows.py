"""Do the columns of a stream look right? Judged by its first lines, before any record leaves.

The judge is `logs.sanity`, which needs Polars, and loading that takes a fifth of a second. So the rows are looked at in
plain Python first: where they are far from everything that the judge would stop at, as nearly all are, it is not asked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from querycloak.logs import _records_kernels as records
from querycloak.logs.records import RecordReader
from querycloak.logs.sanity_signs import (
    CODE,
    FEWEST_ROWS,
    MAIL,
    MOST_CODES,
    MOST_IDS_OF_USERS,
    MOST_MAILS,
    MOST_ONE_QUERY,
    MOST_REQUESTS,
    MOST_SPACED_USERS,
    REQUEST,
    SEVERAL_WORDS,
    SHORT_NUMBER,
)

if TYPE_CHECKING:
    from querycloak.logs.layout import Layout
    from querycloak.logs.read_options import ReadOptions
    from querycloak.logs.records import RecordBatch

__all__ = ["check_first_rows", "surely_sound"]

MOST_ROWS: Final = 1000
FAR_BELOW: Final = 0.5
"""share of the judge's thresholds below which it need not be asked"""
ODD_BYTES: Final = bytes([*range(9), *range(14, 32), *range(127, 256)])
"""bytes of characters about which two libraries may think differently"""


def check_first_rows(sample: bytes, source: object, layout: Layout, options: ReadOptions) -> None:
    """Refuse a stream whose first lines have columns that look wrong, unless the user said to go on."""
    if options.assume_yes:
        return
    # What is wrong with a line is told when it is read as a record.
    reader = RecordReader(layout, layout.problems(source, stop=False), collect=False)
    found = reader.read(sample).kept().until(MOST_ROWS)
    plain = _plain_rows(found) if not layout.form.safe_csv else None
    if plain is not None and (len(plain) < FEWEST_ROWS or surely_sound(plain)):
        return
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.sanity import check_columns

    users, queries = (reader.texts(found, column).to_list() for column in (records.USER, records.QUERY))
    rows = [(user, query) for user, query in zip(users, queries, strict=True) if user and query]
    if len(rows) >= FEWEST_ROWS:
        log = QueryLog.of([user for user, _ in rows], [query for _, query in rows])
        check_columns(replace(log, form=layout.form), source, options, whole=False)


def _plain_rows(found: RecordBatch) -> list[tuple[str, str]] | None:
    """Return user and query of each row that has both; None where one of them is written in an odd way."""
    columns = (records.USER, records.QUERY)
    if (found.how[:, columns] == records.ESCAPED).any() or found.data.translate(None, ODD_BYTES) != found.data:
        return None
    spans = found.spans[:, [2 * column + i for column in columns for i in (0, 1)]].tolist()
    texts = [(found.data[a:b].decode(), found.data[c:d].decode()) for a, b, c, d in spans]
    return [(user, query) for user, query in texts if user and query]


def surely_sound(rows: list[tuple[str, str]]) -> bool:
    """Tell that `logs.sanity` would find nothing in some rows (user, query) of plain ASCII; False = it may."""
    ids = {user.strip().lower() for user, _ in rows}
    queries = [query for _, query in rows]
    different, asked = set(queries), defaultdict(list)
    for user, query in rows:
        asked[user.strip()].append(query)
    busy = [texts for texts in asked.values() if len(texts) >= 3]
    is_id = sum(q.strip().lower() in ids and re.search(SHORT_NUMBER, q.strip()) is None for q in queries)
    seen = (
        (is_id, len(queries), MOST_IDS_OF_USERS),
        (_count(REQUEST, queries), len(queries), MOST_REQUESTS),
        (_count(MAIL, different), len(different), MOST_MAILS),
        (_count(CODE, queries), len(queries), MOST_CODES),
        (_count(SEVERAL_WORDS, [user for user, _ in rows]), len(queries), MOST_SPACED_USERS),
        (sum(len(set(texts)) == 1 for texts in busy), len(busy), MOST_ONE_QUERY),
    )
    return all(n <= FAR_BELOW * most * of for n, of, most in seen)


def _count(pattern: str, texts: list[str] | set[str]) -> int:
    """Return how many texts hold what is looked for."""
    look = re.compile(pattern)
    return sum(look.search(text) is not None for text in texts)
