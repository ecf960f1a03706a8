"""The web application of the studio: routes, what guards them, and errors as pages of one sentence."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from importlib.resources import files
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route

from querycloak.errors import CheckFailedError, UnknownNameError, UserError
from querycloak.studio import log_routes, run_routes
from querycloak.studio.context import studio_of
from querycloak.studio.pages import refusal_page, render
from querycloak.studio.security import Guard
from querycloak.studio.uploads import UploadTooLargeError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from querycloak.studio.context import Studio

__all__ = ["make_app"]

STATIC: Final = {
    "studio.css": "text/css",
    "studio.js": "text/javascript",
    "frontier.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
FAULT: Final = "Something in QueryCloak is broken; the terminal says where. Your log and what was done so far are safe."


def make_app(studio: Studio) -> Starlette:
    """Return the application. Whoever serves it must serve it on 127.0.0.1, at the port of the keys."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        studio.vega.start()
        yield
        await studio.vega.stop()

    routes = [
        *log_routes.ROUTES,
        *run_routes.ROUTES,
        Route("/static/vega.js", _vega),
        Route("/static/{name}", _static),
    ]
    app = Starlette(
        routes=[Mount(studio.keys.room, routes=routes)],
        middleware=[Middleware(Guard, keys=studio.keys, refusal=refusal_page), Middleware(_Faults)],
        exception_handlers={HTTPException: _http_error, UserError: _user_error, CheckFailedError: _user_error},
        lifespan=lifespan,
    )
    app.state.studio = studio
    return app


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    body = files("querycloak.studio").joinpath("static", name).read_bytes()
    return Response(body, media_type=STATIC[name], headers={"Cache-Control": "private, max-age=3600"})


async def _vega(request: Request) -> Response:
    path = studio_of(request).vega.path()
    if path is None:
        return Response(media_type="text/javascript")  # `frontier.js` asks again
    return FileResponse(path, media_type="text/javascript", headers={"Cache-Control": "private, max-age=86400"})


async def _user_error(request: Request, error: Exception) -> Response:
    code = 413 if isinstance(error, UploadTooLargeError) else 404 if isinstance(error, UnknownNameError) else 400
    return _error_page(request, str(error), code)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is no such page in the studio.", 405: "This address cannot be used in this way."}
    return _error_page(request, words.get(error.status_code, str(error.detail)), error.status_code)


def _error_page(request: Request, sentence: str, code: int) -> Response:
    return HTMLResponse(render("error.html.j2", root=studio_of(request).keys.room, sentence_=sentence, code=code), code)


class _Faults:
    """Turns a fault of ours into a page; the terminal learns where it is, and nothing that the error says.

    The message of an unforeseen error may quote a query, and a server would print it with its traceback.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noting(message: Any) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            return
        except Exception as error:
            print(f"querycloak studio: {_where(error)}", file=sys.stderr)
            if not begun:
                root = scope["app"].state.studio.keys.room
                page = render("error.html.j2", root=root, sentence_=FAULT, code=500)
                await HTMLResponse(page, 500)(scope, receive, send)


def _where(error: Exception) -> str:
    """Return the kind of an error and the lines of QueryCloak that it came through."""
    ours = [frame for frame in extract_tb(error.__traceback__) if "/querycloak/" in frame.filename]
    lines = [f"{frame.filename.rpartition('querycloak/')[2]}:{frame.lineno}" for frame in ours]
    return f"{type(error).__name__} at {' < '.join(reversed(lines[-4:])) or 'an unknown line'}"
