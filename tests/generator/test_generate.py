import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference.generated_log import broken_rules
from sample_worlds import FOOD, digest, make

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.generator._events_kernels import NAMED
from querycloak.generator.brands import BRANDS, FORMS
from querycloak.generator.generated_log import generate
from querycloak.generator.people import KINDS, People
from querycloak.generator.phrases import FUNCTION_WORDS
from querycloak.generator.settings import Generate
from querycloak.generator.world import build_terms
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.randomness import Randomness


@given(
    users=st.integers(1, 12),
    more=st.integers(0, 150),
    seed=st.integers(0, 2**32),
    clicks=st.booleans(),
    order=st.sampled_from(["user", "time"]),
    concepts=st.sampled_from([None, 1, 3, 50]),
    days=st.sampled_from([1, 92]),
)
@example(users=11, more=81, seed=3444, clicks=False, order="user", concepts=50, days=1)  # more than a day's worth
@settings(max_examples=60, deadline=None)
def test_counts_are_exact_and_rules_hold(users, more, seed, clicks, order, concepts, days):
    made = make(
        FOOD,
        seed,
        users=users,
        queries=users + more,
        clicks=clicks,
        order=order,
        concepts_per_user=concepts,
        days=days,
        personal=0.1,
    )
    log = made.log
    assert int(log.event.sum()) == users + more == len(made.kind)
    assert len(log.users) == log.users.n_unique() == users
    assert np.array_equal(np.unique(log.user), np.arange(users))
    assert len(log.queries) == log.queries.n_unique() == int(log.query.max()) + 1
    assert log.queries.null_count() == 0
    assert np.array_equal(np.unique(made.concepts.row), np.flatnonzero(log.event))
    assert broken_rules(made, days) == []


@st.composite
def trees(draw):
    """Any small tree, with labels that people may put into a taxonomy."""
    size = draw(st.integers(2, 30))
    parents = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, size)]
    label = st.sampled_from(["tea", "Green_Tea", "tea  pot", "thé", "茶", "1984", "at-home", "o'clock", "C++", "—"])
    return Taxonomy.from_parents(parents, [["root"], ["leaf"], *([draw(label), draw(label)] for _ in range(2, size))])


