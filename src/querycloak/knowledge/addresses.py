"""Web addresses in one normal form, so that a log and a directory name a site in the same way.

>>> import polars as pl
>>> from querycloak.knowledge.addresses import split_addresses
>>> split_addresses(pl.Series(["HTTP://me:x@WWW.Animals.com:80/Cats/?q=1#top"])).row(0)
('animals.com', '/Cats')
"""

from __future__ import annotations

from typing import Final

import polars as pl

__all__ = ["SUFFIX", "registered_domains", "split_addresses"]

_PARTS: Final = (
    r"^(?:(?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?"  # scheme
    r"(?:[^/?#@]*@)?"  # user
    r"(?P<host>\[[^\]]*\]|[^/?#:]*)"
    r"(?::[0-9]*)?"  # port
    r"(?P<path>/[^?#]*)?"
)

_SECOND_LEVEL: Final = "ac|asn|co|com|edu|go|gob|gouv|gov|govt|id|ltd|me|mil|ne|net|nhs|nom|or|org|plc|sch|school"
"""Second labels under which countries register names: a short rule in place of the public suffix list."""

SUFFIX: Final = rf"\.(?:(?:{_SECOND_LEVEL})\.[a-z]{{2}}|[^.]+)$"
"""What is not registered at the end of a host: '.com', '.co.uk'."""

_REGISTERED: Final = rf"([^.]+{SUFFIX.removesuffix('$')})$"
_NUMERIC: Final = r"^(?:[0-9]+\.){3}[0-9]+$|^\["


def split_addresses(addresses: pl.Series) -> pl.DataFrame:
    """Split addresses into `host` (lower case, without scheme, user, port and 'www.') and `path` ('' or '/a/b').

    What follows '?' or '#' is dropped. The path keeps its case: servers tell them apart.
    """
    parts = addresses.str.strip_chars().str.extract_groups(_PARTS).struct.unnest()
    host = pl.col("host").str.to_lowercase().str.strip_chars_end(".").str.replace(r"^www\.([^.]+\..+)$", "${1}")
    return parts.select(host, pl.col("path").fill_null("").str.strip_chars_end("/"))


def registered_domains(hosts: pl.Series) -> pl.Series:
    """Give the part of each host that was registered: 'news.bbc.co.uk' → 'bbc.co.uk'; null for numeric addresses."""
    frame = hosts.rename("host").to_frame()
    numeric = pl.col("host").str.contains(_NUMERIC)
    return frame.select(pl.when(~numeric).then(pl.col("host").str.extract(_REGISTERED))).to_series()
