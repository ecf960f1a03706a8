"""A file that is uploaded: read piece by piece, never whole, and never written but where the desk puts it.

Starlette's own forms would write it into the system's temporary folder first.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.requests import Request

__all__ = ["Upload", "read_form"]

FORM_BYTES = 256 * 1024
"""A form without a file is smaller than this."""
FORM_FIELDS = 500
NO_FILE = "No file came with the form: choose one, then press Upload."


async def read_form(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a form without files."""
    from urllib.parse import parse_qsl

    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_BYTES:
            raise UserError("This form is too large to be one of the studio's.")
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FORM_FIELDS)
    except ValueError:
        raise UserError("This form could not be read.") from None


class Upload:
    """The first file of a form."""

    def __init__(self, request: Request) -> None:
        from python_multipart.exceptions import FormParserError
        from python_multipart.multipart import MultipartParser, parse_options_header

        kind, options = parse_options_header(request.headers.get("content-type"))
        if kind != b"multipart/form-data" or b"boundary" not in options:
            raise UserError(NO_FILE)
        self.name: str | None = None
        """what the browser calls it: anything at all"""
        self._stream = _bytes(request.stream())
        self._pieces: deque[bytes] = deque()
        self._field, self._value = b"", b""
        self._in_file = self._ended = False
        try:
            self._parser = MultipartParser(
                options[b"boundary"],
                {
                    "on_header_field": self._on_field,
                    "on_header_value": self._on_value,
                    "on_header_end": self._on_header,
                    "on_part_data": self._on_data,
                    "on_part_end": self._on_end,
                },
            )
        except FormParserError:
            raise UserError(NO_FILE) from None

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        from python_multipart.multipart import parse_options_header

        if self._field.lower() == b"content-disposition" and self.name is None:
            name = parse_options_header(self._value)[1].get(b"filename")
            if name:
                self.name, self._in_file = name.decode("utf-8", "replace"), True
        self._field = self._value = b""

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._pieces.append(data[start:end])

    def _on_end(self) -> None:
        self._in_file = False

    async def read_name(self) -> str:
        """Read until the file begins, and return its name."""
        while self.name is None and await self._feed():
            pass
        if self.name is None:
            raise UserError(NO_FILE)
        return self.name

    async def next(self) -> bytes:
        """Return the next bytes of the file; none at its end."""
        while not self._pieces and await self._feed():
            pass
        return self._pieces.popleft() if self._pieces else b""

    def chunks(self) -> Iterator[bytes]:
        """Return the bytes of the file, to a function that runs in a thread of the server's pool."""
        from anyio import from_thread

        while piece := from_thread.run(self.next):
            yield piece

    async def drain(self) -> None:
        """Read what is left and forget it: a browser shows our answer only when it could send everything."""
        self._pieces.clear()
        while await self._feed():
            self._pieces.clear()

    async def _feed(self) -> bool:
        """Read on; False at the end of the request."""
        from python_multipart.exceptions import FormParserError

        chunk = await anext(self._stream, b"") if not self._ended else b""
        if not chunk:
            if self._in_file:
                raise UserError("The upload ended before the file did: nothing was kept.")
            self._ended = True
            return False
        try:
            self._parser.write(chunk)
        except FormParserError:
            raise UserError("The upload could not be read: its parts are not where they should be.") from None
        return True


async def _bytes(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Leave out the empty piece at the end."""
    async for chunk in stream:
        if chunk:
            yield chunk
