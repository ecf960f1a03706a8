"""Text in blocks of whole lines: valid UTF-8, without NUL, with what had to be fixed counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["BLOCK", "TextBlocks"]

BLOCK: Final = 1 << 24
"""Bytes read at once: large enough for speed, small next to the log that is built."""
LONGEST_LINE: Final = 1 << 26
BOM: Final = b"\xef\xbb\xbf"
REPLACEMENT: Final = "\ufffd".encode()

NOT_UTF8: Final = "characters that are not UTF-8, replaced"
NUL: Final = "NUL bytes, replaced"


class TextBlocks:
    """The lines of a stream, block by block, and the traits of the text that a writer must repeat."""

    def __init__(self, stream: Any, path: Path, problems: Counter[str]) -> None:
        self._stream = stream
        self._path = path
        self._problems = problems
        first = self._read()
        self.bom = first.startswith(BOM)
        self._rest = first[len(BOM) :] if self.bom else first
        self.empty = not first
        self.line_end: Literal["\n", "\r\n", "\r"] = _line_end(self._rest)
        if self.line_end == "\r":
            self._rest = self._rest.replace(b"\r", b"\n")
        self.last_line_end = True
        _refuse_binary(self._rest, path)

    def sample(self, size: int = 1 << 16) -> bytes:
        """Return the first bytes, fixed but not counted and not consumed, without a line that is cut."""
        start = self._rest[: max(size, self._rest.find(b"\n") + 1)]
        if len(self._rest) > len(start):
            start = start[: start.rfind(b"\n") + 1] or self._rest
        return start.replace(b"\r\n", b"\n").replace(b"\0", REPLACEMENT).decode("utf-8", "replace").encode()

    def blocks(self, *, quoted: bool = False) -> Iterator[tuple[int, bytes]]:
        """Return (number of the first line, block); each block ends with a line end.

        With `quoted`, a line end inside a quoted field (CSV) is not the end of a line.
        """
        line = 1
        rest, self._rest = self._rest, b""
        while True:
            more = self._read()
            cut = _last_line_end(rest, quoted=quoted) + 1 if more else len(rest)
            whole = rest[:cut]
            if more and not cut and len(rest) > LONGEST_LINE:
                problem = "a line of more than 64 MB; it is not a query log, or a quote in it is not closed"
                raise InputError.at(self._path, problem, line)
            if whole:
                if not more and not whole.endswith(b"\n"):
                    self.last_line_end = False
                    whole += b"\n"
                yield line, self._mend(whole)
                line += int(np.count_nonzero(np.frombuffer(whole, dtype=np.uint8) == ord("\n")))
            if not more:
                return
            rest = rest[cut:] + more

    def _read(self) -> bytes:
        data: bytes = self._stream.read(BLOCK)
        return data.replace(b"\r", b"\n") if getattr(self, "line_end", "\n") == "\r" else data

    def _mend(self, block: bytes) -> bytes:
        if b"\0" in block:
            self._problems[NUL] += block.count(b"\0")
            block = block.replace(b"\0", REPLACEMENT)
        try:
            block.decode()
        except UnicodeDecodeError:
            mended = block.decode("utf-8", "replace").encode()
            self._problems[NOT_UTF8] += mended.count(REPLACEMENT) - block.count(REPLACEMENT)
            return mended
        return block


def _line_end(text: bytes) -> Literal["\n", "\r\n", "\r"]:
    """Tell by the first line end; a carriage return alone counts only where no line feed is in sight."""
    at = text.find(b"\n")
    if at > 0 and text[at - 1 : at] == b"\r":
        return "\r\n"
    return "\r" if at < 0 and b"\r" in text.rstrip(b"\r\n") else "\n"


def _last_line_end(text: bytes, *, quoted: bool) -> int:
    """Find the last line end, -1 = none; with `quoted`, the last with an even number of quotes before it."""
    at = text.rfind(b"\n")
    if quoted and at >= 0:
        inside = text.count(b'"', 0, at) % 2
        while at >= 0 and inside:
            before = text.rfind(b"\n", 0, at)
            inside = (inside + text.count(b'"', max(before, 0), at)) % 2
            at = before
    return at


def _refuse_binary(text: bytes, path: Path) -> None:
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError.at(path, "the text is UTF-16; save it as UTF-8")
    start = text[:8192]
    if b"\0" in start:
        raise InputError.at(path, "a binary file, not a query log")
    decoded = start.decode("utf-8", "replace")
    if decoded.count("\ufffd") * 10 > len(decoded) * 3:
        raise InputError.at(path, "a binary file, not a query log in UTF-8")
