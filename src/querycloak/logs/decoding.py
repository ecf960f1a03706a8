"""From the bytes of a file to lines of UTF-8, and back: encodings, old line ends, and JSON arrays.

Everything after this stage sees UTF-8 whose lines end with LF or CRLF, one record per line (or per quoted field of
several lines). What is written goes the same way back, so that it has the encoding of what was read. Plain UTF-8 passes
untouched.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from querycloak.errors import InputError, OutputError
from querycloak.logs._values_kernels import unwrap_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.logs.form import Encoding, LogForm

__all__ = ["Decoder", "Encoder", "Wrapping", "encoded", "find_wrapping"]

MARKS: Final[dict[Encoding, bytes]] = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
NAMES: Final[dict[Encoding, str]] = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "latin-1": "Latin-1",
}
JSON_FORMATS: Final = (None, "json", "jsonl", "ubi")
SAMPLE: Final = 8192
"""bytes by which a file is seen to be no text"""


@dataclass(frozen=True)
class Wrapping:
    """How lines of UTF-8 are wrapped in a file."""

    encoding: Encoding = "utf-8"
    mark: bool = False
    """the file begins with a byte order mark"""
    line_end: Literal["\n", "\r\n", "\r"] = "\n"
    array: bool = False
    """the records are the elements of one JSON array"""

    @classmethod
    def of(cls, form: LogForm) -> Wrapping:
        """Return the wrapping that a form describes."""
        return cls(form.encoding, form.bom, form.line_end, form.is_array)

    @property
    def name(self) -> str:
        """Name of the encoding, for messages."""
        return NAMES[self.encoding]


def find_wrapping(first: bytes, source: object, encoding: str = "auto", name: str | None = None) -> Wrapping:
    """Recognise the wrapping by the first bytes of a file, at least one line of it; `name` is the format, if given."""
    found: Encoding = "utf-8"
    if encoding == "latin-1":
        found = "latin-1"
    elif encoding in {"auto", "utf-16"} and first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        found = "utf-16-le" if first.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    elif encoding == "utf-16":
        found = "utf-16-le"  # as Windows writes it
    mark = found in MARKS and first.startswith(MARKS[found])
    text = Decoder(Wrapping(found, mark)).decode(first)
    _refuse_binary(text, source, found)
    start = text.lstrip()
    array = name in JSON_FORMATS and start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"]", b"")
    return Wrapping(found, mark, "\n" if array else _line_end(text), array)


def _line_end(text: bytes) -> Literal["\n", "\r\n", "\r"]:
    """Tell by the first line end; a carriage return alone counts only where no line feed is in sight."""
    at = text.find(b"\n")
    if at > 0 and text[at - 1 : at] == b"\r":
        return "\r\n"
    return "\r" if at < 0 and b"\r" in text.rstrip(b"\r\n") else "\n"


def _refuse_binary(text: bytes, source: object, encoding: Encoding) -> None:
    start = text[:SAMPLE]
    decoded = start.decode("utf-8", "replace")
    if start.count(b"\0") * 10 > len(start) or decoded.count("\ufffd") * 10 > len(decoded) * 3:
        hint = "" if encoding != "utf-8" else "; where it is text, name its encoding: --encoding utf-16 or latin-1"
        raise InputError.at(source, f"a binary file, not a query log in {NAMES[encoding]}{hint}")


class Decoder:
    """Turns the bytes of a source, in pieces of any size, into lines of UTF-8.

    What is not valid in the encoding becomes something that is not valid UTF-8 either, so that one check of the lines
    finds it.
    """

    def __init__(self, wrapping: Wrapping, state: Sequence[int] | None = None) -> None:
        """`state` = that of a checkpoint, where the source is read from the begin of a later line on."""
        self.wrapping = wrapping
        self._mark = b"" if state is not None or not wrapping.mark else MARKS[wrapping.encoding]
        self._utf16: Any = None
        if wrapping.encoding.startswith("utf-16"):
            self._utf16 = codecs.getincrementaldecoder(wrapping.encoding)("surrogatepass")
        self._array = np.zeros(4, dtype=np.int64)  # depth, inside a string, closed, after a comma: see the kernel
        if state is not None:
            self._array[:] = state

    def state(self, *, inside: bool, begun: bool) -> list[int]:
        """Return what a checkpoint keeps: where the text is in its JSON array.

        `inside` = all that was decoded is done with; else what comes next is the begin of a line, the first or not.
        """
        if self._array[2]:
            return [0, 0, 1, 0]
        return [int(n) for n in self._array] if inside else [int(begun), 0, 0, int(begun)]

    def decode(self, data: bytes, *, final: bool = False) -> bytes:
        """Return the text of some bytes; after the final ones nothing comes."""
        data, self._mark = data.removeprefix(self._mark), b""
        if self.wrapping.encoding == "latin-1":
            data = data.decode("latin-1").encode()
        elif self._utf16 is not None:
            data = self._from_utf16(data, final=final)
        if self.wrapping.line_end == "\r":
            data = data.replace(b"\r", b"\n")
        return self._unwrapped(data, final=final) if self.wrapping.array else data

    def raw_size(self, rest: bytes) -> int:
        """Return how many bytes of the source are behind some text at the end of what was decoded."""
        if self.wrapping.encoding == "latin-1":
            return len(rest.decode(errors="surrogatepass"))
        if self._utf16 is not None:
            units = rest.decode(errors="surrogatepass").encode("utf-16-le", "surrogatepass")
            return len(units) + len(self._utf16.getstate()[0])
        return len(rest)

    def _from_utf16(self, data: bytes, *, final: bool) -> bytes:
        text: str = self._utf16.decode(data)
        cut = final and self._utf16.getstate()[0]  # half a character at the very end
        return text.encode(errors="surrogatepass") + (b"\xff" if cut else b"")

    def _unwrapped(self, data: bytes, *, final: bool) -> bytes:
        was_closed = bool(self._array[2])
        array = np.frombuffer(bytearray(data), dtype=np.uint8)
        end = unwrap_array(array, self._array)
        text = array.tobytes()
        if self._array[2]:  # only white space may follow the closing bracket
            after = 0 if was_closed else end
            return text[:after] + text[after:].strip()
        # An array that is cut short between two elements must not pass for a whole one: a bracket alone is no record.
        if final and self._array[0] == 1:
            return text + (b"[" if self._array[3] else b"\n[")
        return text


class Encoder:
    """The way back, for a stream: lines of UTF-8 become what is written."""

    def __init__(self, wrapping: Wrapping, *, begun: bool = False) -> None:
        self._wrapping = wrapping
        self._begun = begun  # a record was written
        self._plain = wrapping.encoding == "utf-8" and wrapping.line_end != "\r" and not wrapping.array

    def head(self, header: bytes) -> bytes:
        """Return what comes before all records: the byte order mark, and the header of a table."""
        mark = MARKS[self._wrapping.encoding] if self._wrapping.mark else b""
        return mark + self._coded(b"[\n" if self._wrapping.array else header)

    def lines(self, data: bytes | memoryview) -> bytes | memoryview:
        """Return whole lines as they are written."""
        if self._plain or not len(data):
            return data
        text = bytes(data)
        if self._wrapping.array:
            text = (b",\n" if self._begun else b"") + text.rstrip(b"\n").replace(b"\n", b",\n")
            self._begun = True
        return self._coded(text)

    def tail(self) -> bytes:
        """Return what comes after all records."""
        return self._coded(b"\n]\n") if self._wrapping.array else b""

    def _coded(self, text: bytes) -> bytes:
        if self._wrapping.line_end == "\r":
            text = text.replace(b"\n", b"\r")
        return encoded(text, self._wrapping.encoding, "the output")


def encoded(text: bytes, encoding: Encoding, path: object) -> bytes:
    """Return UTF-8 text in an encoding."""
    if encoding == "utf-8":
        return text
    try:
        return text.decode().encode(encoding)
    except UnicodeEncodeError:
        problem = "a character has no place in Latin-1; write UTF-8 instead"
        raise OutputError(f"{path}: {problem}.") from None
