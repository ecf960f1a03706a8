"""URL microaggregation: users in groups of k by the directory categories of the sites their queries lead to.

Erola and Castellà-Roca, "Microagregación semántica de registros de búsqueda" (in Spanish): the category of a query is
that of its most significant result, looked up by the site.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.categories import query_categories
from querycloak.methods.microaggregation._category_release import CategorySettings, Units, release_by_categories
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.categories import Resolver
    from querycloak.mapping.click_categories import ClickCategories
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["UrlMicroaggregation", "units_of_sites", "url_microaggregation"]


@dataclass(frozen=True)
class UrlMicroaggregation(CategorySettings):
    """Settings of `url-microaggregation`."""


def url_microaggregation(
    log: QueryLog,
    settings: UrlMicroaggregation,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    directory: SiteDirectory | None,
    resolver: Resolver | None = None,
    click_categories: ClickCategories | None = None,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Group users by the categories of their sites (eq. 1, Algorithm 2) and publish random queries of each (eq. 2).

    The site of a query is the log's own clicked URL, else what the resolver says; the paper asked a search engine.
    A query without either may have a category that was learned from the log's clicks (`click_categories`). Without a
    directory, the log's own category column is used.
    """
    progress.start("looking up sites")
    units = units_of_sites(log, directory, resolver, click_categories)
    return release_by_categories(
        "url-microaggregation", log, settings, random, progress, units, concepts=concepts, taxonomy=taxonomy
    )


def units_of_sites(
    log: QueryLog,
    directory: SiteDirectory | None,
    resolver: Resolver | None = None,
    click_categories: ClickCategories | None = None,
) -> Units:
    """Return the categories of the sites that the queries of a log lead to."""
    found = query_categories(log, directory, resolver, click_categories)
    listed = found.category != NO_CODE
    learned = None if click_categories is None else found.learned
    return Units(found.row[listed], found.category[listed], found.taxonomy, learned)
