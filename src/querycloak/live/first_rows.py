"""Do the columns of a stream look right? Judged by its first lines, before any record leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from querycloak.logs.formats.table import SEPARATORS, first_rows

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.live.layout import Layout
    from querycloak.logs.read_options import ReadOptions

__all__ = ["check_first_rows"]

MOST_ROWS: Final = 1000


def check_first_rows(sample: bytes, source: Path, layout: Layout, options: ReadOptions) -> None:
    """Refuse a stream whose first lines have columns that look wrong, unless the user said to go on."""
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.sanity import FEWEST_ROWS, check_columns

    rows = _json_rows(sample, layout) if layout.is_json else _table_rows(sample, layout)
    if len(rows) >= FEWEST_ROWS:
        log = QueryLog.of([user for user, _ in rows], [query for _, query in rows])
        check_columns(replace(log, form=layout.form), source, options, whole=False)


def _table_rows(sample: bytes, layout: Layout) -> list[tuple[str, str]]:
    user, query, _, width = layout.roles.tolist()
    text = sample[layout.begin :].replace(b"\r\n", b"\n").decode(errors="replace").encode()
    rows = first_rows(text, SEPARATORS[layout.form.format], MOST_ROWS)
    return [(row[user], row[query]) for row in rows if len(row) == width and row[user] and row[query]]


def _json_rows(sample: bytes, layout: Layout) -> list[tuple[str, str]]:
    user, query, _ = (name.decode() for name in layout.names)
    rows: list[tuple[str, str]] = []
    for line in sample[layout.begin :].split(b"\n")[:MOST_ROWS]:
        try:
            found = json.loads(line)
        except ValueError:  # counted, or the end of the run, when it is read as a record
            continue
        if isinstance(found, dict) and found.get(user) and found.get(query):
            rows.append((str(found[user]), str(found[query])))
    return [row for row in rows if not any(0xD800 <= ord(c) < 0xE000 for text in row for c in text)]
