from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import QueryLog
from querycloak.mapping import Mapper, QueryConcepts, map_log

MODES = ["segments", "phrases"]


@pytest.fixture(scope="module", params=MODES)
def wordnet_mapper(request) -> Mapper:
    return Mapper(load_wordnet(), request.param)


@pytest.fixture(scope="module")
def sports() -> Mapper:
    """The part of the Open Directory in Batet et al. 2013, Examples 1 and 2."""
    paths = [
        "Sports",
        "Water Sports",
        "Swimming and Diving",
        "Windsurfing",
        "Regional",
        "Europe",
        "Regions",
        "Mediterranean",
    ]
    parents = [-1, 0, 1, 2, 2, 0, 5, 6, 7]
    return Mapper(Taxonomy.from_parents(parents, [["Top"], *([label] for label in paths)]))


def test_example_1_and_2_of_batet(sports):
    assert sports.map_query("diving in the Mediterranean").labels == ["Swimming and Diving", "Mediterranean"]
    assert sports.map_query("windsurfing in the Mediterranean").labels == ["Windsurfing", "Mediterranean"]
    assert sports.taxonomy.path(sports.concepts("windsurfing")[0]) == "Top/Sports/Water Sports/Windsurfing"


@pytest.mark.parametrize(
    "query", ["diving in the Mediterranean", "DIVING IN THE MEDITERRANEAN", "diving in the mediterranean"]
)
def test_diving(wordnet_mapper, query):
    trace = wordnet_mapper.map_query(query)
    assert trace.phrases == ["diving", "the mediterranean"]
    assert trace.labels == ["diving", "Mediterranean"]


@pytest.mark.parametrize("query", ["stores offering the new Apple phones", "stores offering the new apple phones"])
def test_stores(wordnet_mapper, query):
    trace = wordnet_mapper.map_query(query)
    assert trace.phrases == ["stores", "the new apple phones"]
    assert trace.labels[0] == "shop"
    assert trace.labels[-1] == "telephone"
    assert "new" in trace.dropped


def test_windsurfing_is_not_in_wordnet(wordnet_mapper):
    trace = wordnet_mapper.map_query("windsurfing in the Mediterranean")
    assert trace.phrases == ["windsurfing", "the mediterranean"]
    assert trace.units[0] == ("windsurfing", -1)
    assert trace.labels == ["Mediterranean"]


@pytest.mark.parametrize(
    "query", ["exciting water sports", "water sport", "this water sports", "Water Sports", "EXCITING WATER SPORT"]
)
def test_water_sports(wordnet_mapper, query):
    assert wordnet_mapper.map_query(query).labels == ["water sport"]


@pytest.mark.slow
def test_the_modes_differ():
    query = "cheap hotels san francisco airport"
    assert Mapper(load_wordnet(), "segments").map_query(query).labels == ["hotel", "San Francisco", "airport"]
    assert Mapper(load_wordnet(), "phrases").map_query(query).labels == ["airport"]


@pytest.fixture(scope="module")
def segments() -> Mapper:
    return Mapper(load_wordnet(), "segments")


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("statue of liberty", ["Statue of Liberty"]),
        ("free software", ["software"]),
        ("how to make chocolate cake", ["chocolate cake"]),
        ("www.animals.com", ["animal"]),
        ("swim", ["swimming"]),
        ("knives and geese", ["knife", "goose"]),
        ("jaguar -cat", ["jaguar"]),
        ("it is in us", []),
        ("42", []),
        ("", []),
        ("\u4e2d\u6587", []),
    ],
)
def test_segments(segments, query, labels):
    assert segments.map_query(query).labels == labels
    assert segments.concepts(query) == segments.map_query(query).concepts


def test_every_step_is_shown(segments):
    steps = dict(segments.explain("Stores offering the new Apple phones"))
    assert list(steps) == [
        "words",
        "tags",
        "noun phrases",
        "without stop words",
        "stems",
        "concepts (segments)",
        "dropped words",
    ]
    assert steps["tags"] == ["stores/NNS offering/NN the/DT new/JJ apple/NN phones/NNS"]
    assert steps["without stop words"] == ["stores", "new apple phones"]
    assert steps["stems"] == ["store", "new appl phone"]
    assert steps["concepts (segments)"][0].endswith("/ mercantile establishment / shop (by singular)")
    assert steps["dropped words"] == ["offering new"]
    assert dict(segments.explain("www.animals.com"))["site"] == ["animals.com"]
    assert dict(segments.explain("windsurfing"))["concepts (segments)"] == ["windsurfing → no concept"]


