"""User Behavior Insights (UBI 1.x): JSON lines of the `ubi_queries` index, as objects or as search hits with `_source`.

A query has `client_id`, `user_query`, `timestamp` and `query_id`; `query` holds the search engine's own request, which
repeats the user's words, and is an ordinary extra column. Lines without `user_query` (events) are counted and left out.
The user is `client_id`, or `user_id` where there is no client; a file with both does not say which is the person, and a
session is not one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.logs.form import Role

__all__ = ["ubi_roles"]

CANDIDATES: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("client_id", "user_id"),
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
            hits = [prefix + name for name in names if prefix + name in there]
            if hits:
                roles[role] = hits[0]
        if "user" in roles and "query" in roles and any(prefix + mark in there for mark in MARKS):
            _refuse_two_users(prefix, there)
            return roles
    return None


def _refuse_two_users(prefix: str, there: set[str]) -> None:
    """Ask where both a client and a user are given: one person may have several clients."""
    both = [prefix + name for name in CANDIDATES["user"]]
    if there.issuperset(both):
        raise InputError(
            f"The log has {both[0]} and {both[1]}, and either may be the user: say which, as in "
            f"--columns user={both[0]},query={prefix}user_query."
        )
