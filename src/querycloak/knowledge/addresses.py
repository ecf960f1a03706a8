"""Web addresses in one normal form, so that a log and a directory name a site in the same way.

>>> import polars as pl
>>> from querycloak.knowledge.addresses import split_addresses
>>> split_addresses(pl.Series(["HTTP://me:x@WWW.Animals.com:80/Cats/?q=1#top"])).row(0)
('animals.com', '/Cats')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUFFIX", "registered_domains", "split_addresses"]

_SCHEME: Final = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?//"
_USER: Final = r"^.*@"
_PORT: Final = r":[0-9]*$"
_WWW: Final = r"^www\.([^.]+\..+)$"
_PLAIN: Final = r"^[a-z0-9.-]*[a-z0-9-]$"
"""What is a host in normal form already, unless it begins with 'www.': most lines of a directory."""

_SECOND_LEVEL: Final = "ac|asn|co|com|edu|go|gob|gouv|gov|govt|id|ltd|me|mil|ne|net|nhs|nom|or|org|plc|sch|school"
"""Second labels under which countries register names: a short rule instead of the public suffix list."""

SUFFIX: Final = rf"\.(?:(?:{_SECOND_LEVEL})\.[a-z]{{2}}|[^.]+)$"
"""What is not registered at the end of a host: '.com', '.co.uk'."""

_REGISTERED: Final = rf"([^.]+{SUFFIX.removesuffix('$')})$"
_NUMERIC: Final = r"^(?:[0-9]+\.){3}[0-9]+$|^\["


def split_addresses(addresses: pl.Series) -> pl.DataFrame:
    """Split addresses into `host` (lower case, without scheme, user, port and 'www.') and `path` ('' or '/a/b').

    What follows '?' or '#' is dropped. The path keeps its case: servers tell them apart.
    """
    import polars as pl

    given = addresses.rename("host")
    plain = (given.str.contains(_PLAIN) & ~given.str.starts_with("www.")).fill_null(value=False)
    if plain.all():
        return given.to_frame().with_columns(path=pl.lit(""))
    if not plain.any():
        return _split(given)
    hosts = given.filter(plain).to_frame().with_columns(path=pl.lit(""))
    row = pl.concat([plain.arg_true(), (~plain).arg_true()])
    return pl.concat([hosts, _split(given.filter(~plain))])[row.arg_sort()]


def _split(addresses: pl.Series) -> pl.DataFrame:
    import polars as pl

    address = pl.col("address").str.strip_chars().str.replace(_SCHEME, "")
    for end in "#?":  # in this order: a fragment may hold a '?'
        address = address.str.splitn(end, 2).struct.field("field_0")
    parts = addresses.rename("address").to_frame().select(address.str.splitn("/", 2).struct.unnest())
    host = pl.col("field_0").str.replace(_USER, "").str.replace(_PORT, "").str.to_lowercase()
    path = "/" + pl.col("field_1").str.strip_chars_end("/")
    return parts.select(
        host=host.str.strip_chars_end(".").str.replace(_WWW, "${1}"),
        path=pl.when(path != "/").then(path).otherwise(pl.lit("")),
    )


def registered_domains(hosts: pl.Series) -> pl.Series:
    """Return the part of each host that was registered: 'news.bbc.co.uk' → 'bbc.co.uk'; null for numeric addresses."""
    import polars as pl

    frame = hosts.rename("host").to_frame()
    numeric = pl.col("host").str.contains(_NUMERIC)
    return frame.select(pl.when(~numeric).then(pl.col("host").str.extract(_REGISTERED))).to_series()
