"""The documents of each query: what the search engine returned for it, where the log says so, and what was clicked.

Poblete et al. 2010 had the result lists of a search engine. Few logs have them: here it is an optional column
`results`, with the addresses of a row's results, separated by spaces or as a list. The most that a log tells is used:

    documents   results; the clicked URLs of a query without any
    targets     what a query was meant to find: the clicked URLs; the results of a query without a click
    clicked     what joins queries in the graph
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError
from querycloak.logs.query_log import NO_CODE, encode

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import QueryLog

__all__ = ["Pairs", "QueryDocuments", "query_documents"]

Int64s = npt.NDArray[np.int64]

RESULTS: Final = "results"
_ADDRESS: Final = r'[a-z]+://[^\s"]+|[^\s",\[\]]+'
"""One address of a list, as JSON or separated by spaces; with a scheme it may hold commas and brackets."""


class Pairs(NamedTuple):
    """Distinct pairs of a query and a document."""

    query: Int64s
    """int64[m], codes of the log's queries, ascending"""
    document: npt.NDArray[np.int32]
    """int32[m]"""

    @classmethod
    def of(cls, query: Int64s, document: Int64s, documents: int) -> Pairs:
        """Keep each pair once."""
        width = max(documents, 1)
        pairs = np.unique(query * width + document)
        return cls(pairs // width, (pairs % width).astype(np.int32))

    def or_else(self, others: Pairs) -> Pairs:
        """Take the pairs of `others` for queries that have none here."""
        missing = ~np.isin(others.query, self.query)
        query = np.concatenate([self.query, others.query[missing]])
        order = np.argsort(query, kind="stable")
        return Pairs(query[order], np.concatenate([self.document, others.document[missing]])[order])


class QueryDocuments(NamedTuple):
    """What a log says about the documents of its queries."""

    clicked: Pairs
    returned: Pairs | None
    """None = the log has no column `results`"""
    addresses: pl.Series
    """of each document"""

    @property
    def documents(self) -> Pairs:
        """What a query led to."""
        return self.clicked if self.returned is None else self.returned.or_else(self.clicked)

    @property
    def targets(self) -> Pairs:
        """What a query was meant to find."""
        return self.clicked if self.returned is None else self.clicked.or_else(self.returned)

    def describe(self, log: QueryLog) -> str:
        """Say what was taken for the documents of a query."""
        if self.returned is None:
            return (
                f"the documents of a query are the URLs clicked for it: the log has no column {RESULTS}, and a search "
                "engine returns more than is clicked"
            )
        some, all_of_them = len(np.unique(self.returned.query)), len(np.unique(log.query))
        return (
            f"the documents of a query are what the search engine returned, from the column {RESULTS}, for {some:,} of "
            f"{all_of_them:,} distinct queries, and the URLs clicked for it for the others"
        )


def query_documents(log: QueryLog) -> QueryDocuments:
    """Read the clicked URLs and the results of a log; a log without clicked URLs is refused."""
    import polars as pl

    if log.url is None or log.urls is None or not (log.url != NO_CODE).any():
        raise InputError("click-graph-removal needs clicked URLs, the log has none. Use another method.")
    click = np.flatnonzero(log.url != NO_CODE)
    query, url = log.query[click].astype(np.int64), log.url[click].astype(np.int64)
    results = _results(log)
    if results is None:
        return QueryDocuments(Pairs.of(query, url, len(log.urls)), None, log.urls)
    code, addresses = encode([*log.urls.to_list(), *results["address"].to_list()])
    document = code.astype(np.int64)
    returned = Pairs.of(results["query"].to_numpy().astype(np.int64), document[len(log.urls) :], len(addresses))
    return QueryDocuments(Pairs.of(query, document[url], len(addresses)), returned, addresses.cast(pl.String))


def _results(log: QueryLog) -> pl.DataFrame | None:
    """Return each query with each of its results: query, address; None where the log has no such column."""
    import polars as pl

    if log.extra is None or RESULTS not in log.extra.columns:
        return None
    column = log.extra[RESULTS]
    if column.dtype == pl.List(pl.String):
        address = column
    elif column.dtype in (pl.String, pl.Null):
        address = column.cast(pl.String).str.extract_all(_ADDRESS)
    else:
        raise InputError(
            f"The column {RESULTS} must hold the addresses of a query's results, as text or as a list of texts; found "
            f"{column.dtype}. Rename the column if it is something else."
        )
    listed = pl.DataFrame({"query": pl.Series(log.query), "address": address}).explode("address").drop_nulls()
    return listed.unique(maintain_order=True)
