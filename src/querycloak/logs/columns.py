"""Which column has which role: by the user's mapping, else by the names that logs commonly use.

A column that is taken for the query is published, so user and query are never guessed: a common name must say which
they are, and one name only. Two candidates, a session instead of a user, or names that are not known stop the reading
with a sentence that says what to type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, get_args

from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.logs.form import Column, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "NEVER_GUESSED",
    "ROLES",
    "assign",
    "by_position",
    "guess",
    "is_header",
    "session_hint",
    "showable",
    "shown_name",
]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

COMMON_NAMES: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("anonid", "user", "user_id", "userid", "uid", "client_id", "clientid", "visitor_id"),
    "query": ("query", "q", "user_query", "query_text", "querytext", "search_query", "search_term", "keywords"),
    "time": ("querytime", "query_time", "time", "timestamp", "datetime", "ts", "date"),
    "rank": ("itemrank", "item_rank", "rank", "click_rank", "clickrank", "position"),
    "url": ("clickurl", "click_url", "url", "clicked_url", "site", "link"),
    "category": ("category", "topic", "class"),
}
"""Lower case, the surest first."""
SESSIONS: Final = ("session_id", "sessionid", "session")
"""Never taken for the user unasked: k sessions may all be one person's. Next to a user column, the unit to protect is
the user's choice."""
NEVER_GUESSED: Final[tuple[Role, ...]] = ("user", "query")
"""Roles that a second candidate makes ambiguous. For the others the surest name is taken: none of them is published as
a query, or counted as a person."""
_NAME: Final = re.compile(r"(?!.*\d{4})[^\W\d][\w .:/()-]{0,60}")
"""What a column may be called for its name to be shown: no number, nothing with many digits in it."""


def guess(names: Sequence[str]) -> dict[Role, str]:
    """Find roles by common names, in any case.

    >>> guess(["UID", "Query", "shop"])
    {'user': 'UID', 'query': 'Query'}
    """
    return {role: found[0] for role in COMMON_NAMES if (found := _candidates(role, names))}


def is_header(fields: Sequence[str], mapping: Mapping[str, str] | None = None) -> bool:
    """Say whether a first line names the columns: a mapping by name asks for it, common names show it."""
    if mapping and not by_position(mapping):
        return True
    found = guess(fields)
    return {"user", "query"} <= found.keys() or 1 < len(fields) == len(found)


def by_position(mapping: Mapping[str, str]) -> bool:
    """Say whether all columns are given by their position from 1."""
    return all(map(_is_position, mapping.values()))


def shown_name(index: int, names: Sequence[str], mapping: Mapping[str, str] | None, *, header: bool) -> str:
    """Return what a column may be called in a message: its name where that is known not to be data, else its position.

    >>> shown_name(1, ["nutzer", "Query"], None, header=True), shown_name(0, ["ann", "tea"], None, header=False)
    ('Query', 'column 1')
    """
    name = names[index]
    known = _plain(name) in {common for names in COMMON_NAMES.values() for common in names}
    named = name.lower() in {given.lower() for given in (mapping or {}).values() if not _is_position(given)}
    return name if header and (known or named) else f"column {index + 1}"


def assign(
    names: Sequence[str],
    mapping: Mapping[str, str] | None,
    path: object,
    *,
    surely_names: bool,
    needed: tuple[Role, ...] = ("user", "query"),
) -> tuple[Column, ...]:
    """Return each column with its role: those of the mapping first, the others by common names.

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
            raise ParameterError(f"The column {name!r} is mapped to two roles; give each role its own column.")
        roles[next(r for r in ROLES if r == given)] = found
    left = [n for n in names if n not in roles.values()]
    for role in COMMON_NAMES:
        candidates = [] if role in roles else _candidates(role, left)
        sessions = [n for n in left if _plain(n) in SESSIONS] if role == "user" and candidates else []
        if role in NEVER_GUESSED and len(candidates) + len(sessions) > 1:
            raise _ambiguous(role, [*candidates, *sessions], path)
        if candidates:
            roles[role] = candidates[0]
    lacking = [role for role in needed if role not in roles]
    if lacking:
        shown = surely_names or _any_known(names, mapping)
        raise InputError.at(path, _lacking(lacking, names, left, shown=shown))
    by_name = {name: role for role, name in roles.items()}
    return tuple(Column(name, by_name.get(name)) for name in names)


def showable(names: Sequence[str]) -> list[str]:
    """Return the names that messages may show: a column may be called by somebody's id."""
    return [name for name in names if _NAME.fullmatch(name)]


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _candidates(role: Role, names: Sequence[str]) -> list[str]:
    """Return the columns whose names are common for a role, the surest first."""
    common = COMMON_NAMES[role]
    found = [name for name in names if _plain(name) in common]
    return sorted(found, key=lambda name: common.index(_plain(name)))


def _ambiguous(role: Role, candidates: Sequence[str], path: object) -> InputError:
    """Ask which; the names are common ones, so that showing them shows no data."""
    example = candidates[-1] if role == "query" else candidates[0]  # `query` may be the engine's request
    problem = (
        f"{len(candidates)} columns may be the {role}: {', '.join(candidates)}; say which, as in "
        f"--columns {role}={example}"
    )
    return InputError.at(path, problem)


def _lacking(lacking: Sequence[Role], names: Sequence[str], left: Sequence[str], *, shown: bool) -> str:
    """Say which roles no column has, what there is, and what to type."""
    asked = ",".join(f"{role}=NAME" for role in lacking)
    problem = f"no column is known to be the {' or the '.join(lacking)}; say which, as in --columns {asked}"
    if "user" in lacking:
        problem += session_hint(left)
    if not shown:
        return f"{problem}; the first line has {len(names)} fields"
    plain = showable(names)[:40]
    more = f" and {len(names) - len(plain)} more" if len(plain) < len(names) else ""
    return f"{problem}; there are: {', '.join(plain)}{more}"


def session_hint(names: Sequence[str]) -> str:
    """Return a remark on a column of sessions, where there is one."""
    found = next((name for name in names if _plain(name) in SESSIONS), None)
    return "" if found is None else f" ({found} is not taken unasked: a session is not a person, who may have many)"


def _refuse_duplicates(names: Sequence[str], path: object) -> None:
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


def _unknown(name: str, names: Sequence[str], path: object, *, surely_names: bool) -> UnknownNameError:
    if surely_names:
        return UnknownNameError.of(f"column of {path} named", name, showable(names))
    return UnknownNameError(
        f"There is no column {name!r} in {path}, whose first line has {len(names)} fields and does not look like a "
        "header; name columns by position, as in --no-header --columns user=1,query=2."
    )
