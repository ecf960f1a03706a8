"""IP addresses and geographic coordinates."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers._pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COORDINATES_CANDIDATE", "IP_CANDIDATE", "coordinates", "ip_addresses"]

IP_CANDIDATE: Final = r"\d\.\d{1,3}\.\d{1,3}\.\d|[0-9a-f:]:[0-9a-f:]"
_V4: Final = Pattern(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)")
_V6: Final = Pattern(r"(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4})?(?:\d{0,2}(?:\.\d{1,3}){3})?(?![\w:])")
_VERSION: Final = Pattern(
    r"(?:version|versions|ver|vers|v|release|build|firmware|driver|drivers|patch|update|upgrade|software|kernel|section"
    r"|chapter|rfc|java|flash|player|chrome|firefox|explorer|ios|winamp|itunes|quicktime)\.? ?$"
)
_NETWORKS: Final = "0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 224.0.0.0/3"
_RESOLVERS: Final = "1.1.1.1 1.0.0.1 8.8.8.8 8.8.4.4 9.9.9.9 4.2.2.1 4.2.2.2 208.67.222.222 208.67.220.220"
_VERSION_6: Final = "::/127 fe80::/10 ff00::/8 2001:4860:4860::8888 2001:4860:4860::8844 2606:4700:4700::1111"
_EVERYBODYS: Final = tuple(map(ipaddress.ip_network, f"{_NETWORKS} {_RESOLVERS} {_VERSION_6}".split()))
"""Addresses that say nothing about anybody: used inside every network, or of well-known resolvers."""

COORDINATES_CANDIDATE: Final = (
    r"\d\.\d{3,}.*\d\.\d{3}|[°º]|\d ?deg|(?:^|[^a-z])[ns] ?[0-8]?\d[^0-9]|\d ?['\"ms]{0,3} ?[ns](?:[^a-z]|$)"
)
_GAP: Final = r"\s*[,;/ ]?\s*"
_LAT: Final = r"[-+]?(?:[0-8]?\d|90)[.]\d{3,}"
_LON: Final = r"[-+]?(?:1[0-7]\d|180|0?\d{1,2})[.]\d{3,}"
_DEGREE: Final = r"\s?(?:°|º|deg(?:rees?)?)?\s?"
_MINUTES: Final = r"(?:\s?(?:°|º|deg(?:rees?)?|d)\s?|[ :])[0-5]?\d(?:\.\d+)?"
_SECONDS: Final = r"(?:\s?(?:'|m)\s?|[ :])[0-5]?\d(?:\.\d+)?\s?(?:''|\"|s)?"
_ANGLE: Final = rf"{{}}(?:{_MINUTES}(?:{_SECONDS}|\s?['m])?)"
_COORDINATES: Final = Pattern(
    rf"(?<![\w.]){_LAT}{_DEGREE}[ns]?{_GAP}(?:lon(?:gitude|g)?:? ?)?{_LON}(?![.\d])(?:{_DEGREE}[ew]\b)?"
    rf"|(?<![\w.])[ns]\s?{_LAT}°?{_GAP}[ew]\s?{_LON}(?![.\d])"
    rf"|(?<![\w.]){_ANGLE.format('[0-8]?[0-9]')}\s?[ns]{_GAP}{_ANGLE.format('[01]?[0-9]{1,2}')}\s?[ewo]\b"
    rf"|(?<![\w.])[ns]\s?{_ANGLE.format('[0-8]?[0-9]')}{_GAP}[ewo]\s?{_ANGLE.format('[01]?[0-9]{1,2}')}(?!\w)"
    rf"|(?<![\w.])[-+]?[0-8]?\d°\s?[0-5]?\d(?:\.\d+)?'(?:\s?[0-5]?\d(?:\.\d+)?(?:''|\"))?{_GAP}"
    rf"[-+]?[01]?\d{{1,2}}°\s?[0-5]?\d(?:\.\d+)?'(?:\s?[0-5]?\d(?:\.\d+)?(?:''|\"))?"
)
"""Decimal degrees with at least three decimals (a hundred metres), or degrees and minutes with letters of the winds."""


def ip_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Find IP addresses in a plain text that may be somebody's; numbers of versions are left alone."""
    for match in _V4.finditer(text):
        if _is_somebodys(match.group()) and not _VERSION.search(text, 0, match.start()):
            yield match.span()
    for match in _V6.finditer(text):
        groups = [group for group in match.group().split(":") if group]
        if len(groups) >= 3 and any(map(str.isdecimal, match.group())) and _is_somebodys(match.group()):
            yield match.span()


def _is_somebodys(text: str) -> bool:
    try:
        address = ipaddress.ip_address(
            ".".join(str(int(part)) for part in text.split(".")) if ":" not in text else text
        )
    except ValueError:
        return False
    return not any(address in network for network in _EVERYBODYS if network.version == address.version)


def coordinates(text: str) -> Iterator[tuple[int, int]]:
    """Find pairs of a latitude and a longitude in a plain text."""
    return (match.span() for match in _COORDINATES.finditer(text))
