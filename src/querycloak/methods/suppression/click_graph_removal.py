"""Click-graph removal: leave out queries that point to a site, and those that join the query graph. No guarantee.

Poblete, Spiliopoulou and Baeza-Yates 2010, "Privacy-preserving query log mining for business confidentiality
protection".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.arrays.ragged import Ragged
from querycloak.methods.suppression._click_graph_kernels import disconnect
from querycloak.methods.suppression._documents import query_documents
from querycloak.progress import QUIET, Progress
from querycloak.releases.kinds import with_kinds
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.settings import Settings, setting
from querycloak.texts.phrases import NOT_PUBLISHED, NOTHING, shared_texts
from querycloak.texts.text_promises import covered_texts, exposed_texts, promised_texts
from querycloak.texts.text_settings import TextSettings

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.suppression._documents import Pairs
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["ClickGraphRemoval", "click_graph_removal"]


@dataclass(frozen=True)
class _Clicks(Settings):
    """What a click graph must have for a query to stay; a class of its own, so that these come first in the help."""

    k: int = setting(2, "leave out queries that led to fewer documents than this", minimum=1)
    sites: int = setting(2, "leave out queries whose documents come from fewer sites than this (Kp)", minimum=1)


@dataclass(frozen=True)
class ClickGraphRemoval(TextSettings, _Clicks):
    """Settings of `click-graph-removal`. Its k counts documents, not people."""


def click_graph_removal(
    log: QueryLog,
    settings: ClickGraphRemoval,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Remove vulnerable queries, then queries until no two share a clicked document (density 0).

    In turn: queries that led to fewer than k documents; that hold the name of a site they led to; whose documents come
    from fewer than Kp sites; then, highest degree first, queries that share a clicked document with another. What is
    left is published with each user's queries under one new id, without clicks. Documents are the search engine's
    results where the log has them, else the clicked URLs (`_documents.py`); the paper had results. What is published of
    a query that is left is ours: by default the part of it that many people share; the paper published it as it was
    (`as_in_paper`).
    """
    progress.start("reading the click graph")
    known = query_documents(log)
    n = len(log.queries)
    host, hosts = _hosts(known.addresses)
    documents, targets = known.documents, known.targets
    few_documents = np.bincount(documents.query, minlength=n) < settings.k
    few_sites = np.bincount(_sites(documents, host, hosts)[0], minlength=n) < settings.sites
    named = np.zeros(n, dtype=np.bool_)
    query_of_site, site = _sites(targets, host, hosts)
    named[query_of_site[_names_site(log.queries.gather(query_of_site), hosts.gather(site))]] = True
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=taxonomy)
    nothing = shared.kind == NOTHING  # what is not published does not join others
    out = few_documents | named | few_sites | nothing
    joined = _joined(known.clicked.query, known.clicked.document, ~out)

    progress.start("publishing")
    event = log.event
    keep = np.flatnonzero(event & ~(out | joined)[log.query])
    query = log.query[keep]
    table = under_new_ids(log, log.user[keep], shared.text[query].astype(np.int32), random, queries=shared.words)
    if settings.kinds == "column":
        table = with_kinds(table, shared.kind[query])
    counts = shared.counts(query)
    counts.pop(NOT_PUBLISHED)
    statement = PrivacyStatement(
        method="click-graph-removal",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        **promised_texts(settings),
        covers=covered_texts(settings, log),
        does_not_cover=(
            "all queries of a user that are left stay under one id: who knows some of them can find the rest",
            *exposed_texts(settings),
            "the number and the order of each user's queries are visible",
        ),
        assumptions=(known.describe(log),),
        randomness=random.describe(),
        new_ids=True,
        counts_in=count_in(log),
        counts_out=count_out(table.log),
        dropped={"further clicks of a query": int((~event).sum())}
        | _by_reason(
            log.query[event],
            {
                f"led to fewer than {settings.k} documents": few_documents,
                "holds the name of a site it led to": named,
                f"documents from fewer than {settings.sites} sites": few_sites,
                NOT_PUBLISHED: nothing,
                "shares a document with another query": joined,
            },
        ),
        figures={"distinct queries left": int((~(out | joined)).sum()), **counts},
    )
    return publish_log(table.log, statement, table.truth, Evidence(log, concepts=concepts, taxonomy=taxonomy))


def _by_reason(query: npt.NDArray[np.int32], reasons: dict[str, npt.NDArray[np.bool_]]) -> dict[str, int]:
    """Count query events by the first reason that holds."""
    counts: dict[str, int] = {}
    left = np.ones(len(query), dtype=np.bool_)
    for reason, applies in reasons.items():
        counts[reason] = int((left & applies[query]).sum())
        left &= ~applies[query]
    return counts


def _joined(
    query: npt.NDArray[np.int64], document: npt.NDArray[np.int32], left: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Choose the queries to remove so that no two of those left share a document: bool[distinct queries]."""
    keep = left[query]
    documents_of = Ragged.of(query[keep], document[keep], len(left))
    return disconnect(documents_of, documents_of.inverted(int(document.max(initial=-1)) + 1))


def _hosts(urls: pl.Series) -> tuple[npt.NDArray[np.int64], pl.Series]:
    """Return the site of each address: codes int64[urls], distinct sites."""
    from querycloak.knowledge.addresses import split_addresses

    host = split_addresses(urls)["host"].fill_null("")
    return host.rank("dense").to_numpy().astype(np.int64) - 1, host.unique().sort()


def _sites(pairs: Pairs, host: npt.NDArray[np.int64], hosts: pl.Series) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the distinct sites of each query: queries int64[m], sites int64[m]."""
    return np.divmod(np.unique(pairs.query * len(hosts) + host[pairs.document]), len(hosts))


def _names_site(queries: pl.Series, sites: pl.Series) -> npt.NDArray[np.bool_]:
    """Tell whether each query holds the address, or the name without its ending, of the site next to it as a word."""
    from querycloak.knowledge.addresses import registered_domains

    domains = registered_domains(sites).to_list()
    out = np.zeros(len(queries), dtype=np.bool_)
    for i, (text, site, domain) in enumerate(zip(queries.to_list(), sites.to_list(), domains, strict=True)):
        words = text.lower()
        name = (domain or site).partition(".")[0]
        out[i] = bool(site) and (site in words or (bool(name) and name in words.split()))
    return out
