"""JSON lines: one object a line; values with a role are decoded, all others ride along as the JSON text they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from querycloak.errors import InputError
from querycloak.logs.columns import assign
from querycloak.logs.form import Column, LogForm, Role
from querycloak.logs.formats.table import BLANK
from querycloak.logs.formats.ubi import ubi_roles
from querycloak.logs.text_blocks import NOT_UTF8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from querycloak.logs.text_blocks import TextBlocks

__all__ = ["JsonLines"]

ROWS: Final = 100_000
"""rows decoded at once"""
DEEPEST: Final = 8
"""levels of nested objects in which a column is looked for"""

Fields = dict[str, msgspec.Raw]
KeyPath = tuple[str, ...]

_DECODER: Final = msgspec.json.Decoder(Fields)
_ESCAPE: Final = re.compile(rb"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_TOKENS: Final = re.compile(rb"\\[^u]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\u")
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
        self._typed: set[KeyPath] = set(self._columns)
        self.roles: dict[Role, str] = {role: ".".join(path) for path, role in self._role_of.items()}

    def frames(self, problems: Counter[str]) -> Iterator[pl.DataFrame]:
        """Return the rows, some at a time, as text columns; null = missing."""
        for line, block in self._text.blocks():
            if self._ascii is not False:  # one character written as it is settles it
                self._ascii = (self._ascii or _ESCAPE.search(block) is not None or None) if block.isascii() else False
            rows: list[Fields] = []
            for number, content in enumerate(block.split(b"\n")[:-1], line):
                if not content.strip():
                    problems[BLANK] += 1
                    continue
                rows.append(_decode(content, self._path, number, problems))
                if len(rows) == ROWS:
                    yield self._frame(rows)
                    rows = []
            yield self._frame(rows)

    def form(self) -> LogForm:
        """Return the form, complete once all rows were read."""
        columns = tuple(self._columns.values())
        return LogForm(self._format, columns, json_spaces=self._spaces, json_ascii=bool(self._ascii))

    def _find_roles(self, sample: bytes, mapping: Mapping[str, str] | None, name: str | None) -> dict[KeyPath, Role]:
        """Find the values with a role by the keys of the first lines; nested ones by a path with dots."""
        paths: dict[str, KeyPath] = {}
        problems: Counter[str] = Counter()  # counted when the rows are read
        for number, content in enumerate(sample.split(b"\n")[:200], 1):
            if content.strip():
                try:
                    _collect(_decode(content, self._path, number, problems), (), paths)
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

    def _frame(self, rows: list[Fields]) -> pl.DataFrame:
        """Turn rows into columns, one whole column at a time."""
        opened: Sequence[dict[Any, msgspec.Raw]] = [self._open(row, ()) for row in rows] if self._opened else rows
        self._meet(opened)
        data: dict[str, list[str | None]] = {}
        for path in {**self._role_of, **self._columns}:
            key = path if self._opened else path[0]
            raws = [None if raw is None else bytes(raw).decode() for raw in (row.get(key) for row in opened)]
            name = ".".join(path)
            if name in data:
                raise InputError.at(self._path, "a key with dots and nested keys have the same name; rename one")
            if path in self._role_of:
                self._learn(path, raws)
                data[name] = [_text(raw) for raw in raws]
            else:
                data[name] = raws
        return pl.DataFrame(data, schema=dict.fromkeys(data, pl.String))

    def _open(self, row: Fields, prefix: KeyPath) -> dict[Any, msgspec.Raw]:
        """Return the values by their path of keys; objects that hold a role are opened, all others stay whole."""
        values: dict[Any, msgspec.Raw] = {}
        for key, raw in row.items():
            path = (*prefix, key)
            if path in self._opened and bytes(raw)[:1] == b"{":
                values |= self._open(_DECODER.decode(raw), path)
            else:
                values[path] = raw
        return values

    def _meet(self, rows: Sequence[dict[Any, msgspec.Raw]]) -> None:
        """Add the keys that were not seen before, in the order of the file."""
        known = {path if self._opened else path[0] for path in self._columns}
        for row in rows:
            if row.keys() <= known:
                continue
            for key in row:
                if key not in known:
                    path: KeyPath = key if self._opened else (key,)
                    role = self._role_of.get(path)
                    nested = path if len(path) > 1 else ()
                    self._columns[path] = Column(".".join(path), role, kind="text" if role else "json", path=nested)
                    known.add(key)

    def _learn(self, path: KeyPath, raws: list[str | None]) -> None:
        """Note how the values of a role are written: bare numbers, and null for a missing one."""
        column = self._columns.get(path)
        if column is None:
            return
        if not column.null and "null" in raws:
            column = replace(column, null=True)
        if column.kind == "text" and path not in self._typed:
            first = next((raw for raw in raws if raw is not None and raw != "null"), None)
            if first is not None:
                self._typed.add(path)
                column = column if first.startswith('"') else replace(column, kind="number")
        self._columns[path] = column


def _decode(content: bytes, path: Path, number: int, problems: Counter[str]) -> Fields:
    """Read one line; an escape that stands for half a character is replaced and counted."""
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        mended, count = _mended(content)
    try:
        row = _DECODER.decode(mended)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise InputError.at(path, "expected one JSON object", number) from None
    problems[NOT_UTF8] += count
    return row


def _mended(content: bytes) -> tuple[bytes, int]:
    """Replace the escapes of lone surrogates; give how many there were."""
    count = 0

    def token(match: re.Match[bytes]) -> bytes:
        nonlocal count
        count += match["lone"] is not None
        return b"\\ufffd" if match["lone"] else match[0]

    return _TOKENS.sub(token, content), count


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


def _text(raw: str | None) -> str | None:
    """Return a value as text: strings decoded, numbers as they stand, null and anything nested as missing."""
    if raw is None or raw[0] in "n{[":
        return None
    if raw[0] != '"':
        return raw
    return raw[1:-1] if "\\" not in raw else str(msgspec.json.decode(raw, type=str))
