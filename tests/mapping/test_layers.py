"""Queries read in layers: sites and brands, labels in their sense, neighbours, spelling; certain or guess."""

from __future__ import annotations

import pickle
from time import perf_counter

import pytest

from querycloak.knowledge.named import load_taxonomy
from querycloak.knowledge.topic_tree import load_topic_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper, layer_tables
from querycloak.mapping.layers import GUESSES
from querycloak.mapping.trace import REASONS


@pytest.fixture(scope="module")
def layers() -> Mapper:
    return Mapper(load_wordnet())


@pytest.fixture(scope="module")
def certain() -> Mapper:
    return Mapper(load_wordnet(), "certain")


@pytest.fixture(scope="module")
def topics() -> Mapper:
    return Mapper(load_topic_tree().taxonomy)


def units(mapper: Mapper, query: str) -> list[tuple[str, str | None, str]]:
    """Return (words, label of the concept, layer) of each unit."""
    tree = mapper.taxonomy
    return [
        (" ".join(w.text for w in c.words[u.start : u.end]), tree.label(u.concept) if u.concept >= 0 else None, u.layer)
        for c, found in mapper.reader.read(query)
        for u in found
    ]


def below(mapper: Mapper, query: str, above: str) -> bool:
    """Tell whether every concept of a query is at or below the first sense of a label."""
    concepts = mapper.concepts(query)
    top = mapper.taxonomy.concept(above)
    return all(c >= 0 and mapper.taxonomy.covers(top, c) for c in concepts)


@pytest.mark.parametrize(
    ("query", "above", "topic"),
    [
        ("yahoo", "web site", "Internet/Search & Portals"),
        ("nike", "shoe", "Fashion & Beauty/Shoes"),
        ("hummer", "motor vehicle", "Vehicles/Cars"),
        ("sam's club", "mercantile establishment", "Shopping/Stores & Products"),
        ("men", "person", "Society/People/Men"),
        ("chicken pox", "disease", "Health/Diseases & Conditions"),
        ("tom cruise", "performer", "Entertainment/Celebrities"),
        ("ebay", "auction", "Shopping/Auctions"),
        ("myspace", "web site", "Internet/Social Networks"),
        ("windsurfing", "water sport", "Sports & Outdoors/Water Sports & Swimming"),
        ("jaguar car", "car", "Vehicles/Cars"),
        ("jaguar animal", "animal", "Animals & Pets"),
        ("python tutorial", "programming language", "Computers/Software/Programming"),
        ("apple pie", "pie", "Food & Drink/Baking & Desserts"),
        ("apple store", "computer", "Computers/Hardware"),
    ],
)
def test_what_was_read_wrongly_before(layers, topics, query, above, topic):
    if query == "ebay":  # the sale, not the game of bridge, which is the first sense
        assert units(layers, query) == [("ebay", "auction", "brand")]
    else:
        assert below(layers, query, above)
    tree = load_topic_tree()
    assert all(tree.taxonomy.covers(tree.node[topic], c) for c in topics.concepts(query))


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("women", "woman"),
        ("savings bank account", "savings bank"),
        ("river bank erosion", "riverbank"),
        ("mouse cheese trap", "mouse"),
        ("java island volcano", "Java"),
        ("foot ball scores", "football"),
    ],
)
def test_the_first_unit_has_the_sense_that_fits(layers, query, label):
    assert units(layers, query)[0][1] == label


def test_senses_follow_their_context(layers):
    wordnet = load_wordnet()
    insect, game = wordnet.concept("insect"), wordnet.concept("sport")
    assert wordnet.covers(insect, layers.concepts("cricket grasshopper insects")[0])
    assert wordnet.covers(game, layers.concepts("cricket world cup")[0])


def test_brands_need_their_context(layers):
    assert units(layers, "apple")[0][1:] == ("apple", "label")
    assert units(layers, "apple computer")[0][2] == "brand"
    assert units(layers, "the gap between rich and poor")[0][2] != "brand"


def test_two_words_that_are_one(layers):
    assert units(layers, "chicken pox") == [("chicken pox", "chickenpox", "label")]
    assert [label for _, label, _ in units(layers, "car pet")] == ["car", "pet"]


def test_addresses(layers, certain, topics):
    assert units(layers, "www.yahoo.com")[0][2] == "site"
    assert units(layers, "http://mail.yahoo.co.uk/in?x=1")[0][2] == "site"
    assert units(layers, "www.zxqvwk.com") == [("zxqvwk", "web site", "site")]
    assert units(layers, "206.9.168.11/a/b.htm")[0][1:] == ("web site", "site")
    assert units(layers, "ca.gov")[0][1] == "government"
    assert units(layers, "cs.someplace.edu")[0][1] == "educational institution"
    assert units(certain, "wildanimals.com") == [("wildanimals", "web site", "site")]
    assert units(layers, "wildanimals.com")[0][1:] == ("animal", "glued")
    assert units(layers, "wild-animals.com")[-1][1:] == ("animal", "address")  # a word in the name of a site is a guess
    assert units(certain, "wild-animals.com") == [("wild animals", "web site", "site")]


