from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.knowledge.directory import SiteDirectory
from querycloak.logs.query_log import QueryLog

PATHS = ["Top/Arts/Music", "Top/Arts/Painting", "Top/Shopping/Media/Music", "Top/Shopping/Media/Records", "Top/Cars"]


def partner_of_music(**settings) -> str:
    """Who is grouped with the one who asks for music: who asks for records, or for a painting."""
    sites = SiteDirectory.of([f"s{i}.example" for i in range(len(PATHS))], PATHS)
    log = QueryLog.of(["a", "b", "c", "d"], ["music", "records", "painting", "cars"])
    release = qc.anonymize(log, "word-microaggregation", k=2, seed=1, directory=sites, as_in_paper=True, **settings)
    assert release.truth is not None
    bags = {u: set() for u in range(4)}
    for row in range(len(release.log)):
        bags[int(release.truth.user[release.log.user[row]])].add(int(release.log.query[row]))
    (other,) = [u for u in range(1, 4) if bags[u] == bags[0]]
    return log.queries[other]


def test_a_word_counts_with_all_its_categories_as_in_the_paper() -> None:
    """Music is found under arts, and two levels deep with records under shopping."""
    assert partner_of_music() == "records"
    assert partner_of_music(categories="all") == "records"


def test_the_one_category_that_the_mapping_chooses_is_an_option() -> None:
    assert partner_of_music(categories="one") == "painting"


def test_other_values_are_refused() -> None:
    with pytest.raises(qc.errors.ParameterError, match="categories must be"):
        partner_of_music(categories="some")
