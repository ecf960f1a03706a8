"""User Behavior Insights (UBI 1.x): JSON lines of the `ubi_queries` index, as objects or as search hits with `_source`.

A query has `client_id`, `user_query`, `timestamp` and `query_id`; `query` holds the search engine's own request, which
repeats the user's words, and is an ordinary extra column. Lines without `user_query` (events) are counted and left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.logs.form import Role

__all__ = ["ubi_roles"]

CANDIDATES: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("client_id", "user_id", "session_id"),
    "query": ("user_query",),
    "time": ("timestamp",),
}
MARKS: Final = ("query_id", "query_response_id", "query_attributes", "action_name", "application")


def ubi_roles(keys: Iterable[str]) -> dict[str, str] | None:
    """Recognise the form by its keys, at the top or inside `_source`: role → path of keys with dots.

    >>> ubi_roles(["_index", "_source.client_id", "_source.user_query", "_source.query_id"])
    {'user': '_source.client_id', 'query': '_source.user_query'}
    """
    there = set(keys)
    for prefix in ("", "_source."):
        roles: dict[str, str] = {}
        for role, names in CANDIDATES.items():
            hit = next((prefix + name for name in names if prefix + name in there), None)
            if hit is not None:
                roles[role] = hit
        if "user" in roles and "query" in roles and any(prefix + mark in there for mark in MARKS):
            return roles
    return None
