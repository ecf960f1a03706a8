from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import click_categories as reference

from querycloak.errors import InputError, ParameterError
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.vectors import WordVectors, load_vectors, quantised
from querycloak.logs.query_log import QueryLog
from querycloak.mapping import click_categories
from querycloak.mapping._click_choices import LEAST_HELD_OUT, _threshold
from querycloak.mapping._ridge import LENGTH, directions, gram, scores, solve, weights
from querycloak.mapping.categories import query_categories
from querycloak.mapping.click_categories import learn_from_clicks, votes_of

SITES = SiteDirectory.of(
    ["arts.example", "film.example", "games.example", "root.example"], ["Top/Arts", "Top/Arts/Film", "Top/Games", "Top"]
)
ARTS, GAMES = SITES.taxonomy.concept("Top/Arts"), SITES.taxonomy.concept("Top/Games")
WORDS = [f"{kind}{i}" for kind in ("paint", "chess") for i in range(30)]


@pytest.fixture(scope="module")
def vectors():
    """Words of painting point one way, words of chess another, with some noise."""
    noise = np.random.default_rng(1).normal(size=(60, 8)) / 4
    noise[:30, 0] += 1
    noise[30:, 1] += 1
    return WordVectors({word: i for i, word in enumerate(WORDS)}, quantised(noise), "")


def clicked_log(seed=1, users=30, wrong=0.1):
    """Each user asks pairs of words; most clicks go to the right site, and every fifth query has none."""
    draw = random.Random(seed)
    rows = []
    for user in range(users):
        for _ in range(20):
            kind = draw.choice(["paint", "chess"])
            text = f"{kind}{draw.randrange(30)} {kind}{draw.randrange(30)}"
            site = {"paint": draw.choice(["arts", "film"]), "chess": "games"}[kind]
            site = draw.choice(["arts", "games"]) if draw.random() < wrong else site
            rows.append((f"u{user}", text, None if draw.random() < 0.2 else f"http://{site}.example/"))
    return rows


def log_of(rows):
    users, queries, urls = zip(*rows, strict=True)
    return QueryLog.of(users, queries, urls=urls)


def test_words_of_clicked_queries_tell_the_top_category_of_others(vectors):
    learned = learn_from_clicks(log_of(clicked_log()), SITES, vectors)
    texts = ["paint3", "the paint4, paint5!", "chess7 chess8", "qwxz", "", "the"]
    assert learned.categories(texts).tolist() == [ARTS, ARTS, GAMES, -1, -1, -1]
    assert learned.categories(pl.Series(texts)).dtype == np.int32
    assert learned.categories([]).tolist() == []
    assert learned.learned.right >= 0.6
    assert repr(learned) == f"ClickCategories({learned.learned.votes:,} votes)"


def test_the_order_of_rows_and_names_of_users_change_nothing(vectors):
    rows = clicked_log(wrong=0.6)
    one = learn_from_clicks(log_of(rows), SITES, vectors)
    random.Random(3).shuffle(rows)
    other = learn_from_clicks(log_of([(f"z{user}", text, url) for user, text, url in rows]), SITES, vectors)
    assert np.array_equal(one._choice.weights, other._choice.weights)
    assert one._choice.least == other._choice.least
    assert one.learned == other.learned


click = st.tuples(st.sampled_from("uvw"), st.sampled_from("abc"), st.sampled_from([ARTS, GAMES]))


@given(st.lists(click, max_size=12))
def test_one_vote_per_person_and_query_like_the_reference(given_clicks):
    site = {ARTS: "film.example", GAMES: "games.example"}
    log = QueryLog.of(
        [user for user, _, _ in given_clicks],
        [query for _, query, _ in given_clicks],
        times=[10_000 * i for i in range(len(given_clicks))],  # each is an event of its own
        urls=[site[category] for _, _, category in given_clicks],
    )
    queries = log.queries.to_list()
    found = {(queries[q], c): n for q, c, n in votes_of(log, SITES).iter_rows()} if given_clicks else {}
    assert found == dict(reference.votes(given_clicks))


def test_a_site_of_the_root_teaches_nothing():
    log = QueryLog.of(["u", "u"], ["a", "b"], urls=["root.example", "film.example"])
    assert votes_of(log, SITES).select("category", "votes").rows() == [(ARTS, 1)]


def test_where_clicks_are_random_it_abstains(vectors):
    learned = learn_from_clicks(log_of(clicked_log(wrong=1.0)), SITES, vectors, precision=0.9)
    assert (learned.categories(WORDS) == -1).all()
    assert "Nothing could be learned" in learned.learned.says


