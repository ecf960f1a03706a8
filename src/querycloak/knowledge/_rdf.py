"""Blocks of whole lines of an Open Directory dump, with a count of what is malformed in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, Final

from querycloak.errors import InputError
from querycloak.logs.compression import open_binary
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Dump"]

_BLOCK: Final = 1 << 22
_LONGEST_LINE: Final = 1 << 26
_TAIL: Final = 200
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r"))
_BARE_AMPERSAND: Final = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
_REPLACEMENT: Final = "\ufffd"


class Dump:
    """Iterate to get the text, block by block; the counts are complete at the end."""

    def __init__(self, path: str | Path, progress: Progress = QUIET) -> None:
        self.path = path
        self.lines = 0
        self.bad_bytes = 0
        """sequences that are not UTF-8, read as U+FFFD"""
        self.controls = 0
        """control characters, which XML forbids; left out"""
        self.bare_ampersands = 0
        """ampersands that begin none of XML's entities; read as they are"""
        self._progress = progress

    def __iter__(self) -> Iterator[str]:
        self._progress.start(f"Reading {self.path}")
        rest = tail = b""
        with open_binary(self.path) as file:
            while data := self._read(file):
                if not tail and b"<RDF" not in data:
                    raise InputError.at(self.path, "expected an Open Directory dump, found no <RDF …> at its start")
                tail = (tail + data)[-_TAIL:]
                whole, newline, after = data.rpartition(b"\n")
                if newline:
                    yield self._text(rest + whole + newline)
                    rest = after
                else:
                    rest += after
                if len(rest) > _LONGEST_LINE:
                    raise InputError.at(self.path, "more than 64 MB without a line end", self.lines + 1)
        yield self._text(rest)
        if not tail.rstrip().endswith(b"</RDF>"):
            raise InputError.at(self.path, "the file is cut short: expected </RDF> at its end", self.lines + 1)
        self._tell()

    def _read(self, file: BinaryIO) -> bytes:
        try:
            return file.read(_BLOCK)
        except InputError as error:  # compressed data cut short or damaged
            raise InputError(f"{error} Lines up to {self.lines:,} could be read.") from None

    def _text(self, block: bytes) -> str:
        lines = block.count(b"\n")
        self.lines += lines
        self._progress.advance(lines)
        self.bare_ampersands += len(_BARE_AMPERSAND.findall(block))
        clean = block.translate(None, _CONTROLS)
        self.controls += len(block) - len(clean)
        try:
            return clean.decode("utf-8")
        except UnicodeDecodeError:
            text = clean.decode("utf-8", "replace")
            self.bad_bytes += text.count(_REPLACEMENT) - clean.count(_REPLACEMENT.encode())
            return text

    def _tell(self) -> None:
        if self.bad_bytes or self.controls or self.bare_ampersands:
            self._progress.note(
                f"{self.path}: {self.bad_bytes:,} sequences of bytes that are not UTF-8, {self.controls:,} control "
                f"characters and {self.bare_ampersands:,} bare ampersands in {self.lines:,} lines were tolerated."
            )
