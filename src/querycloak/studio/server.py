"""Serves the studio on 127.0.0.1, to the person who started it."""

from __future__ import annotations

import asyncio
import os
import socket
import webbrowser
from contextlib import closing, suppress
from html import escape
from typing import TYPE_CHECKING, Final

from querycloak.errors import UserError
from querycloak.live.pipes import stopping
from querycloak.studio.app import make_app
from querycloak.studio.context import Studio
from querycloak.studio.desk import Desk
from querycloak.studio.forms import method_families
from querycloak.studio.pages import warm_up
from querycloak.studio.security import HOST, Keys
from querycloak.studio.vega import VegaFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from uvicorn import Server

__all__ = ["listen", "make_server", "serve"]

OPENER: Final = "open.html"
TICK: Final = 0.1
"""Seconds after which the server looks whether it was asked to stop."""


def listen(port: int) -> socket.socket:
    """Take a port of this machine that nobody else can reach from outside; 0 = any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # whoever comes before the server is ready waits, and is not refused
    except (OSError, OverflowError) as error:
        listener.close()
        raise UserError(
            f"Port {port} cannot be used: {getattr(error, 'strerror', '') or error}. Leave --port out for a free one."
        ) from None
    return listener


def make_server(studio: Studio) -> Server:
    """Return a server that prints no requests: their paths name logs, and nothing may name more."""
    from uvicorn import Config, Server

    return Server(
        Config(
            make_app(studio),
            access_log=False,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=2,
        )
    )


def serve(
    folder: Path, work: Path, *, port: int, max_upload: int, browser: bool, tell: Callable[[str], object]
) -> None:
    """Serve until a signal asks to stop; `tell` is told the first address."""
    with stopping() as asked, closing(listen(port)) as listener, Desk(folder, work) as desk:
        keys = Keys(listener.getsockname()[1])
        desk.warm_up()
        method_families()  # a second of imports, which the first page should not wait for
        warm_up()
        studio = Studio(desk, keys, VegaFile(work), str(folder), max_upload)
        tell(keys.address)
        try:
            if browser:
                _open_browser(work / OPENER, keys.address)
            asyncio.run(_run(make_server(studio), listener, asked))
        finally:
            (work / OPENER).unlink(missing_ok=True)


async def _run(server: Server, listener: socket.socket, asked: list[int]) -> None:
    """Run the server until a signal asks to stop; it is not raised again afterwards, as uvicorn would."""
    serving = asyncio.create_task(server._serve(sockets=[listener]))  # noqa: SLF001 - `serve` takes signals itself
    while not serving.done():
        server.should_exit = server.should_exit or bool(asked)
        await asyncio.wait([serving], timeout=TICK)
    await serving


def _open_browser(opener: Path, address: str) -> None:
    """Open the first address by way of a file that only its owner can read.

    Arguments of a browser's process can be read by everybody on the machine, and the address holds the token.
    """
    with suppress(OSError):
        opener.unlink(missing_ok=True)
        with os.fdopen(os.open(opener, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(
                f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}"><title>QueryCloak</title>'
            )
        with suppress(webbrowser.Error):
            webbrowser.open(opener.resolve().as_uri())
