"""Names of sites, learned from the log's own clicks: a query most of whose clicks go to one host of that name.

"craigs list" is no noun and in no dictionary; but people who ask it click craigslist.org. It is **learned from the
log**, so it is used where learning from clicks was asked for and never where differential privacy is promised; several
people must have clicked, so that nobody's rows decide alone.

>>> from querycloak.logs.query_log import QueryLog
>>> people = ["ann", "bob", "cem"]
>>> log = QueryLog.of(people, ["zxq news"] * 3, urls=["http://www.zxqnews.example.com/"] * 2 + ["http://zxq-news.com"])
>>> learn_sites(log)
{}
>>> log = QueryLog.of(people, ["zxq news"] * 3, urls=["http://www.zxq-news.com/a", "http://zxqnews.com", "zxqnews.com"])
>>> learn_sites(log)
{'zxq news': 'zxqnews.com'}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from querycloak.knowledge.addresses import split_addresses
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.hosts import split_host
from querycloak.mapping.words import label_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.mapping.mapper import Mapper

__all__ = ["learn_sites", "site_concepts", "with_sites"]

LEAST_PEOPLE: Final = 3
"""People who must have clicked a site after asking its name."""
MOST: Final = 0.5
"""Share of the clicks after a query that must go to sites of its name."""


def learn_sites(log: QueryLog) -> dict[str, str]:
    """Return the queries that name a site, with the host of that name that is clicked most."""
    if log.url is None or log.urls is None:
        return {}
    at = np.flatnonzero(log.url != NO_CODE)
    host = split_addresses(log.urls)["host"]
    clicks = pl.DataFrame({"user": log.user[at], "query": log.query[at], "host": host.gather(log.url[at])})
    asked = clicks.group_by("query").agg(people=pl.col("user").n_unique(), all=pl.len())
    clicks = clicks.join(asked.filter(pl.col("people") >= LEAST_PEOPLE).select("query", "all"), on="query")
    pairs = (
        clicks.group_by("query", "host").len("clicks").sort("query", "clicks", "host", descending=[False, True, False])
    )
    named = [h != "" and name_of(h) == _letters(log.queries[query]) for query, h, _ in pairs.iter_rows()]
    of_name = pairs.filter(pl.Series(named, dtype=pl.Boolean))
    found = (
        clicks.join(of_name.select("query", "host"), on=["query", "host"])
        .group_by("query")
        .agg(people=pl.col("user").n_unique(), clicks=pl.len(), all=pl.col("all").first())
        .filter((pl.col("people") >= LEAST_PEOPLE) & (pl.col("clicks") > MOST * pl.col("all")))
    )
    best = of_name.unique("query", keep="first", maintain_order=True).join(found.select("query"), on="query")
    return {log.queries[query]: h for query, h, _ in best.sort("query").iter_rows()}


def _letters(text: str) -> str:
    return label_text(text).replace(" ", "")


def name_of(host: str) -> str:
    """Return the name of a site, without what stands before and after it, in letters and digits."""
    return _letters(split_host(host)[1])


def site_concepts(log: QueryLog, mapper: Mapper) -> dict[str, int]:
    """Return the queries that name a site by the clicks of a log, with the concept that its address has.

    A query that the layers know as a site or brand already is left out.
    """
    return {text: mapper.concepts(host)[0] for text, host in learn_sites(log).items() if not _is_known(text, mapper)}


def with_sites(concepts: ConceptLog, log: QueryLog, sites: Mapping[str, int]) -> ConceptLog:
    """Return the concepts of a log with those of learned sites: one unit for each of their queries."""
    codes = {code: sites[text] for code, text in enumerate(log.queries.to_list()) if text in sites}
    learned = np.isin(concepts.query, np.fromiter(codes, np.int64, len(codes)))
    keep = ~learned | np.append(True, np.diff(concepts.row) != 0)[: len(concepts)]
    found = concepts.concept.copy()
    found[learned] = [codes[query] for query in concepts.query[learned].tolist()]
    return replace(
        concepts,
        row=concepts.row[keep],
        user=concepts.user[keep],
        query=concepts.query[keep],
        concept=found[keep],
        learned=True,
    )


def _is_known(text: str, mapper: Mapper) -> bool:
    return any(unit.layer in {"brand", "site"} for _, units in mapper.reader.read(text) for unit in units)
