"""Sweep as a newcomer would write it: row by row, with Python's own regular expressions."""

from __future__ import annotations

import re

MAIL = re.compile(r"\S+\s?@\s?\S+\.\S+")
SOCIAL = re.compile(r"(?<!\d)\d{3}[- ]\d{2}[- ]\d{4}(?!\d)")


def swept_rows(rows: list[tuple[str, str]], min_query_users: int) -> list[tuple[str, str]]:
    """Keep (user, query) rows whose query enough users asked and that hold no mail or social-security number."""
    kept = []
    for user, query in rows:
        askers = {u for u, q in rows if q == query}
        if len(askers) >= min_query_users and not MAIL.search(query) and not SOCIAL.search(query):
            kept.append((user, query))
    return kept
