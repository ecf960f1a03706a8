"""Word microaggregation: users in groups of k by the directory categories of the words in their queries.

Erola, Castellà-Roca, Navarro-Arribas and Torra 2010, the method that url-microaggregation improves on: every word of a
query is looked up by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.mapping.lexicon import Lexicon, lexicon_of
from querycloak.mapping.word_concepts import WordConcepts
from querycloak.mapping.words import clauses
from querycloak.methods.microaggregation._category_release import CategorySettings, Units, release_by_categories
from querycloak.progress import QUIET, Progress
from querycloak.settings import setting

if TYPE_CHECKING:
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["WordMicroaggregation", "units_of_words", "word_microaggregation"]


@dataclass(frozen=True)
class WordMicroaggregation(CategorySettings):
    """Settings of `word-microaggregation`."""

    categories: str = setting(
        "all",
        "of a word that is the label of several categories: all of them, as in the paper; or the one that the mapping "
        "chooses",
        choices=("all", "one"),
    )


@lru_cache(maxsize=2)
def _words_of(taxonomy: Taxonomy, directory: SiteDirectory | None) -> WordConcepts:
    """Return the words of a directory, or of the taxonomy; reading all labels of a large one takes seconds."""
    if directory is None:
        return WordConcepts(taxonomy, lexicon_of(taxonomy))
    return WordConcepts(directory.taxonomy, Lexicon(directory.taxonomy, directory.site_count))


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
    As in the paper, a word has all categories that are found for it; the paper asks the directory's own search, which
    also looks into paths and descriptions, here it is the labels. With `categories` = one it is the one that the
    mapping chooses among equal labels (fewest ancestors, then most sites; in WordNet the most frequent sense).
    """
    progress.start("looking up words")
    units = units_of_words(log, settings, taxonomy, directory)
    return release_by_categories(
        "word-microaggregation", log, settings, random, progress, units, concepts=concepts, taxonomy=taxonomy
    )


def units_of_words(
    log: QueryLog, settings: WordMicroaggregation, taxonomy: Taxonomy, directory: SiteDirectory | None
) -> Units:
    """Return the categories of the words in the queries of a log."""
    categories = taxonomy if directory is None else directory.taxonomy
    of = _words_of(taxonomy, directory)
    look_up = of.all if settings.categories == "all" else of.one
    found = [[c for words in clauses(q) for w in words for c in look_up(w)] for q in log.queries.to_list()]
    row = np.flatnonzero(log.event)
    by_row = Ragged.of_lists(found, np.int32).take(log.query[row])
    return Units(np.repeat(row, by_row.lengths), by_row.values, categories)