def test_a_higher_precision_answers_less_and_is_kept_by_texts_that_were_never_seen(vectors):
    asked = [(u, t, url) for u, t, url in clicked_log(seed=5, users=120, wrong=0.5) if url]
    truth = {t: GAMES if "games" in url else ARTS for _, t, url in asked[:600]}
    unseen = log_of([row for row in asked if row[1] not in truth])
    shares = []
    for precision in (0.5, 0.8, 0.95):
        answer = learn_from_clicks(unseen, SITES, vectors, precision=precision).categories(list(truth))
        shares.append((answer >= 0).mean())
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("rows", [[("u", "paint1", None)], [("u", "paint1", "arts.example")] * 3, []])
def test_too_little_to_learn_from(vectors, rows):
    log = log_of(rows) if rows else QueryLog.of([], [], urls=[])
    learned = learn_from_clicks(log, SITES, vectors)
    assert learned.categories(["paint1"]).tolist() == [-1]


def test_what_cannot_be_learned_is_refused(vectors):
    with pytest.raises(InputError, match="no clicked URLs"):
        learn_from_clicks(QueryLog.of(["u"], ["a"]), SITES, vectors)
    for wrong in (0.0, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="precision"):
            learn_from_clicks(log_of(clicked_log()), SITES, vectors, precision=wrong)


def test_of_many_examples_those_with_the_smallest_digest_are_taken(vectors, monkeypatch):
    rows = clicked_log(users=100)
    monkeypatch.setattr(click_categories, "MOST_EXAMPLES", 300)
    one = learn_from_clicks(log_of(rows), SITES, vectors)
    other = learn_from_clicks(log_of(rows[::-1]), SITES, vectors)
    assert one.learned.held_out < one.learned.votes / 5
    assert np.array_equal(one._choice.weights, other._choice.weights)


def test_events_without_a_listed_click_are_filled_last(vectors):
    learned = learn_from_clicks(log_of(clicked_log()), SITES, vectors)
    log = QueryLog.of(
        ["u"] * 5,
        ["chess1", "chess2", "chess3", "xyz", "chess2"],
        urls=["arts.example", None, None, None, "unlisted.example"],
    )
    found = query_categories(log, SITES, {"chess3": "film.example"}.get, learned)
    film = SITES.taxonomy.concept("Top/Arts/Film")
    assert found.category.tolist() == [ARTS, GAMES, film, -1, GAMES]
    assert found.learned == 2
    assert query_categories(log, SITES).learned == 0


def test_random_letters_have_no_category():
    draw = random.Random(1)
    letters = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randrange(7, 12))) for _ in range(500)]
    nouns = ["guitar", "violin", "piano", "drum", "chess", "poker", "puzzle", "dice"]
    rows = [
        (f"u{i}", f"{noun} {word}", f"{'arts' if nouns.index(noun) < 4 else 'games'}.example")
        for i in range(10)
        for noun in nouns
        for word in ("shop", "online", "rules", "lessons", "books", "free", "history", "club")
    ]
    learned = learn_from_clicks(log_of(rows), SITES, load_vectors())
    assert (learned.categories(letters) == -1).all()
    assert learned.categories(["violin lessons", "poker online"]).tolist() == [ARTS, GAMES]


small = st.lists(st.tuples(st.lists(st.integers(-127, 127), min_size=3, max_size=3), st.integers(1, 9)), min_size=1)


@given(small, st.randoms(use_true_random=False))
def test_ridge_like_fractions(examples, draw):
    sums = np.array([row for row, _ in examples], np.int64)
    count = np.array([n for _, n in examples], np.int64)
    target = np.array([draw.randrange(2) for _ in examples])
    x = directions(sums)
    assert np.array_equal(x, np.rint(x))
    g, xy = gram(x, count, target, 2)
    exact = (x.astype(np.int64) * count[:, None]).T @ x.astype(np.int64)
    assert np.array_equal(g, exact)
    rows = x.astype(int).tolist()
    expected = np.array(reference.ridge(rows, count.tolist(), target.tolist(), 2, Fraction(0.01)), dtype=np.float64)
    ridge = 0.01 * np.trace(g) / len(g)
    assert solve(g + ridge * np.eye(len(g)), xy) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    w = weights(g, xy, 0.01)
    assert np.array_equal(w, np.rint(w))
    found = scores(x, w)
    assert found.astype(object).tolist() == (x.astype(int).astype(object) @ w.astype(int).astype(object)).tolist()
    assert np.abs(w).max() * LENGTH * len(w) < 2**53  # so that no sum on the way is rounded


scored = st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(1, 40)), max_size=12)


@given(scored, st.sampled_from([0.3, 0.6, 1.0]))
def test_threshold_like_the_reference(rows, precision):
    best, right, count = ([row[i] for row in rows] for i in range(3))
    found = _threshold(np.array(best, float), np.array(right, bool), np.array(count, np.int64), precision)
    assert found == reference.threshold(best, right, count, precision, LEAST_HELD_OUT)