def test_what_nobody_knows_stays_without_a_concept(layers):
    for query in ("zxqvwk", "qqqq wwww", "42", "?!", "", "   ", "the", "a b c"):
        assert max(layers.concepts(query)) == -1, query


def test_guesses_are_marked_and_may_be_left_out(layers, certain):
    queries = {
        "univeristy": "spelling",
        "cheapflights": "glued",
        "reebok sneakers zoloft paxil": None,
        "tucson albuquerque": None,
        "denise fitzpatrick": "name",
    }
    for query, layer in queries.items():
        found = {unit[2] for unit in units(layers, query) if unit[1] is not None}
        assert found, query
        if layer:
            assert found == {layer}
            assert max(certain.concepts(query)) == -1
    everything = [unit for query in queries for unit in units(certain, query)]
    assert not {unit[2] for unit in everything} & GUESSES
    assert set(REASONS) > GUESSES


def test_a_name_is_not_read_as_a_noun_against_its_use(layers, certain):
    for query, never in (("oracle", "prophet"), ("dell", "dell"), ("batman", "batman"), ("nirvana lyrics", "nirvana")):
        assert never not in [label for _, label, _ in units(layers, query)], query
        assert never not in [label for _, label, _ in units(certain, query)], query


def test_a_first_and_a_last_name_are_a_person(layers, certain):
    for query in ("shannon tweed", "david hare", "jenny mccarthy", "kenneth hagin", "tom skilling", "melissa qzrtvw"):
        assert units(layers, query) == [(query, "person", "name")], query
        assert "name" not in [layer for _, _, layer in units(certain, query)]
    for query in ("rose garden", "london england", "virginia law", "paris hotels", "houston texas", "grant money"):
        assert "name" not in [layer for _, _, layer in units(layers, query)], query
    assert units(layers, "david") == [("david", "person", "label")]  # one of several of that name


@pytest.mark.slow
def test_odd_input_is_read_without_a_fault(layers, topics):
    odd = [
        "word " * 10_000,
        "x" * 100_000,
        "😀 😀 pizza 😀",
        "שלום עולם",
        "\u202eevil\u202c text",
        "a\0b\0pizza",
        "\x1b[31mred",
        "." * 5_000,
        "www." * 500,
        "1.2.3.4." * 400,
        "-" * 3_000 + "a",
    ]
    for query in odd:
        assert len(layers.concepts(query)) >= 1
        assert len(topics.concepts(query)) >= 1
    assert "pizza" in [label for _, label, _ in units(layers, odd[2])]


def test_one_query_reads_alike_in_any_case_order_and_column(layers):
    queries = ["Jaguar Car", "jaguar car", "JAGUAR  car"]
    assert len({layers.concepts(query) for query in queries}) == 1
    found = layers.map_queries(["nike", "yahoo", "nike shoes"])
    assert [tuple(found.of(q)) for q in range(3)] == [layers.concepts(q) for q in ("nike", "yahoo", "nike shoes")]


def test_another_taxonomy_is_read_by_its_labels():
    from querycloak.knowledge.taxonomy import Taxonomy

    tree = Taxonomy.from_parents([-1, 0, 0], [["top"], ["yahoo"], ["sport"]])
    assert Mapper(tree).concepts("yahoo sports") == (1, 2)
    assert Mapper(tree, "certain").concepts("yahoo sports") == Mapper(tree, "segments").concepts("yahoo sports")


@pytest.mark.slow
@pytest.mark.parametrize("between", [" ", ", ", " www.example.com "])
def test_a_query_of_many_words_is_read_in_linear_time(layers: Mapper, between: str) -> None:
    words = ["apple", "jaguar", "target", "bank"] * 2_500
    start = perf_counter()
    layers.reader.read(between.join(words))
    assert perf_counter() - start < 5.0  # 30 s and more where every word looks at all others


@pytest.mark.parametrize("name", ["wordnet", "topics"])
def test_a_taxonomy_from_another_process_is_read_in_layers(name: str) -> None:
    copy = pickle.loads(pickle.dumps(load_taxonomy(name)))
    assert copy is load_taxonomy(name)
    assert Mapper(copy).mapping == "layers"


def test_words_of_an_endless_stream_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_tables, "WORDS_KEPT", 8)
    mapper = Mapper(load_wordnet())
    mapper.reader.read(" ".join(f"zorgle{i}x anna{i}x" for i in range(30)))
    tables = mapper.reader.tables
    assert max(map(len, (tables._guesses, tables._names, tables._candidates))) <= 8
