"""JSON lines: one object a line; values with a role are decoded, all others ride along as the JSON text they are."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from querycloak.errors import InputError
from querycloak.io.columns import assign
from querycloak.io.table import BLANK
from querycloak.io.text import NOT_UTF8
from querycloak.io.ubi import ubi_roles
from querycloak.records import Column, LogForm, Role

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from querycloak.io.text import TextBlocks

__all__ = ["JsonLines"]

ROWS: Final = 100_000
"""rows decoded at once"""
DEEPEST: Final = 8
"""levels of nested objects in which a column is looked for"""

Fields = dict[str, msgspec.Raw]
KeyPath = tuple[str, ...]

_DECODER: Final = msgspec.json.Decoder(Fields)
_ESCAPE: Final = re.compile(rb"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_SPACE: Final = re.compile(rb'\{"(?:[^"\\]|\\.)*": ')


class JsonLines:
    """Reads JSON lines into frames and learns the form on the way: keys may turn up late."""

    def __init__(
        self,
        text: TextBlocks,
        path: Path,
        mapping: Mapping[str, str] | None = None,
        name: str | None = None,
        form: LogForm | None = None,
    ) -> None:
        self._text = text
        self._path = path
        self._columns: dict[KeyPath, Column] = {}
        self._ascii: bool | None = None
        if form is None:
            sample = text.sample()
            self._format = name or "jsonl"
            self._spaces = _SPACE.match(sample.lstrip()) is not None
            self._role_of = self._find_roles(sample, mapping, name)
        else:
            self._format, self._spaces, self._ascii = form.format, form.json_spaces, form.json_ascii
            self._columns = {c.path or (c.name,): c for c in form.columns}
            self._role_of = {p: c.role for p, c in self._columns.items() if c.role is not None}
        self._opened = {path[:i] for path in (*self._role_of, *self._columns) for i in range(1, len(path))}
        self.roles: dict[Role, str] = {role: ".".join(path) for path, role in self._role_of.items()}

    def frames(self, problems: Counter[str]) -> Iterator[pl.DataFrame]:
        """Give the rows, some at a time, as text columns; null = missing."""
        for line, block in self._text.blocks():
            if self._ascii is None and _ESCAPE.search(block):
                self._ascii = True
            rows: list[Fields] = []
            for number, content in enumerate(block.split(b"\n")[:-1], line):
                if not content.strip():
                    problems[BLANK] += 1
                    continue
                rows.append(_decode(content, self._path, number))
                if len(rows) == ROWS:
                    yield self._frame(rows, problems)
                    rows = []
            yield self._frame(rows, problems)

    def form(self) -> LogForm:
        """Give the form, complete once all rows were read."""
        columns = tuple(self._columns.values())
        return LogForm(self._format, columns, json_spaces=self._spaces, json_ascii=bool(self._ascii))

    def _find_roles(self, sample: bytes, mapping: Mapping[str, str] | None, name: str | None) -> dict[KeyPath, Role]:
        """Find the values with a role by the keys of the first lines; nested ones by a path with dots."""
        paths: dict[str, KeyPath] = {}
        for number, content in enumerate(sample.split(b"\n")[:200], 1):
            if content.strip():
                try:
                    _collect(_decode(content, self._path, number), (), paths)
                except InputError:
                    if not paths:
                        raise
                    break  # the reading will tell
        if mapping is None and name != "jsonl":
            mapping = ubi_roles(paths)
            if mapping is not None:
                self._format = "ubi"
            elif name == "ubi":
                problem = "not in the UBI form: expected objects with client_id, user_query and query_id"
                raise InputError.at(self._path, problem)
        names = [n for n, path in paths.items() if len(path) == 1]
        nested = [n for n in (mapping or {}).values() if len(paths.get(n, ())) > 1]
        columns = assign([*names, *nested], mapping, self._path, surely_names=True)
        return {paths[c.name]: c.role for c in columns if c.role is not None}

    def _frame(self, rows: list[Fields], problems: Counter[str]) -> pl.DataFrame:
        values: dict[KeyPath, list[msgspec.Raw | None]] = {path: [None] * len(rows) for path in self._role_of}
        for i, row in enumerate(rows):
            self._take(row, (), i, len(rows), values)
        data = {}
        for path, raws in values.items():
            name = ".".join(path)
            if name in data:
                raise InputError.at(self._path, "a key with dots and nested keys have the same name; rename one")
            if path in self._role_of:
                self._learn(path, raws)
                data[name] = [_text(raw, problems, self._path) for raw in raws]
            else:
                data[name] = [None if raw is None else bytes(raw).decode() for raw in raws]
        return pl.DataFrame(data, schema=dict.fromkeys(data, pl.String))

    def _take(
        self, row: Fields, prefix: KeyPath, i: int, n: int, values: dict[KeyPath, list[msgspec.Raw | None]]
    ) -> None:
        """Put the values of one object into their columns; objects that hold a role are opened."""
        for key, raw in row.items():
            path = (*prefix, key)
            if path in self._opened and bytes(raw)[:1] == b"{":
                self._take(_DECODER.decode(raw), path, i, n, values)
                continue
            if path not in self._columns:
                role = self._role_of.get(path)
                nested = path if len(path) > 1 else ()
                self._columns[path] = Column(".".join(path), role, kind="text" if role else "json", path=nested)
            column = values.get(path)
            if column is None:
                column = values[path] = [None] * n
            column[i] = raw

    def _learn(self, path: KeyPath, raws: list[msgspec.Raw | None]) -> None:
        """Note how the values of a role are written: bare numbers, and null for a missing one."""
        column = self._columns.get(path)
        if column is None:
            return
        first = next((bytes(raw)[:1] for raw in raws if raw is not None and bytes(raw) != b"null"), b'"')
        kind = "text" if first == b'"' or column.kind == "number" else "number"
        null = column.null or any(raw is not None and bytes(raw) == b"null" for raw in raws)
        if kind == "number" or null != column.null:
            self._columns[path] = Column(
                column.name, column.role, "number" if kind == "number" else column.kind, null, column.path
            )


def _decode(content: bytes, path: Path, number: int) -> Fields:
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise InputError.at(path, "expected one JSON object", number) from None


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


def _text(raw: msgspec.Raw | None, problems: Counter[str], path: Path) -> str | None:
    """Give a value as text: strings decoded, numbers as they stand, null and anything nested as missing."""
    if raw is None:
        return None
    content = bytes(raw)
    if content[:1] in {b"n", b"{", b"["}:
        return None
    if content[:1] != b'"':
        return content.decode()
    try:
        return str(msgspec.json.decode(content, type=str))
    except msgspec.DecodeError:
        problems[NOT_UTF8] += 1
    try:
        return str(json.loads(content)).encode("utf-8", "replace").decode()
    except ValueError:
        raise InputError.at(path, "a string with an escape that JSON does not have") from None
