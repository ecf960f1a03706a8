"""Names of a site from its host, by the public suffix list (tldextract, without the network).

>>> names_of_host("mail.yahoo.co.uk")
['mail yahoo co uk', 'yahoo co uk', 'yahoo mail', 'yahoo']
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

__all__ = ["names_of_host", "split_host"]


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


@cache
def _extract() -> Any:
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
