"""Which column plays which role: by the user's mapping, else by the names that logs commonly use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, get_args

from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.logs.form import Column, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["ROLES", "assign", "guess", "is_header"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

COMMON_NAMES: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("anonid", "user", "user_id", "userid", "uid", "client_id", "clientid", "visitor_id", "session_id"),
    "query": ("query", "q", "user_query", "query_text", "querytext", "search_query", "search_term", "keywords"),
    "time": ("querytime", "query_time", "time", "timestamp", "datetime", "ts", "date"),
    "rank": ("itemrank", "item_rank", "rank", "click_rank", "clickrank", "position"),
    "url": ("clickurl", "click_url", "url", "clicked_url", "site", "link"),
    "category": ("category", "topic", "class"),
}
"""Lower case, the surest first."""
_NAME: Final = re.compile(r"(?!.*\d{4})[^\W\d][\w .:/()-]{0,60}")
"""What a column may be called for its name to be shown: no number, nothing with many digits in it."""


def guess(names: Sequence[str]) -> dict[Role, str]:
    """Find roles by common names, in any case.

    >>> guess(["UID", "Query", "shop"])
    {'user': 'UID', 'query': 'Query'}
    """
    plain = {name.strip().lower().replace(" ", "_").replace("-", "_"): name for name in reversed(names)}
    found: dict[Role, str] = {}
    for role, common in COMMON_NAMES.items():
        hit = next((plain[c] for c in common if c in plain), None)
        if hit is not None:
            found[role] = hit
    return found


def is_header(fields: Sequence[str], mapping: Mapping[str, str] | None) -> bool:
    """Say whether a first line names the columns: a mapping by name asks for it, common names show it."""
    if mapping is not None and not all(map(_is_position, mapping.values())):
        return True
    found = guess(fields)
    return {"user", "query"} <= found.keys() or 1 < len(fields) == len(found)


def assign(
    names: Sequence[str],
    mapping: Mapping[str, str] | None,
    path: Path,
    *,
    surely_names: bool,
    needed: tuple[Role, ...] = ("user", "query"),
) -> tuple[Column, ...]:
    """Return each column its role: those of the mapping first, the others by common names.

    Unless they are `surely_names`, the names may be the first line of the data, and no error shows them.
    """
    _refuse_duplicates(names, path)
    roles: dict[Role, str] = {}
    for given, name in (mapping or {}).items():
        if given not in ROLES:
            raise UnknownNameError.of("role of a column", given, ROLES)
        found = _find(name, names)
        if found is None:
            raise _unknown(name, names, path, surely_names=surely_names or _any_known(names, mapping))
        if found in roles.values():
            raise ParameterError(f"The column {name!r} is mapped to two roles; give each role a column of its own.")
        roles[next(r for r in ROLES if r == given)] = found
    for role, name in guess([n for n in names if n not in roles.values()]).items():
        roles.setdefault(role, name)
    lacking = [role for role in needed if role not in roles]
    if lacking:
        shown = surely_names or _any_known(names, mapping)
        there = f"; there are: {', '.join(names[:40])}" if shown else f"; the first line has {len(names)} fields"
        asked = ",".join(f"{role}=NAME" for role in lacking)
        problem = f"no column is known to be the {' or the '.join(lacking)}; say which, as in {asked}{there}"
        raise InputError.at(path, problem)
    by_name = {name: role for role, name in roles.items()}
    return tuple(Column(name, by_name.get(name)) for name in names)


def _refuse_duplicates(names: Sequence[str], path: Path) -> None:
    twice = [i for i, name in enumerate(names) if name in names[:i]]
    if twice:
        first = names.index(names[twice[0]]) + 1
        problem = f"columns {first} and {twice[0] + 1} have the same name in the header; rename one"
        raise InputError.at(path, problem, 1)


def _is_position(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _find(name: str, names: Sequence[str]) -> str | None:
    """Find a column by its name, else by its name in another case, else by its position from 1."""
    if name in names:
        return name
    alike = [n for n in names if n.lower() == name.lower()]
    if len(alike) == 1:
        return alike[0]
    if _is_position(name) and 1 <= int(name) <= len(names):
        return names[int(name) - 1]
    return None


def _any_known(names: Sequence[str], mapping: Mapping[str, str] | None) -> bool:
    """Say whether names are surely a header's: one that the user named, or two common ones, and none is odd.

    One common name is not enough: "date" may be somebody's query. A line torn out of header and data has odd ones.
    """
    if not all(_NAME.fullmatch(name) for name in names):
        return False
    return len(guess(names)) > 1 or any(n in names and not _is_position(n) for n in (mapping or {}).values())


def _unknown(name: str, names: Sequence[str], path: Path, *, surely_names: bool) -> UnknownNameError:
    if surely_names:
        return UnknownNameError.of(f"column of {path} named", name, names)
    return UnknownNameError(
        f"There is no column {name!r} in {path}, whose first line has {len(names)} fields and does not look like a "
        "header; name columns by position, as in user=1,query=2."
    )
