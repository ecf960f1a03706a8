"""How records are written in a source: the form found in its first lines, and how values are written in it.

Batch and live share this: what one can read the other can read, and both see the same columns.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from querycloak.errors import InputError
from querycloak.logs.decoding import Wrapping
from querycloak.logs.form import Column, LogForm, Role
from querycloak.logs.formats.jsonlines import columns_of, json_roles, names_all
from querycloak.logs.formats.table import SEPARATED, separator_of
from querycloak.logs.formulas import unescaped
from querycloak.logs.problems import LONGEST_LINE, Problems
from querycloak.logs.recognise import PARQUET_MAGIC, check_format, recognise_text, table_form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.logs.read_options import ReadOptions

__all__ = ["ESCAPE", "JSON_FORMATS", "Layout", "find_layout", "known_layout", "refuse_packed", "sample_lines"]

JSON_FORMATS: Final = frozenset({"json", "jsonl", "ubi"})
PACKED: Final = {b"\x1f\x8b": "gzip -dc", b"\x28\xb5\x2f\xfd": "zstd -dc"}
SAMPLE: Final = 1 << 16
"""bytes by which the form is recognised"""
ESCAPE: Final = re.compile(rb"\\u(?!00[0-7])[0-9a-fA-F]{4}")
"""a character outside ASCII, written as an escape in JSON"""
_SPACE: Final = re.compile(rb'\{"(?:[^"\\]|\\.)*": ')


@dataclass(frozen=True)
class Layout:
    """How records are written, in the text that the decoder returns."""

    form: LogForm
    head: bytes
    """the header of a table with its line end, which is published as it is; b'' = none"""
    begin: int
    """bytes of the text before the first record"""
    lines: int
    """lines before the first record"""

    @property
    def is_json(self) -> bool:
        """Records are JSON objects."""
        return self.form.format in JSON_FORMATS

    @property
    def is_csv(self) -> bool:
        """Fields may be between quotes."""
        return self.form.format == "csv"

    @property
    def has_category(self) -> bool:
        """There is a column of categories."""
        return any(c.role == "category" for c in self.form.columns)

    @property
    def has_user(self) -> bool:
        """There is a column of users; a release of counts has none."""
        return any(c.role == "user" for c in self.form.columns)

    @property
    def line_end(self) -> bytes:
        """How lines of the text end."""
        return b"\r\n" if self.form.line_end == "\r\n" else b"\n"

    def role(self, name: Role) -> Column | None:
        """Return the column of a role."""
        return next((c for c in self.form.columns if c.role == name), None)

    def problems(self, source: object, *, stop: bool) -> Problems:
        """Return the counters for records of this layout."""
        return Problems(
            source,
            stop=stop,
            fields=len(self.form.columns),
            separated=SEPARATED[separator_of(self.form)],
            encoding=Wrapping.of(self.form).name,
            unit="object" if self.form.is_array else "line",
            is_json=self.is_json,
        )

    def plain(self, texts: list[bytes]) -> list[bytes | None]:
        """Decode values that are written with escapes, each with its opening quote; None where one means nothing.

        A value without that quote is what it is.
        """
        if self.is_csv:
            return [text[1:].replace(b'""', b'"') if text[:1] == b'"' else text for text in texts]
        if not self.is_json:
            return list(texts)
        whole = [(text if text[:1] == b'"' else b'"' + text) + b'"' for text in texts]
        try:
            found = msgspec.json.decode(b"[" + b",".join(whole) + b"]", type=list[str])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return [_json_text(text) for text in whole]
        return [text.encode() for text in found]

    def quoted(self, text: bytes) -> bytes:
        """Return a value as it is written between quotes: the inverse of `plain`, without the quote."""
        if self.is_json:
            return json.dumps(text.decode(), ensure_ascii=self.form.json_ascii).encode()[1:-1]
        return text.replace(b'"', b'""') if self.is_csv else text

    def published(self, text: bytes) -> bytes:
        """Return a value as a reader of the output sees it, from how it is written between quotes."""
        if not (self.is_json or self.is_csv):
            return text
        (found,) = self.plain([b'"' + text])
        return found or b""

    def needs_quotes(self, text: bytes) -> bool:
        """Tell whether a value cannot be written without quotes."""
        if self.is_json:
            return not (text.isdigit() and (text == b"0" or not text.startswith(b"0")))
        return self.is_csv and any(c in text for c in b'"\r\n' + self.form.separator.encode())


def refuse_packed(first: bytes, source: object, name: str | None) -> None:
    """Refuse what a stream cannot be read from: it is changed where it is, and not unpacked."""
    for magic, command in PACKED.items():
        if first.startswith(magic):
            raise InputError.at(
                source, f"the stream is compressed; unpack it on the way: {command} FILE | querycloak …"
            )
    if first.startswith(PARQUET_MAGIC) or name == "parquet":
        raise InputError.at(source, "a stream is read as text or JSON; for Parquet use `querycloak anonymize`")


def find_layout(text: bytes, source: object, options: ReadOptions, wrapping: Wrapping) -> Layout:
    """Recognise the form by the first lines of a source, decoded, at least one of them whole."""
    check_format(options.format)
    columns = dict(options.columns) or None
    sample = sample_lines(text)
    if not sample:
        if len(text) > LONGEST_LINE and b"\n" not in text[: LONGEST_LINE + 1]:
            raise InputError.at(source, f"a line of more than {LONGEST_LINE:,} bytes; it is not a query log", 1)
        raise InputError.at(source, "there is no line that can be read; it is not a query log, or in another encoding")
    kind = "jsonl" if wrapping.array else options.format or recognise_text(sample, source)  # type: ignore[arg-type]
    if options.unescape and kind != "csv":
        raise InputError.at(source, f"only CSV has apostrophes to take away (--unescape), and this is {kind}")
    if kind in JSON_FORMATS or (wrapping.array and options.format == "ubi"):
        form = _json_form(sample, source, columns, options.format)
        return Layout(_wrapped(form, wrapping), b"", 0, 0)
    form = _wrapped(table_form(sample, source, kind, options), wrapping)  # type: ignore[arg-type]
    if options.unescape:
        form = _unescaped(form)
    return _table_layout(form, text, source)


def _unescaped(form: LogForm) -> LogForm:
    """Return the form of CSV that was written for spreadsheets."""
    names = [unescaped(c.name) for c in form.columns]
    if len(set(names)) < len(names):
        return replace(form, safe_csv=True)
    columns = tuple(replace(c, name=name) for c, name in zip(form.columns, names, strict=True))
    return replace(form, columns=columns, safe_csv=True)


def known_layout(form: LogForm, text: bytes, source: object) -> Layout:
    """Return the layout of a source whose form is known, such as a release with its statement."""
    if form.format in JSON_FORMATS:
        return Layout(form, b"", 0, 0)
    return _table_layout(form, text, source)


def _table_layout(form: LogForm, text: bytes, source: object) -> Layout:
    if not form.header:
        return Layout(form, b"", 0, 0)
    skipped = len(text) - len(text.lstrip(b"\r\n"))
    stop = text.find(b"\n", skipped) + 1 or len(text)
    head = text[skipped:stop].rstrip(b"\r\n")
    number = text.count(b"\n", 0, stop)
    if len(head) > LONGEST_LINE:
        raise InputError.at(source, f"a line of more than {LONGEST_LINE:,} bytes", number)
    if form.format == "csv" and head.count(b'"') % 2:
        raise InputError.at(source, "the header has a line end in quotes; put it on one line", number)
    layout = Layout(form, head, stop, number)
    return replace(layout, head=head + layout.line_end)


def _wrapped(form: LogForm, wrapping: Wrapping) -> LogForm:
    form = replace(form, encoding=wrapping.encoding, bom=wrapping.mark, line_end=wrapping.line_end)
    if form.format in {"json", "jsonl"}:
        form = replace(form, format="json" if wrapping.array else "jsonl")
    return replace(form, json_array=wrapping.array)


def sample_lines(text: bytes) -> bytes:
    """Return the first lines of a source, decoded, by which its form is recognised; empty where none can be read."""
    return _sound_lines(_sample(text)) or _sound_lines(text)


def _sample(text: bytes) -> bytes:
    """Return the first lines, whole; the first line alone where it is long."""
    end = text.rfind(b"\n", 0, SAMPLE) + 1 or text.find(b"\n") + 1
    return text[:end] or text


def _sound_lines(text: bytes) -> bytes:
    """Return the lines by which a form can be recognised: not blank, not too long, valid UTF-8, and ended with LF."""
    lines = [line for line in text.split(b"\n") if line.strip() and len(line) <= LONGEST_LINE and b"\0" not in line]
    joined = b"".join(line.removesuffix(b"\r") + b"\n" for line in lines)
    try:
        joined.decode()
    except UnicodeDecodeError:
        return b"".join(line.removesuffix(b"\r") + b"\n" for line in lines if _is_utf8(line))
    return joined


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _json_form(sample: bytes, source: object, columns: Mapping[str, str] | None, name: str | None) -> LogForm:
    kind, roles = json_roles(sample, source, columns, name)
    spaces = _SPACE.match(sample.lstrip()) is not None
    found = () if columns is not None and names_all(columns) else tuple(roles.values())
    escapes = sample.isascii() and ESCAPE.search(sample) is not None
    return LogForm(kind, columns_of(sample, roles), json_spaces=spaces, json_ascii=escapes, found=found)


def _json_text(text: bytes) -> bytes | None:
    try:
        return msgspec.json.decode(text, type=str).encode()
    except (msgspec.DecodeError, UnicodeError):
        return None
