"""Times and clicks of a release, row by row, in plain Python."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict

__all__ = ["begin_of", "kept_rows"]


def begin_of(time: int, grain: str) -> int:
    """The beginning of the hour, day or week (from Monday) of a time, by the calendar."""
    when = dt.datetime.fromtimestamp(time, tz=dt.UTC)
    day = when.replace(hour=0, minute=0, second=0)
    if grain == "hour":
        day = when.replace(minute=0, second=0)
    if grain == "week":
        day -= dt.timedelta(days=when.weekday())
    return int(day.timestamp())


def kept_rows(rows, published, people, grain):
    """Rows of each user: {user: sorted list of (time, text, url, rank)}.

    rows: (user, query, time, url, rank), in the order of the log; published: query → text, for the queries that are
    published. Rows of one event have the same user, query and time, and clicks.
    """
    sharing, sharing_rank = defaultdict(set), defaultdict(set)
    for user, query, _, url, rank in rows:
        if query in published and url is not None:
            sharing[published[query], url].add(user)
            sharing_rank[published[query], url, rank].add(user)
    events = []
    last = {}  # user → the event that the user's last row belongs to
    for user, query, time, url, rank in rows:
        before = last.get(user)
        if before is not None and before[:2] == (query, time) and before[2] and url is not None:
            before[3].append((url, rank))
            continue
        event = (query, time, url is not None, [(url, rank)] if url is not None else [])
        events.append((user, event))
        last[user] = event
    out = defaultdict(list)
    for user, (query, time, _, clicks) in events:
        if query not in published:
            continue
        text = published[query]
        kept = [
            (url, rank if rank is not None and len(sharing_rank[text, url, rank]) >= people else None)
            for url, rank in clicks
            if len(sharing[text, url]) >= people
        ]
        for url, rank in kept or [(None, None)]:
            out[user].append((begin_of(time, grain), text, url or "", -1 if rank is None else rank))
    return {user: sorted(found) for user, found in out.items()}
