"""Names of a site from its host, by the public suffix list (tldextract, without the network).

>>> names_of_host("mail.yahoo.co.uk")
['mail yahoo co uk', 'yahoo co uk', 'yahoo mail', 'yahoo']
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

__all__ = ["kind_of_host", "names_of_host", "split_host"]

KINDS: Final = {
    "ac": "educational institution#1",
    "edu": "educational institution#1",
    "gob": "government#1",
    "gov": "government#1",
    "mil": "military#1",
    "museum": "museum#1",
}
"""Parts of public suffixes that say what their sites are."""


@lru_cache(maxsize=100_000)
def split_host(host: str) -> tuple[str, str, str]:
    """Return the parts of a host before its name, its name, and its public suffix."""
    found = _extract()(host)
    return found.subdomain, found.domain, found.suffix


def names_of_host(host: str) -> list[str]:
    """Return what a table may list a host under, in normal form, the most telling first."""
    before, name, suffix = (part.replace(".", " ").replace("-", " ") for part in split_host(host))
    before = before.removeprefix("www").strip()
    found = [f"{before} {name} {suffix}", f"{name} {suffix}", f"{name} {before}", name]
    return list(dict.fromkeys(" ".join(text.split()) for text in found))


def kind_of_host(host: str) -> str | None:
    """Return what kind of site a host is by its ending, as label#sense of WordNet; None for most.

    >>> kind_of_host("www.mit.edu"), kind_of_host("works.state.mo.us"), kind_of_host("abc.com")
    ('educational institution#1', 'government#1', None)
    """
    before, name, suffix = split_host(host)
    parts = f"{before}.{name}.{suffix}".split(".")
    if parts[-1] == "us" and "state" in parts:
        return "government#1"
    return next((KINDS[part] for part in suffix.split(".") if part in KINDS), None)


@cache
def _extract() -> Any:
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
