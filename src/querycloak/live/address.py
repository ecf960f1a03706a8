"""Where a stream comes from or goes to, as it is named: `-`, a file, or the address of a broker."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from querycloak.errors import ParameterError

__all__ = [
    "Address",
    "Place",
    "looks_like_address",
    "message_without_credentials",
    "parse_place",
    "refuse_addresses",
    "without_credentials",
]

PORTS: Final = {"nats": 4222, "redis": 6379, "kafka": 9092}
"""The brokers that are known, and their usual ports."""
OPTIONS: Final = frozenset({"end", "field", "group", "partition", "sasl", "trim"})
"""What an address may say after the question mark; of anything else the value is not shown."""
_EXPECTED: Final = "nats://host:port/SUBJECT, redis://host:port/KEY or kafka://host:port/TOPIC"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_KNOWN: Final = r"(?:nats|redis|kafka)s?"
_AT: Final = r"(?:@|%40)"
_MISTYPED: Final = re.compile(
    rf"\W*(?:{_KNOWN}(?:[:;]|//|\\)"  # nats:/host, nats//host, redis;//host
    rf"|[^@]*?(?::/|//|\\)[^@]*?{_AT}"  # nast//ann@host
    rf"|[^@/]*?:[^@]*?{_AT})",  # ann:secret@host
    re.IGNORECASE,
)
_A_FILE: Final = re.compile(r"(?:/(?!/)|\.\.?/|~)")
"""What begins so is a file, whatever is in it."""
_CREDENTIALS: Final = re.compile(
    rf"^\W*(?:([A-Za-z][A-Za-z0-9+.-]*://)|({_KNOWN})\b)?.*{_AT}", re.DOTALL | re.IGNORECASE
)
_IN_MESSAGE: Final = re.compile(rf"(?:{_KNOWN}[:;/\\]+\S*|\S*:\S*){_AT}", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"[^/]*//(?:\[[^\]/?]*\]|[^:/?%]*)(?::[0-9]*)?(?:[/?#]|$)")
_ASKED: Final = re.compile(r"([?&])([^=&]*)=([^&]*)")


@dataclass(frozen=True)
class Address:
    """A stream of a broker: `nats://host:port/SUBJECT`, `redis://host:port/KEY` or `kafka://host:port/TOPIC`.

    Shown without its credentials, everywhere: as text, as repr, in errors, in statements and in states.

    >>> print(parse_place("nats://ann:secret@localhost/searches"))
    nats://localhost:4222/searches
    """

    scheme: str
    """nats, redis or kafka"""
    host: str
    port: int
    name: str
    """subject, key or topic"""
    tls: bool = False
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    options: tuple[tuple[str, str], ...] = ()
    """what comes after the question mark"""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}{'s' if self.tls else ''}://{host}:{self.port}/{self.name}"

    def is_same_as(self, other: object) -> bool:
        """Tell whether another address is of the same stream, whoever asks for it."""
        return isinstance(other, Address) and str(self) == str(other)

    def option(self, name: str, values: tuple[str, ...], default: str) -> str:
        """Return what an option says: one of these values."""
        found = dict(self.options).get(name, default)
        if found not in values:
            raise ParameterError.of(f"{self}?{name}", " or ".join(values), found)
        return found

    def refuse_other_options(self, *known: str) -> None:
        """Refuse an option that nobody reads."""
        for name, _ in self.options:
            if name not in known:
                told = ", ".join(known) or "no options"
                raise ParameterError(f"{self}: has no option {name!r} here; it takes: {told}.")


Place = Path | Address | None
"""None = standard input or output."""


def parse_place(text: str | Path | None) -> Place:
    """Return what a text names; `-` and None are standard input or output.

    >>> parse_place("-"), parse_place("log.tsv")
    (None, PosixPath('log.tsv'))
    >>> parse_place("rediss://cache/searches?end=now")
    Address(scheme='redis', host='cache', port=6379, name='searches', tls=True, options=(('end', 'now'),))
    """
    if text is None or str(text) == "-":
        return None
    shown = without_credentials(str(text))
    if not isinstance(text, str) or not _SCHEME.match(text):
        if isinstance(text, str) and looks_like_address(text):
            raise ParameterError(f"{shown}: is no address; expected {_EXPECTED}. A file of this name is ./NAME.")
        return Path(text)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ParameterError(f"{shown}: is no address; expected {_EXPECTED}.") from None
    scheme, tls = parts.scheme, False
    if scheme not in PORTS and scheme.removesuffix("s") in PORTS | {"nat": 0}:
        scheme, tls = scheme.removesuffix("s"), True
    if scheme not in PORTS:
        raise ParameterError(f"{shown}: no such kind of address; expected {_EXPECTED}, or a file.")
    name = unquote(parts.path.removeprefix("/"))
    host = parts.hostname or ""
    if (
        not host
        or ("%" in host and ":" not in host)
        or not name
        or "/" in name
        or any(c.isspace() or not c.isprintable() for c in name)
    ):
        raise ParameterError(f"{shown}: is no whole address; expected {_EXPECTED}.")
    user, password = (None if part is None else unquote(part) for part in (parts.username, parts.password))
    options = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return Address(scheme, host, port or PORTS[scheme], name, tls, user, password, options)


def looks_like_address(text: str) -> bool:
    """Tell whether a text is an address, or meant to be one: what holds credentials is not taken for a file.

    >>> [looks_like_address(text) for text in ("nats//ann:x@host/a", "ann:x@host/a", "./ann:x@host", "nats.tsv")]
    [True, True, False, False]
    """
    return not _A_FILE.match(text) and (_SCHEME.match(text) or _MISTYPED.match(text)) is not None


def refuse_addresses(**places: Path | None) -> None:
    """Refuse an address where only a file can be, by the name of its option."""
    for name, place in places.items():
        if place is not None and looks_like_address(str(place)):
            raise ParameterError(
                f"--{name} is a file, and this looks like an address: {without_credentials(str(place))}."
            )


def without_credentials(text: str) -> str:
    """Return an address without user and password, also where it is none because they hold a slash or a space.

    >>> without_credentials("nats://ann:sec/ret@localhost/searches")
    'nats://localhost/searches'
    >>> without_credentials("nats//ann:secret@localhost/searches?password=secret")
    'nats…@localhost/searches?password=HIDDEN'
    """
    found = _CREDENTIALS.match(text)
    if found is not None:
        begin = found[1] or f"{found[2] or ''}…@"
        text = begin + ("…" if "?" in found[0] else text[found.end() :])  # the @ may be one of an option's value
    if _SCHEME.match(text) and not _AUTHORITY.match(text):
        return text.partition(":")[0] + "://…"  # what is no port may be a password
    return _ASKED.sub(lambda found: found[0] if found[2] in OPTIONS else f"{found[1]}{found[2]}=HIDDEN", text)


def message_without_credentials(text: str) -> str:
    """Return a message in which an address may be named, without user and password.

    >>> message_without_credentials("nats:/ann:secret@host/x: there is no such file.")
    '…@host/x: there is no such file.'
    """
    return _IN_MESSAGE.sub("…@", text)
