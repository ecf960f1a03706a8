"""Word microaggregation: users in groups of k by the directory categories of the words in their queries.

Erola, Castellà-Roca, Navarro-Arribas and Torra 2010, the method that url-microaggregation improves on: every word of a
query is looked up by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.lexicon import Lexicon, lexicon_of
from querycloak.mapping.words import clauses
from querycloak.methods.microaggregation._category_release import CategorySettings, Units, release_by_categories
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["WordMicroaggregation", "word_microaggregation"]


@dataclass(frozen=True)
class WordMicroaggregation(CategorySettings):
    """Settings of `word-microaggregation`."""


def word_microaggregation(
    log: QueryLog,
    settings: WordMicroaggregation,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
    directory: SiteDirectory | None = None,
) -> Release:
    """Group users by the categories of their words and publish random queries of each.

    A word is looked up among the labels of the directory's categories, or of the taxonomy where no directory is given.
    The paper takes all categories that the directory's search returns for a word; here it is the one that the mapping
    chooses among equal labels (fewest ancestors, then most sites).
    """
    progress.start("looking up words")
    categories = taxonomy if directory is None else directory.taxonomy
    lexicon = lexicon_of(taxonomy) if directory is None else Lexicon(categories, directory.site_count)
    found = [[lexicon.words[w].concept for words in clauses(q) for w in words] for q in log.queries.to_list()]
    row = np.flatnonzero(log.event)
    by_row = Ragged.of_lists(found, np.int32).take(log.query[row])
    listed = by_row.values != NO_CODE
    units = Units(np.repeat(row, by_row.lengths)[listed], by_row.values[listed], categories)
    return release_by_categories(
        "word-microaggregation", log, settings, random, progress, units, concepts=concepts, taxonomy=taxonomy
    )