@given(taxonomy=trees(), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_any_taxonomy_gives_a_log(taxonomy, seed):
    made = make(taxonomy, seed, users=3, queries=60, personal=0.1, categories=True)
    queries = made.log.queries.to_list()
    assert int(made.log.event.sum()) == 60
    assert all(query == " ".join(query.split()) and query for query in queries)
    assert made.sites.host.n_unique() == len(made.sites.host)
    assert broken_rules(made, 92) == []


def test_one_user_one_query():
    log = make(FOOD, users=1, queries=1, clicks=False).log
    assert (len(log), len(log.users), len(log.queries)) == (1, 1, 1)


def test_a_taxonomy_of_one_concept():
    made = make(Taxonomy.from_parents([-1], [["tea"]]), users=2, queries=400, common=0, named=0, personal=0)
    assert set(made.concepts.concept.tolist()) == {0}


def test_more_users_than_queries_are_refused():
    with pytest.raises(ParameterError, match=r"Generate\.users must be at most the number of queries"):
        Generate(users=3, queries=2)


def test_shares_that_leave_nothing_are_refused():
    with pytest.raises(ParameterError, match="must be a number < 1"):
        Generate(common=0.6, personal=0.5)


def test_same_seed_same_log_and_another_seed_another():
    first, again, other = (digest(make(FOOD, seed, users=20, queries=500)) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_compiled_and_interpreted_kernels_agree():
    """The kernel is run as plain Python in a process of its own: it must give the same log, byte for byte."""
    code = (
        "from sample_worlds import FOOD, digest, make;"
        "print(digest(make(FOOD, 3, users=15, queries=300, personal=0.05)),"
        "digest(make(FOOD, 3, users=15, queries=300, concepts_per_user=2)))"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    ours = [
        digest(make(FOOD, 3, users=15, queries=300, personal=0.05)),
        digest(make(FOOD, 3, users=15, queries=300, concepts_per_user=2)),
    ]
    assert run.stdout.split() == ours


def test_words_come_from_labels_function_words_and_personal_patterns():
    """Every word of a query that is not personal is a word of a label or around one, or the query is a site."""
    wordnet = load_wordnet()
    made = make(wordnet, users=300, queries=20_000, personal=0.05, misspelt=0)
    known = {word for labels in wordnet.labels for label in labels for word in label.lower().split()}
    hosts = set(made.sites.host.to_list())
    personal = set(made.log.query[made.log.event][made.kind == 2].tolist())
    named = set(made.log.query[made.log.event][made.kind == NAMED].tolist())
    checked = 0
    for code, query in enumerate(made.log.queries.to_list()):
        if code in personal | named or query.removeprefix("www.") in hosts:
            continue
        checked += 1
        assert all(word in known or word in FUNCTION_WORDS for word in query.split())
    assert checked > 5_000
    assert len(personal) > 200
    typed = {form.before + name + form.after for form in FORMS for name in BRANDS}
    assert {made.log.queries[code] for code in named} <= typed
    assert not known & {word for text in typed for word in text.split()} - {"mail", "search", "com"}


def test_truth_names_concepts_whose_label_is_in_the_query():
    wordnet = load_wordnet()
    made = make(wordnet, users=50, queries=3_000, personal=0, common=0, named=0, misspelt=0)
    queries = made.log.queries.gather(made.concepts.query).to_list()
    for query, concept in zip(queries, made.concepts.concept.tolist(), strict=True):
        assert any(label.lower() in query for label in wordnet.labels[concept])


def test_topics_hold_all_queries():
    wordnet = load_wordnet()
    names = "disease, scientific discipline, sport, social event"
    made = make(wordnet, users=30, queries=3_000, topics=names, personal=0, spread=0)
    roots = [wordnet.find(name.strip())[0] for name in names.split(",")]
    inside = [any(wordnet.covers(root, c) for root in roots) for c in np.unique(made.concepts.concept).tolist()]
    assert all(inside)
    assert all(any(wordnet.covers(r, c) for c in np.unique(made.concepts.concept).tolist()) for r in roots)
    assert np.bincount(made.log.user[made.log.event]).tolist() == [100] * 30


def test_an_unknown_topic_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"no topic 'fruitt'\. Did you mean 'fruit'"):
        make(FOOD, topics="fruitt")


def test_concepts_per_user_are_limited():
    made = make(load_wordnet(), users=40, queries=4_000, concepts_per_user=7, personal=0)
    pairs = {tuple(pair) for pair in zip(made.concepts.user.tolist(), made.concepts.concept.tolist(), strict=True)}
    assert max(np.bincount([user for user, _ in pairs])) <= 7


def test_users_keep_to_their_interests():
    """Own queries lie in the subtrees of the user's interests, but for those that drifted."""
    wordnet = load_wordnet()
    made = make(wordnet, users=60, queries=6_000)
    own = made.kind[np.searchsorted(np.flatnonzero(made.log.event), made.concepts.row)] == 0
    truth = made.concepts
    held = [
        any(wordnet.covers(int(a), concept) for a in made.interests[user] if a >= 0)
        for user, concept in zip(truth.user[own].tolist(), truth.concept[own].tolist(), strict=True)
    ]
    assert 0.6 < np.mean(held) < 1
    assert make(FOOD, interests=20, users=30, queries=30).interests.shape == (30, 39)


def test_rows_are_in_the_order_asked_for():
    by_user, by_time = (make(FOOD, users=20, queries=500, order=order).log for order in ("user", "time"))
    assert (np.diff(by_user.user) >= 0).all()
    assert (np.diff(by_time.time) >= 0).all()
    assert (np.diff(by_user.users.cast(int).to_numpy()) > 0).all()
    assert by_user.users.sort().to_list() == by_time.users.sort().to_list()


def test_clicks_stand_in_the_directory_and_ranks_rise():
    made = make(load_wordnet(), users=100, queries=5_000)
    log = made.log
    listed = set(made.directory()["site"].to_list())
    assert {url.removeprefix("http://") for url in log.urls.to_list()} <= listed
    assert made.directory()["site"].n_unique() == len(made.sites.host)
    assert ((log.rank >= 1) == (log.url >= 0)).all()
    same = ~log.event[1:]
    assert (np.diff(log.rank)[same] > 0).all()


def test_categories_are_paths_of_the_taxonomy():
    log = make(FOOD, users=5, queries=200, categories=True, clicks=False, personal=0).log
    below = {"Top" + path.removeprefix("food") for path in FOOD.paths}
    assert set(log.categories.to_list()) <= below
    assert (log.category >= 0).all()


def test_repr_shows_no_query_and_no_user():
    made = make(FOOD, users=2, queries=5, clicks=False)
    assert repr(made).startswith("GeneratedLog(5 query events, QueryLog(5 rows, 2 users,")


def test_well_known_sites_are_about_no_concept_unless_the_taxonomy_is_a_directory():
    for listed in (False, True):
        made = make(FOOD, users=40, queries=2_000, named=0.5, categories=listed)
        event = np.searchsorted(np.flatnonzero(made.log.event), made.concepts.row)
        named = made.kind[event] == NAMED
        assert named.sum() > 300
        assert ((made.concepts.concept[named] >= 0) == listed).all()


def test_who_names_a_site_finds_it_first():
    made = make(load_wordnet(), users=100, queries=10_000, named=0.5, next_pages=0)
    log = made.log
    named = np.zeros(len(log), dtype=np.bool_)
    named[np.flatnonzero(log.event)[made.kind == NAMED]] = True
    first = np.flatnonzero(named & (log.rank == 1))
    assert len(first) > 500
    for row in first.tolist():
        name = log.queries[int(log.query[row])].removeprefix("http://").removeprefix("www.").split()[0]
        assert log.urls[int(log.url[row])] == f"http://www.{name.removesuffix('.com')}.com"


def test_limited_users_and_topics_name_no_site():
    assert not (make(FOOD, users=9, queries=900, concepts_per_user=2).kind == NAMED).any()
    assert not (make(FOOD, users=9, queries=900, topics="fruit").kind == NAMED).any()


def test_personal_queries_are_nobodys():
    wordnet = load_wordnet()
    terms = build_terms(wordnet, Randomness(seed=1))
    people = People.draw(200, wordnet, terms, Randomness(seed=2))
    texts = {kind: [people.text(i, 4 * user) for user in range(200)] for i, kind in enumerate(KINDS)}
    known = {word for text in terms.text.to_list() for word in text.split()}
    assert not any(word in known for name in texts["name"] for word in name.split())
    assert all(number[4:].startswith("555-01") and len(number) == 12 for number in texts["phone"])
    assert all(mail.split("@")[1] in {"example.com", "example.org", "example.net"} for mail in texts["mail"])
    assert all(number[:3] in {"000", "666"} for number in texts["social security"])
    assert all(_luhn(number) for number in texts["card"])


def _luhn(digits):
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 * (d > 9) for d in doubled) % 10 == 0


def test_unseeded_logs_differ():
    first, second = (generate(Generate(users=5, queries=100), FOOD, Randomness()) for _ in range(2))
    assert digest(first) != digest(second)
