"""The door: a small HTTP server in its own thread that answers `/metrics` and `/health`, and nothing else.

It never makes the run wait: it reads from the board what is there. It answers GET and HEAD, a few requests at a time,
each for a few seconds at most. It listens on this machine alone unless another host is named; there it answers only
requests whose Host header names this machine, so that a page in a browser cannot read it through a name of its own
(DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import re
import threading
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from querycloak.errors import OutputError, ParameterError
from querycloak.live.watch.exposition import CONTENT_TYPE, exposition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.live.watch.exposition import Metric

__all__ = ["Door", "DoorAddress", "Shown", "check_door", "opened_door", "read_door_address"]

LOOPBACK: Final = "127.0.0.1"
AT_ONCE: Final = 8
"""Requests that are answered at the same time; more are turned away."""
SECONDS: Final = 5.0
"""A request that takes so long is cut off, however busy its client looks."""
_ADDRESS: Final = re.compile(r"(?:(?P<host>[^\s/@\[\]:]+|\[[0-9a-fA-F:.]+\]):)?(?P<port>[0-9]{1,5})")


class Shown(Protocol):
    """What the door shows: the board of a stream, or of a survey."""

    def metrics(self) -> list[Metric]:
        """Return all metrics."""

    def health(self) -> Any:
        """Return a dataclass with `ready`."""


@dataclass(frozen=True)
class DoorAddress:
    """Where the door is."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_door_address(text: str) -> DoorAddress:
    """Read PORT or HOST:PORT; port 0 takes a free one.

    >>> str(read_door_address("9464")), read_door_address("0.0.0.0:9464").is_loopback
    ('127.0.0.1:9464', False)
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise ParameterError.of("--metrics", "PORT or HOST:PORT, as in 9464 or 127.0.0.1:9464", text)
    host = (found["host"] or LOOPBACK).strip("[]")
    return DoorAddress(host, int(found["port"]))


class Door:
    """An open door: its address, and what closes it."""

    def __init__(self, address: DoorAddress, shown: Shown) -> None:
        """Listen; OutputError where that is not possible."""
        self._server = _server(address, shown)
        self.address = DoorAddress(address.host, int(self._server.server_address[1]))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def check_door(address: DoorAddress) -> None:
    """Refuse an address where nobody can listen now; OutputError."""
    _server(address, None).server_close()


@contextmanager
def opened_door(address: DoorAddress | None, shown: Shown) -> Iterator[Door | None]:
    """Keep the door open for a while; None = there is none."""
    if address is None:
        yield None
        return
    door = Door(address, shown)
    try:
        yield door
    finally:
        door.close()


def _server(address: DoorAddress, shown: Shown | None) -> Any:
    """Make the server, which listens at once; without anything to show it is not asked."""
    import json
    import socket
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        timeout = SECONDS

        def version_string(self) -> str:
            return "querycloak"

        def do_GET(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def _answer(self) -> None:
            assert shown is not None
            if address.is_loopback and not _names_loopback(self.headers.get("Host")):
                self._send(403, "text/plain; charset=utf-8", "This is for this machine: 127.0.0.1 or localhost.\n")
            elif self.path == "/metrics":
                self._send(200, CONTENT_TYPE, exposition(shown.metrics()))
            elif self.path == "/health":
                health = shown.health()
                assert is_dataclass(health)
                told = asdict(health)  # type: ignore[arg-type]
                self._send(200 if told["ready"] else 503, "application/json", json.dumps(told) + "\n")
            else:
                self._send(404, "text/plain; charset=utf-8", "There are /metrics and /health.\n")

        def _send(self, status: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store"}
            for name, value in {**headers, "X-Content-Type-Options": "nosniff"}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass  # nobody's requests are noted

    class Server(ThreadingHTTPServer):
        daemon_threads, block_on_close = True, False
        address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET

        def __init__(self) -> None:
            self._free = threading.BoundedSemaphore(AT_ONCE)
            super().__init__((address.host, address.port), Handler)

        def server_bind(self) -> None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(self.server_address)
            self.server_address = self.socket.getsockname()
            self.server_name, self.server_port = address.host, int(self.server_address[1])

        def process_request(self, request: Any, client_address: Any) -> None:
            if self._free.acquire(blocking=False):
                super().process_request(request, client_address)
            else:
                self.shutdown_request(request)

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            limit = threading.Timer(SECONDS, _cut_off, (request,))
            limit.daemon = True
            limit.start()
            try:
                super().process_request_thread(request, client_address)
            finally:
                limit.cancel()
                self._free.release()

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that went away

    try:
        return Server()
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "no such host"
        raise OutputError(f"--metrics: cannot listen on {address} ({why}).") from None


def _cut_off(request: Any) -> None:
    """End a connection, whatever either side is about to say: who reads from it or writes to it goes on at once."""
    with suppress(OSError):
        request.shutdown(2)  # both ways


def _names_loopback(host: str | None) -> bool:
    """Tell whether a Host header names this machine."""
    name = re.sub(r":\d+$", "", host or "")
    if name == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    return False
