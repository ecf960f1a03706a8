"""JSON: one object per line, or one array of objects. Which keys play a role, and which columns there are.

Values with a role are decoded; all others are kept as the JSON text they are, so that `1.50` stays `1.50`. Objects that
hold a role inside are opened: their other values become columns too, and are written back where they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.logs.columns import ROLES, assign
from querycloak.logs.form import Column
from querycloak.logs.formats.ubi import ubi_roles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from querycloak.logs.form import Role

__all__ = ["KeyPath", "columns_of", "json_column", "json_roles", "names_all", "opened_paths"]

DEEPEST: Final = 8
"""levels of nested objects in which a column is looked for"""
SAMPLE_LINES: Final = 200

Fields = dict[str, msgspec.Raw]
KeyPath = tuple[str, ...]

_DECODER: Final = msgspec.json.Decoder(Fields)


def json_roles(
    sample: bytes, source: object, mapping: Mapping[str, str] | None, name: str | None
) -> tuple[str, dict[KeyPath, Role]]:
    """Return the format and the paths of the values with a role, by the keys of the first lines.

    `mapping` names nested values by a path with dots; `name` is the format, where it is given. A mapping that names
    user and query names all roles there are, and its keys are taken as they are: what a record of one user holds, or
    that the first records lack a key, then decides nothing.
    """
    kind = "jsonl" if name is None else name
    paths: dict[str, KeyPath] = {}
    for row in _sample_rows(sample):
        _collect(row, (), paths)
    if not paths:
        raise InputError.at(source, "the first lines hold no JSON object")
    if mapping is not None and names_all(mapping):
        return kind if name != "ubi" else "ubi", _as_named(mapping, paths)
    if mapping is None and name not in {"json", "jsonl"}:
        mapping = ubi_roles(paths)
        if mapping is not None:
            kind = "ubi"
        elif name == "ubi":
            problem = "not in the UBI form: expected objects with client_id, user_query and query_id"
            raise InputError.at(source, problem)
    names = [n for n, path in paths.items() if len(path) == 1]
    nested = [n for n in (mapping or {}).values() if len(paths.get(n, ())) > 1]
    columns = assign([*names, *nested], mapping, source, surely_names=True)
    return kind, {paths[c.name]: c.role for c in columns if c.role is not None}


def names_all(mapping: Mapping[str, str]) -> bool:
    """Tell whether a mapping says all about the roles of keys: it names the user and the query."""
    return {"user", "query"} <= mapping.keys()


def _as_named(mapping: Mapping[str, str], paths: Mapping[str, KeyPath]) -> dict[KeyPath, Role]:
    """Return the paths of the keys that a mapping names; a name with dots that no record has is nested."""
    roles: dict[KeyPath, Role] = {}
    for given, name in mapping.items():
        role = next((r for r in ROLES if r == given), None)
        if role is None:
            raise UnknownNameError.of("role of a column", given, ROLES)
        path = paths.get(name) or tuple(name.split("."))
        if path in roles:
            raise ParameterError(f"The column {name!r} is mapped to two roles; give each role its own column.")
        roles[path] = role
    return roles


def columns_of(sample: bytes, roles: Mapping[KeyPath, Role]) -> tuple[Column, ...]:
    """Return the columns of the first lines, in their order; objects with a role inside are opened."""
    opened = opened_paths(roles)
    columns: dict[KeyPath, Column] = {}
    for row in _sample_rows(sample):
        for path in _leaves(row, (), opened):
            if path not in columns:
                columns[path] = json_column(path, roles.get(path), {c.name for c in columns.values()})
    for path, role in roles.items():
        if path not in columns:
            columns[path] = json_column(path, role, {c.name for c in columns.values()})
    return tuple(columns.values())


def json_column(path: KeyPath, role: Role | None, taken: set[str]) -> Column:
    """Return the column of a path of keys. Its name is the path with dots, longer where another column has that."""
    name = ".".join(path)
    while name in taken:
        name += "_"
    nested = path if len(path) > 1 or name != path[0] else ()
    return Column(name, role, kind="text" if role else "json", path=nested)


def opened_paths(paths: Mapping[KeyPath, object]) -> set[KeyPath]:
    """Return the paths of the objects around some values."""
    return {path[:i] for path in paths for i in range(1, len(path))}


def _sample_rows(sample: bytes) -> Iterator[Fields]:
    for line in sample.split(b"\n")[:SAMPLE_LINES]:
        try:
            yield _DECODER.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            continue  # the reading will tell


def _collect(row: Fields, prefix: KeyPath, paths: dict[str, KeyPath]) -> None:
    """Add the dotted names of all values, those of nested objects too; a key at the top goes before a nested one."""
    for key, raw in row.items():
        path = (*prefix, key)
        if len(path) == 1:
            paths[key] = path
        else:
            paths.setdefault(".".join(path), path)
        if len(path) < DEEPEST and bytes(raw)[:1] == b"{":
            _collect(_DECODER.decode(raw), path, paths)


def _leaves(row: Fields, prefix: KeyPath, opened: set[KeyPath]) -> Iterator[KeyPath]:
    for key, raw in row.items():
        path = (*prefix, key)
        if path in opened and bytes(raw)[:1] == b"{":
            yield from _leaves(_DECODER.decode(raw), path, opened)
        elif path not in opened:
            yield path
