from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import categories as reference
from samples import sample_directory
from strategies import taxonomies

import querycloak as qc
from querycloak.errors import ParameterError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.microaggregation._category_groups import EventUnits, group_by_categories, user_categories
from querycloak.methods.microaggregation.url_microaggregation import UrlMicroaggregation
from querycloak.methods.microaggregation.word_microaggregation import WordMicroaggregation

SIMILARITIES = ["bags", "sets"]


@st.composite
def users_with_categories(draw, least=2, most=14):
    """A taxonomy; the categories of each query of each user; levels."""
    taxonomy = draw(taxonomies())
    query = st.lists(st.integers(0, len(taxonomy) - 1), max_size=3)
    users = draw(st.lists(st.lists(query, max_size=5), min_size=least, max_size=most))
    return taxonomy, users, draw(st.integers(1, 4)), draw(st.sampled_from(SIMILARITIES))


def categories_of(users, taxonomy, levels, similarity):
    """The same as the package has it: one entry per query event and category."""
    events = [(u, query) for u, queries in enumerate(users) for query in queries]
    flat = [(e, u, c) for e, (u, query) in enumerate(events) for c in query]
    event, user, category = (np.array([unit[i] for unit in flat], dtype=np.int64) for i in range(3))
    return user_categories(EventUnits(event, user, category), len(users), taxonomy, levels, similarity)


def groups_of(categories, k):
    group = group_by_categories(categories, k)
    return [np.flatnonzero(group == g).tolist() for g in range(group.max() + 1)]


@given(users_with_categories())
def test_shared_categories_are_odp_sim(drawn) -> None:
    taxonomy, users, levels, similarity = drawn
    found = categories_of(users, taxonomy, levels, similarity)
    records = [reference.at_levels(taxonomy, queries, levels, similarity) for queries in users]
    for u in range(len(users)):
        assert found.shared_with(u).tolist() == [reference.odp_sim(records[u], record) for record in records]


@given(users_with_categories(), st.integers(2, 5))
def test_groups_equal_algorithm_2_with_ties(drawn, k) -> None:
    taxonomy, users, levels, similarity = drawn
    k = min(k, len(users))
    found = groups_of(categories_of(users, taxonomy, levels, similarity), k)
    records = [reference.at_levels(taxonomy, queries, levels, similarity) for queries in users]
    assert found == reference.group(records, k, similarity)
    assert min(map(len, found)) >= k
    assert max(map(len, found)) <= 2 * k - 1


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("seed", range(3))
def test_many_users_equal_algorithm_2(seed, similarity) -> None:
    from querycloak.knowledge.taxonomy import Taxonomy

    rng = np.random.default_rng(seed)
    taxonomy = Taxonomy.from_parents([-1, *(int(rng.integers(0, i)) for i in range(1, 80))], [["x"]] * 80)
    users = [[[int(c)] for c in rng.integers(0, 80, rng.integers(1, 9))] for _ in range(60)]
    records = [reference.at_levels(taxonomy, queries, 5, similarity) for queries in users]
    assert groups_of(categories_of(users, taxonomy, 5, similarity), 4) == reference.group(records, 4, similarity)


def test_users_who_have_all_categories_are_told_apart_by_how_often() -> None:
    """Everybody has both categories: as sets all are alike, and the lowest users are joined."""
    from querycloak.knowledge.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_parents([-1, 0, 0], [["top"], ["tea"], ["cars"]])
    tea, cars = [[1]] * 5 + [[2]], [[2]] * 5 + [[1]]
    users = [tea, cars, tea, cars]
    assert groups_of(categories_of(users, taxonomy, 1, "sets"), 2) == [[0, 1], [2, 3]]
    assert groups_of(categories_of(users, taxonomy, 1, "bags"), 2) == [[0, 2], [1, 3]]


@pytest.mark.parametrize("of", [UrlMicroaggregation, WordMicroaggregation])
def test_users_are_compared_by_bags_and_by_sets_as_in_the_paper(of) -> None:
    assert of().similarity == "bags"
    assert of(similarity="sets").similarity == "sets"
    assert of(as_in_paper=True).similarity == "sets"
    assert of(as_in_paper=True, similarity="bags").similarity == "bags"
    with pytest.raises(ParameterError, match="similarity must be"):
        of(similarity="lists")


@pytest.mark.parametrize("as_in_paper", [False, True])
def test_the_similarity_that_is_asked_for_makes_the_groups(as_in_paper) -> None:
    urls = {"tea": "http://tea.example", "sea": "http://sport.example"}
    lots = {
        "a": ["tea"] * 5 + ["sea"],
        "b": ["sea"] * 5 + ["tea"],
        "c": ["tea"] * 5 + ["sea"],
        "d": ["sea"] * 5 + ["tea"],
    }
    rows = [(u, q) for u, qs in lots.items() for q in qs]
    log = QueryLog.of([u for u, _ in rows], [q for _, q in rows], urls=[urls[q] for _, q in rows])
    kinds = {}
    for similarity in SIMILARITIES:
        settings = {"k": 2, "similarity": similarity, "as_in_paper": as_in_paper, "directory": sample_directory()}
        release = qc.anonymize(log, "url-microaggregation", seed=1, **settings)
        tea = int(np.flatnonzero(release.log.queries == "tea")[0])
        rows_of_tea = np.bincount(release.log.user[release.log.query == tea], minlength=4)
        kinds[similarity] = len(set(rows_of_tea.tolist()))
    assert kinds == {"bags": 2, "sets": 1}  # those who ask for tea together; or one of each in both groups


def test_a_category_counts_once_for_a_query_with_several_words_in_it() -> None:
    from querycloak.knowledge.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_parents([-1, 0, 1, 1], [["top"], ["drinks"], ["tea"], ["coffee"]])
    users = [[[2, 3]], [[2], [3]]]  # one query about both; two queries about one each
    found = categories_of(users, taxonomy, 2, "bags")
    assert found.shared_with(0).tolist() == [3, 3]
    assert found.shared_with(1).tolist() == [3, 4]
