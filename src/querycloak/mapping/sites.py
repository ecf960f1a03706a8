"""From web addresses to categories of a directory, and from queries that are web addresses to their site.

>>> from querycloak.mapping.sites import site_of_query
>>> site_of_query("www.wild-animals.co.uk")
SiteQuery(site='wild-animals.co.uk', words=('wild', 'animals'))
>>> site_of_query("wild animals")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.addresses import SUFFIX, registered_domains, split_addresses
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from querycloak.knowledge.directory import SiteDirectory

__all__ = ["SiteQuery", "categorise", "site_of_query"]

_MAX_CUTS: Final = 16  # parts that are dropped from a path one by one; longer paths are cut to this first


def categorise(urls: Sequence[str] | pl.Series, directory: SiteDirectory) -> npt.NDArray[np.int32]:
    """Return the category of each address: int32[len(urls)], -1 where the directory has none.

    The longest listed host and path is taken, then the host, then the registered domain.
    """
    import polars as pl

    parts = split_addresses(pl.Series(urls, dtype=pl.String)).with_row_index("row")
    listed_hosts = directory.sites.select(host=pl.col("site").str.extract(r"^([^/]*)/")).drop_nulls().unique()
    out = np.full(len(parts), NO_CODE, dtype=np.int32)
    left = parts.filter(pl.col("path") != "").join(listed_hosts, on="host", how="semi")
    left = left.with_columns(pl.col("path").str.extract(rf"^((?:/[^/]*){{1,{_MAX_CUTS}}})"))
    while len(left):
        left = _settle(left, pl.col("host") + pl.col("path"), directory, out)
        left = left.with_columns(pl.col("path").str.replace(r"/[^/]*$", "")).filter(pl.col("path") != "")
    left = parts.filter(pl.Series(out == NO_CODE))
    left = _settle(left, pl.col("host"), directory, out)
    domains = left.with_columns(host=registered_domains(left["host"])).drop_nulls("host")
    _settle(domains, pl.col("host"), directory, out)
    return out


def _settle(left: pl.DataFrame, site: pl.Expr, directory: SiteDirectory, out: npt.NDArray[np.int32]) -> pl.DataFrame:
    """Write the category of the addresses whose site is listed; return the others."""
    import polars as pl

    found = left.with_columns(site=site).join(directory.sites, on="site", how="left", maintain_order="left")
    known = found.drop_nulls("category")
    out[known["row"].to_numpy()] = known["category"].to_numpy()
    return found.filter(pl.col("category").is_null()).select("row", "host", "path")


class SiteQuery(NamedTuple):
    """A query that is a web address."""

    site: str
    """the host in normal form"""
    words: tuple[str, ...]
    """what the host's name says, without 'www' and the ending"""


_ENDINGS: Final = frozenset(
    (  # noqa: SIM905 - a list of strings would take 70 lines
        "com org net edu gov mil int info biz name aero coop museum pro mobi tv cc ws fm us uk ca au nz ie za in de fr "
        "it es pt nl be ch at dk se no fi pl cz hu gr ru ua ro bg tr il jp kr cn tw hk sg my th ph id vn br mx ar cl "
        "co pe ve eu"
    ).split(" ")
)
_HOST: Final = re.compile(r"(?:https?[:;]?//?)?((?:[a-z0-9_-]+\.)+[a-z]{2,6})(?::\d+)?(?:[/?#]\S*)?")
_SPACED_DOT: Final = re.compile(r"\s*\.\s*")
_SPACED: Final = re.compile(r"(?:https? )?www ((?:[a-z0-9_-]+ )+)([a-z]{2,6})")
_SUFFIX: Final = re.compile(SUFFIX)
_WORD: Final = re.compile(r"[a-z]+|\d+")


def site_of_query(text: str) -> SiteQuery | None:
    """Recognise a query that is a web address.

    'http://' and 'www.' may be missing; after 'www' there may be spaces instead of dots. A mail address is not one.
    """
    if "." not in text and "www" not in text[:12].lower():
        return None
    query = _SPACED_DOT.sub(".", text.strip().lower())
    if spaced := _SPACED.fullmatch(query):
        host = f"{spaced[1].strip().replace(' ', '.')}.{spaced[2]}"
    elif match := _HOST.fullmatch(query):
        host = match[1].removeprefix("www.")
    else:
        return None
    if "." not in host or host.rpartition(".")[2] not in _ENDINGS:
        return None
    return SiteQuery(host, tuple(_WORD.findall(_SUFFIX.sub("", host))))
