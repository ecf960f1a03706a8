"""Who may talk to the studio: one person, with one browser, on this machine (docs/studio.md, ADR 142).

Every request passes five questions before a page sees it. Is it sent to the name that we listen on (Host)? Is it below
the room, the path that was drawn at the start? Does it carry the cookie that the token of the first address was
exchanged for? Does it come from one of our own pages (Sec-Fetch-Site)? And, where it changes something, is it a POST
whose Origin is ours? Whoever fails gets one sentence, and the same one, whatever there is at the path.

The cookie is bound to the room, since browsers send cookies of 127.0.0.1 to every port of it: without the path, the
server of another user of this machine would be sent our cookie by whoever opens its page.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["CHECK_POLICY", "PAGE_POLICY", "Guard", "Keys", "policy"]

HOST: Final = "127.0.0.1"
"""The only address that the studio listens on."""
SAFE: Final = frozenset({"GET", "HEAD"})
"""Methods that change nothing; of the others only POST is known."""

NO_COOKIE: Final = (
    "This page is for whoever started the studio. Open the address that `querycloak studio` printed: it holds the key."
)
WRONG_TOKEN: Final = "The key in this address is not that of the running studio. Copy the address that it printed."  # noqa: S105
WRONG_HOST: Final = "The studio answers to 127.0.0.1 and localhost alone, with its own port."
FOREIGN: Final = "This request came from a page that is not the studio's: nothing was done."


def policy(**directives: str) -> str:
    """Return a content security policy in which everything that is not named is forbidden.

    >>> policy(script_src="'self'")
    "default-src 'none'; base-uri 'none'; script-src 'self'"
    """
    named = {"default_src": "'none'", "base_uri": "'none'"} | directives
    return "; ".join(f"{name.replace('_', '-')} {value}".strip() for name, value in named.items())


PAGE_POLICY: Final = policy(
    script_src="'self'",
    style_src="'self'",
    img_src="'self' data:",
    connect_src="'self'",
    frame_src="'self'",
    form_action="'self'",
    frame_ancestors="'none'",
)
"""Of every page: nothing from elsewhere, nothing inline, no eval; Vega's expressions are interpreted (ADR 142)."""
CHECK_POLICY: Final = policy(
    style_src="'unsafe-inline'",
    img_src="data:",
    form_action="'none'",
    frame_ancestors="'self'",
    sandbox="allow-same-origin",
)
"""Of the page of `check` in its frame: a file whose styles are inside it; no script runs, whatever it holds."""

HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # not `no-referrer`: browsers then send `Origin: null` with our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Keys:
    """What one run of the studio draws at its start; nothing of it is kept."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """in the first address; exchanged for the cookie"""
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """the value of the cookie"""
    room: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}", repr=False)
    """the path below which all pages are; no secret that anything rests on but where the browser sends the cookie"""

    @property
    def address(self) -> str:
        """The first address, to be opened by the person who started the studio."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may call us."""
        return frozenset({f"{HOST}:{self.port}", f"localhost:{self.port}"})

    @property
    def cookie(self) -> str:
        """The name of the cookie, with the port: two studios do not overwrite each other's."""
        return f"querycloak-{self.port}"


class Guard:
    """An ASGI application in front of another one: refuses, lets in, and adds the headers that bind the browser."""

    def __init__(self, app: ASGIApp, keys: Keys, refusal: Callable[[str], str]) -> None:
        """`refusal` makes a page of one sentence."""
        self._app, self._keys, self._refusal = app, keys, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a websocket: there is none
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_bound(message: Message) -> None:
            if message["type"] == "http.response.start":
                _bind(MutableHeaders(scope=message))
            await send(message)

        headers = Headers(scope=scope)
        answer = self._answer(scope, headers)
        await (answer or self._app)(scope, receive, send_bound)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to whoever is not let in, or is given the cookie; None = go on."""
        if headers.getlist("host") not in [[host] for host in self._keys.hosts]:
            return self._refuse(WRONG_HOST)
        path, safe = scope["path"], scope["method"] in SAFE
        if path == "/" and safe:
            return self._welcome(scope, headers)
        if not path.startswith(f"{self._keys.room}/") or not self._has_cookie(headers):
            return self._refuse(NO_COOKIE)
        if not _is_ours(headers, safe=safe):
            return self._refuse(FOREIGN)
        return None

    def _welcome(self, scope: Scope, headers: Headers) -> Response:
        """Exchange the token for the cookie, and take it out of the address."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if not given:
            return self._refuse(NO_COOKIE)
        if len(given) != 1 or not _equal(given[0], self._keys.token):
            return self._refuse(WRONG_TOKEN)
        first = f"{self._keys.room}/"
        response: Response = RedirectResponse(first, 303)
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            # A browser that comes from another site, such as the file that opens the studio, keeps a strict cookie back
            # on a redirect too: so our own page sends it on.
            response = HTMLResponse(f'<meta http-equiv="refresh" content="0;url={first}"><title>QueryCloak</title>')
        response.set_cookie(
            self._keys.cookie, self._keys.session, path=self._keys.room, httponly=True, samesite="strict"
        )
        return response

    def _has_cookie(self, headers: Headers) -> bool:
        for line in headers.getlist("cookie"):
            try:
                found = SimpleCookie(line).get(self._keys.cookie)
            except CookieError:
                continue
            if found is not None and _equal(found.value, self._keys.session):
                return True
        return False

    def _refuse(self, sentence: str) -> Response:
        return HTMLResponse(self._refusal(sentence), 403)


def _is_ours(headers: Headers, *, safe: bool) -> bool:
    """Tell whether a request comes from one of our pages, or from the person directly.

    Another port of this machine is the same site to a browser, so `same-site` is as foreign as `cross-site`. What
    changes something must say where it comes from; browsers do, by Origin, by Sec-Fetch-Site, or by both.
    """
    site, origin = headers.get("sec-fetch-site"), headers.getlist("origin")
    if safe:
        return site in {None, "none", "same-origin"}
    if site not in {None, "same-origin"} or origin not in ([], [f"http://{headers['host']}"]):
        return False
    return bool(site or origin)


def _equal(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def _bind(headers: MutableHeaders) -> None:
    """Add what every answer says to the browser; a page with a policy of its own keeps it."""
    for name, value in HEADERS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", PAGE_POLICY)
    headers.setdefault("X-Frame-Options", "DENY")
    headers.setdefault("Cache-Control", "no-store")
