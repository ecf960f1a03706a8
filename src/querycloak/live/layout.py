"""How records lie in a stream: the form found in its first lines, and where user, query and category stand in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError
from querycloak.live._lines_kernels import split_json, split_table
from querycloak.logs.columns import assign
from querycloak.logs.form import LogForm
from querycloak.logs.recognise import PARQUET_MAGIC, check_format, recognise_text, table_form

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from querycloak.logs.read_options import ReadOptions

__all__ = ["LONGEST_LINE", "Layout", "find_layout"]

LONGEST_LINE: Final = 1 << 18
"""Bytes of a line; a longer one is bad input."""
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
PACKED: Final = {b"\x1f\x8b": "gzip -dc", b"\x28\xb5\x2f\xfd": "zstd -dc"}
ROLES: Final = ("user", "query", "category")


@dataclass(frozen=True)
class Layout:
    """Where things stand in a record."""

    form: LogForm
    head: bytes
    """what comes before the first record, and is published as it is: byte order mark and header"""
    begin: int
    """bytes of the stream before the first record"""
    lines: int
    """lines before the first record"""

    @property
    def is_json(self) -> bool:
        """Records are JSON objects, one per line."""
        return self.form.format == "jsonl"

    @property
    def has_category(self) -> bool:
        """There is a column of categories."""
        return any(c.role == "category" for c in self.form.columns)

    @property
    def roles(self) -> npt.NDArray[np.int32]:
        """int32[4]: position of user, query and category, -1 = none; number of fields."""
        of = {c.role: i for i, c in enumerate(self.form.columns)}
        return np.array([*(of.get(role, -1) for role in ROLES), len(self.form.columns)], dtype=np.int32)

    @property
    def names(self) -> list[bytes]:
        """Names of the columns of user, query and category; empty = none."""
        of = {c.role: c.name.encode() for c in self.form.columns}
        return [of.get(role, b"") for role in ROLES]

    def split(self, data: npt.NDArray[np.uint8], spans: npt.NDArray[np.int32], *, final: bool = False) -> int:
        """Find the records of the whole lines in data: see the kernels."""
        if self.is_json:
            keys = np.frombuffer(b"".join(self.names), dtype=np.uint8)
            ends = np.cumsum([len(n) for n in self.names]).astype(np.int32)
            return split_json(data, keys, ends, LONGEST_LINE, spans)
        header = self.head.removeprefix(BYTE_ORDER_MARK).rstrip(b"\r\n") if self.form.header else b""
        separator = ord("," if self.form.format == "csv" else "\t")
        return split_table(data, separator, self.roles, np.frombuffer(header, np.uint8), LONGEST_LINE, final, spans)

    def sees_as_we_do(self, line: bytes, found: list[bool]) -> bool:
        """Tell whether each of our keys stands in a line of JSON once at most, and has a value where we found one.

        `found` = of user, query and category. Who reads the line decodes its keys; we take them as they are written.
        """
        try:
            pairs = json.loads(line, object_pairs_hook=list)
        except ValueError:
            return False
        for name, ours in zip(self.names, found, strict=True):
            values = [value for key, value in pairs if name and key.encode(errors="replace") == name]
            if len(values) > 1 or (values and values[0] not in (None, "") and not ours):
                return False
        return True

    def plain(self, text: bytes) -> bytes:
        """Decode the escapes of a value that stands in quotes; ValueError where it is none."""
        if self.is_json:
            return str(json.loads(b'"' + text + b'"')).encode()
        return text.replace(b'""', b'"')

    def quoted(self, text: bytes) -> bytes:
        """Escape a value, to stand in quotes: the inverse of `plain`."""
        if self.is_json:
            return json.dumps(text.decode(), ensure_ascii=False).encode()[1:-1]
        return text.replace(b'"', b'""') if self.form.format == "csv" else text

    def published(self, text: bytes) -> bytes:
        """Return a value as a reader of the output sees it, from how it stands in quotes."""
        return self.plain(text) if self.is_json or self.form.format == "csv" else text

    def needs_quotes(self, text: bytes) -> bool:
        """Tell whether a value cannot stand without quotes."""
        if self.is_json:
            return not (text.isdigit() and (text == b"0" or not text.startswith(b"0")))
        return self.form.format == "csv" and any(c in text for c in b',"\r\n')


def find_layout(sample: bytes, source: Path, options: ReadOptions) -> Layout:
    """Recognise the form by the first lines of a stream, at least one of them whole."""
    name, columns = options.format, options.columns
    check_format(name)
    for magic, command in PACKED.items():
        if sample.startswith(magic):
            raise InputError.at(
                source, f"the stream is compressed; unpack it on the way: {command} FILE | querycloak …"
            )
    if sample.startswith(PARQUET_MAGIC) or name in {"parquet", "ubi"}:
        raise InputError.at(
            source, "a stream is read as AOL, TSV, CSV or JSON lines; use `querycloak anonymize` instead"
        )
    mark = BYTE_ORDER_MARK if sample.startswith(BYTE_ORDER_MARK) else b""
    body = sample[len(mark) :]
    whole = body[: body.rfind(b"\n") + 1] or body
    lines = [line for line in whole.split(b"\n") if line.strip() and len(line) <= LONGEST_LINE]
    try:
        text = b"".join(line.removesuffix(b"\r") + b"\n" for line in lines).decode().encode()
    except UnicodeDecodeError:
        text = b"".join(line.removesuffix(b"\r") + b"\n" for line in lines if _is_utf8(line))
    if not text:
        raise InputError.at(source, "the stream holds no line that can be read")
    kind = name or recognise_text(text, source)
    if kind == "jsonl":
        return Layout(_json_form(text, source, columns), mark, len(mark), 0)
    form = table_form(text, source, kind, options)
    form = replace(form, line_end="\r\n" if b"\r\n" in whole else "\n", bom=bool(mark))
    if not form.header:
        return Layout(form, mark, len(mark), 0)
    skipped = len(body) - len(body.lstrip(b"\r\n"))
    stop = body.find(b"\n", skipped) + 1 or len(body)
    head = body[skipped:stop].rstrip(b"\r\n")
    if len(head) > LONGEST_LINE:
        raise InputError.at(source, f"the line is longer than {LONGEST_LINE:,} bytes", body.count(b"\n", 0, stop))
    if form.format == "csv" and head.count(b'"') % 2:
        raise InputError.at(source, "the header has a line end in quotes; put it on one line", 1)
    return Layout(form, mark + head + form.line_end.encode(), len(mark) + stop, body.count(b"\n", 0, stop))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _json_form(text: bytes, source: Path, columns: Mapping[str, str] | None) -> LogForm:
    """Return the form of JSON lines, whose keys of the first good line are the columns."""
    names: list[str] = []
    spaces = False
    for line in text.split(b"\n"):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and not any(0xD800 <= ord(c) < 0xE000 for name in found for c in name):
            names = list(found)
            spaces = b'": ' in line
            break
    if not names:
        raise InputError.at(source, "the first lines hold no JSON object")
    given = assign(names, columns, source, surely_names=True)
    made = tuple(c if c.role else replace(c, kind="json") for c in given)
    return LogForm("jsonl", made, json_spaces=spaces)