def test_sites_of_a_directory_stand_for_their_category():
    directory = SiteDirectory.of(
        ["http://www.kings.com/", "tenor.org"], ["Top/Games/Chess", "Top/Arts/Opera"], taxonomy=None
    )
    mapper = Mapper(directory.taxonomy, directory=directory)
    queries = ["opera", "www.kings.com", "chess.com and games", "www.unknown.com", "kings.com"]
    found = mapper.map_queries(queries)
    shown = [[directory.taxonomy.label(c) if c >= 0 else "-" for c in found.of(q)] for q in range(len(queries))]
    assert shown == [["Opera"], ["Chess"], ["Chess", "Games"], ["-"], ["Chess"]]
    assert [list(mapper.concepts(query)) for query in queries] == [found.of(q) for q in range(len(queries))]
    assert "instead of its words" in mapper.explain("kings.com")[0][1][0]


def test_a_foreign_directory_is_refused():
    directory = SiteDirectory.of(["kings.com"], ["Top/Games"])
    with pytest.raises(ParameterError, match="directory"):
        Mapper(Taxonomy.from_parents([-1], [["Top"]]), directory=directory)


def test_an_unknown_mode_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'phrases'"):
        Mapper(Taxonomy.from_parents([-1], [["Top"]]), "phrase")


def test_map_queries_and_log(segments):
    found = segments.map_queries(pl.Series(["diving in the mediterranean", "42", "chess"]))
    assert isinstance(found, QueryConcepts)
    assert found.start.tolist() == [0, 2, 3, 4]
    assert found.mapped().tolist() == [True, False, True]
    assert (found.start.dtype, found.concept.dtype) == (np.int64, np.int32)
    log = QueryLog.of(
        ["ann", "ann", "bob", "bob"],
        ["chess", "chess", "42", "diving in the mediterranean"],
        times=[1, 1, 2, 3],
        urls=["a.com", "b.com", None, None],
    )
    concepts = map_log(log, segments)
    assert concepts.row.tolist() == [0, 2, 3, 3]
    assert concepts.user.tolist() == [0, 1, 1, 1]
    assert concepts.query.tolist() == [0, 1, 2, 2]
    assert [segments.taxonomy.label(c) if c >= 0 else None for c in concepts.concept.tolist()] == [
        "chess",
        None,
        "diving",
        "Mediterranean",
    ]


def test_an_empty_log(segments):
    concepts = map_log(QueryLog.of([], []), segments)
    assert len(concepts) == 0
    assert segments.map_queries([]).mapped().tolist() == []


def test_the_same_queries_again_cost_nothing(segments):
    queries = pl.Series(["chess", "opera"])
    assert segments.map_queries(queries) is segments.map_queries(queries)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr("querycloak.mapping.mapper._QUERIES_KEPT", 3)
    monkeypatch.setattr("querycloak.mapping.lexicon._WORDS_KEPT", 3)
    mapper = Mapper(Taxonomy.from_parents([-1, 0], [["Top"], ["chess"]]))
    for i in range(10):
        assert mapper.concepts(f"chess x{i}x y{i}y") == (1,)
        assert len(mapper._known) <= 3
        assert len(mapper.lexicon.words) <= 3
    assert len(mapper.map_queries([f"chess z{i}" for i in range(10)])) == 10
    assert len(mapper._known) <= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "chess " * 170_000,
        "a" * 1_000_000,
        "cheap " * 170_000,
        "the " * 250_000,
        "a." * 500_000,
        "1," * 500_000,
        "-" * 1_000_000,
        "x'" * 500_000,
        "\u0301" * 500_000,
    ],
    ids=["nouns", "one word", "adjectives", "stop words", "dots", "numbers", "dashes", "apostrophes", "accents"],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_query_of_a_megabyte(mode, query):
    mapper = Mapper(Taxonomy.from_parents([-1, 0, 0], [["Top"], ["chess"], ["chess board"]]), mode)
    start = time.process_time()
    assert mapper.concepts(query)
    assert time.process_time() - start < 20  # linear: a second or so; quadratic would take hours


@given(st.text())
def test_any_text_maps(text):
    for mode in MODES:
        mapper = _small(mode)
        found = mapper.concepts(text)
        assert len(found) >= 1
        assert all(-1 <= c < len(mapper.taxonomy) for c in found)
        assert mapper.map_query(text).concepts == found
        assert mapper.explain(text)


def _small(mode, made={}):  # noqa: B006 - made once
    if mode not in made:
        labels = [["Top"], ["chess", "chess board"], ["Mediterranean"], ["vitamin C"], ["\u4e2d\u6587"]]
        made[mode] = Mapper(Taxonomy.from_parents([-1, 0, 0, 0, 0], labels), mode)
    return made[mode]
