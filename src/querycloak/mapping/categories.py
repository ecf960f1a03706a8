"""The directory category of each query: by the site that was clicked, by the site that a resolver names, or learned.

>>> from querycloak.knowledge.directory import SiteDirectory
>>> from querycloak.logs.query_log import QueryLog
>>> log = QueryLog.of(["ann", "bob"], ["kings", "queens"], urls=["http://www.kings.com/2006", None])
>>> sites = SiteDirectory.of(["kings.com", "chess.org"], ["Top/Arts", "Top/Games/Chess"])
>>> found = query_categories(log, sites, {"queens": ["http://en.wikipedia.org/", "http://chess.org/queen"]}.get)
>>> [sites.taxonomy.label(c) for c in found.category]
['Arts', 'Chess']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError
from querycloak.knowledge.addresses import split_addresses
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.sites import categorise

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.click_categories import ClickCategories

__all__ = ["EventCategories", "Resolver", "query_categories"]

Resolver = Callable[[str], str | Sequence[str] | None]
"""A function from a query to the addresses of its results, the most significant first, without promoted ones."""

_SKIPPED: Final = r"(^|\.)wikipedia\.org$"
"""Hosts about everything: the directory lists them in one category, whatever a page is about."""


@dataclass(frozen=True, eq=False)
class EventCategories:
    """The category of each query event of a log."""

    taxonomy: Taxonomy
    """of the directory"""
    row: npt.NDArray[np.int64]
    """int64[events], the first row of each event"""
    category: npt.NDArray[np.int32]
    """int32[events], a concept of the taxonomy, -1 = none"""
    learned: int = 0
    """events whose category was learned from the clicks of other events"""


def query_categories(
    log: QueryLog,
    directory: SiteDirectory | None,
    resolver: Resolver | None = None,
    click_categories: ClickCategories | None = None,
) -> EventCategories:
    """Find the category of every query event (Erola and Castellà-Roca, sections IV-A and IV-B).

    An event's site is its best-ranked click that the directory lists; without one, the first of the resolver's results
    that the directory lists; without that, what `click_categories` says of its words. Only the domain is looked up, and
    Wikipedia is skipped. Without a directory, the category paths of the log are used.
    """
    if directory is None:
        return _own_categories(log)
    if log.url is None and resolver is None:
        raise InputError(
            "The log has no clicked URLs, so its queries have no site: "
            "give a table of query and URL with --resolver (resolver=… in Python)."
        )
    row = np.flatnonzero(log.event)
    category = _clicked(log, row, directory)
    if resolver is not None:
        category = _filled(log, row, category, lambda texts: _resolved(texts, resolver, directory))
    if click_categories is None:
        return EventCategories(directory.taxonomy, row, category)
    filled = _filled(log, row, category, click_categories.categories)
    return EventCategories(directory.taxonomy, row, filled, int((filled != category).sum()))


def _filled(
    log: QueryLog,
    row: npt.NDArray[np.int64],
    category: npt.NDArray[np.int32],
    find: Callable[[pl.Series], npt.NDArray[np.int32]],
) -> npt.NDArray[np.int32]:
    """Ask for the texts of the events that have no category; each text is asked for once."""
    missing = np.unique(log.query[row[category == NO_CODE]])
    found = np.full(len(log.queries), NO_CODE, dtype=np.int32)
    found[missing] = find(log.queries.gather(missing))
    return np.where(category == NO_CODE, found[log.query[row]], category).astype(np.int32)


def _own_categories(log: QueryLog) -> EventCategories:
    from querycloak.knowledge.paths import tree_of_paths

    if log.category is None or log.categories is None or len(log.categories) == 0:
        raise InputError("The log has no category column: give a directory of sites with --directory (directory=…).")
    taxonomy, concept = tree_of_paths(log.categories.to_list(), name="categories of the log")
    row = np.flatnonzero(log.event)
    code = log.category[row]
    return EventCategories(taxonomy, row, np.where(code == NO_CODE, NO_CODE, concept[code]).astype(np.int32))


def _sites(addresses: pl.Series, directory: SiteDirectory) -> npt.NDArray[np.int32]:
    """Return the category of each address by its domain alone; -1 for none and for Wikipedia."""
    host = split_addresses(addresses)["host"]
    found = categorise(host, directory)
    found[host.str.contains(_SKIPPED).fill_null(value=False).to_numpy()] = NO_CODE
    return found


def _clicked(log: QueryLog, row: npt.NDArray[np.int64], directory: SiteDirectory) -> npt.NDArray[np.int32]:
    """Return the category of the best-ranked listed click of each event: int32[events]."""
    out = np.full(len(row), NO_CODE, dtype=np.int32)
    if log.url is None or log.urls is None:
        return out
    found = np.append(_sites(log.urls, directory), np.int32(NO_CODE))[log.url]  # code -1 reads the last entry
    listed = np.flatnonzero(found != NO_CODE)
    event = np.searchsorted(row, log.event_row[listed])
    rank = np.zeros(len(listed)) if log.rank is None else log.rank[listed]
    order = np.lexsort((listed, rank, event))
    first = np.unique(event[order], return_index=True)
    out[first[0]] = found[listed[order[first[1]]]]
    return out


def _resolved(queries: pl.Series, resolver: Resolver, directory: SiteDirectory) -> npt.NDArray[np.int32]:
    """Ask the resolver for each query: int32[queries], the category of the first result that is listed."""
    import polars as pl

    addresses: list[str] = []
    owner: list[int] = []
    for i, text in enumerate(queries.to_list()):
        results = resolver(text)
        for address in [results] if isinstance(results, str) else results or ():
            addresses.append(address)
            owner.append(i)
    out = np.full(len(queries), NO_CODE, dtype=np.int32)
    found = _sites(pl.Series(addresses, dtype=pl.String), directory)
    for i, category in reversed(list(zip(owner, found.tolist(), strict=True))):
        if category != NO_CODE:
            out[i] = category
    return out
