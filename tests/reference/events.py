"""Reference implementation: which rows of a log belong to one search."""

from __future__ import annotations

MISSING = None


def event_rows(rows) -> list[int]:
    """Return, for each row (user, query, time, url), the first row of its search; None = missing.

    A row belongs to the search of the same user's row before it when query and time are equal and both rows have a
    click. What other users do plays no part.
    """
    last: dict[object, int] = {}  # row before, by user
    out: list[int] = []
    for i, (user, query, time, url) in enumerate(rows):
        before = rows[last[user]] if user in last else None
        same = before is not None and before[1] == query and before[2] == time is not MISSING
        joined = same and url is not None and before[3] is not None
        out.append(out[last[user]] if joined else i)
        last[user] = i
    return out
