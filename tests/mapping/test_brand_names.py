"""Brands: what the table says of well-known names, and what is refused in a user's own."""

from __future__ import annotations

from time import process_time

import pytest

from querycloak.errors import InputError
from querycloak.knowledge.brands import ALONE, CONTEXT, brand_concepts, read_brands
from querycloak.knowledge.topic_tree import load_topic_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import brand_names
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.words import clauses, label_text

SHOES = "Fashion & Beauty/Shoes"
NOUNS_THAT_ARE_MEANT_AS_BRANDS = {
    *(
        "yahoo",
        "twitter",
        "yelp",
        "hummer",
        "jeep",
        "corvette",
        "macintosh",
        "cisco",
        "coke",
        "oreo",
        "playboy",
        "trump",
    ),
    *(
        "xerox",
        "zippo",
        "spiegel",
        "energizer",
        "firestone",
        "airstream",
        "gm",
        "nestle",
        "sharpie",
        "tetris",
        "scrabble",
    ),
    *("slipknot", "evanescence", "letterman", "politico", "outlander", "nickelodeon", "jello", "tabasco", "butterball"),
    *("footlocker", "landrover", "escalade", "airbus", "doubletree", "wellpoint", "barilla", "kabbalah", "freemasonry"),
    *("kabbala", "kabala", "ephedra", "skittles", "levis", "tatu", "methadone"),
}
"""One-word names of ours that WordNet has as another thing, and that people type for the brand."""


@pytest.fixture(scope="module")
def brands():
    return load_brands()


def written(tmp_path, *lines):
    path = tmp_path / "mine.tsv"
    path.write_text("# mine\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("query", "topic", "sense"),
    [
        ("yahoo", "Internet/Search & Portals", "portal site#1"),
        ("Nike", SHOES, "shoe#1"),
        ("hummer", "Vehicles/Cars", "sport utility#1"),
        ("sam's club", "Shopping/Stores & Products", "discount house#1"),
        ("SAMS CLUB", "Shopping/Stores & Products", "discount house#1"),
        ("ebay", "Shopping/Auctions", "auction#2"),
        ("e-bay", "Shopping/Auctions", "auction#2"),
        ("myspace", "Internet/Social Networks", "web site#1"),
        ("my space", "Internet/Social Networks", "web site#1"),
        ("tom cruise", "Entertainment/Celebrities", "actor#1"),
        ("apple store", "Computers/Hardware", "personal computer#1"),
        ("bird flu", "Health/Diseases & Conditions/Epidemics & Infections", "influenza#1"),
        ("king kong", "Entertainment/Movies/Film Titles", "movie#1"),
    ],
)
def test_well_known_names_are_always_meant(brands, query, topic, sense):
    brand = brands[" ".join(clauses(query)[0])]
    assert load_topic_tree().taxonomy.path(brand.topic) == f"Top/{topic}"
    assert brand.sense == sense
    assert brand.meant_with(["anything"])


@pytest.mark.parametrize("name", ["apple", "java", "python", "windows", "office", "word", "shell", "jaguar", "aim"])
def test_common_nouns_need_a_word_that_shows_the_brand(brands, name):
    assert brands[name].needs == CONTEXT
    assert not brands[name].meant_with([])
    assert not brands[name].meant_with(["pie", "animal", "coffee", "snake"])


@pytest.mark.parametrize("name", ["target", "gap", "subway", "amazon", "sprint", "monster", "indeed", "wendy"])
def test_other_names_are_the_brand_where_they_are_the_whole_query(brands, name):
    assert brands[name].needs == ALONE
    assert brands[name].meant_with([])
    assert not brands[name].meant_with(["rainforest", "practice", "map"])


@pytest.mark.parametrize(
    ("name", "other"),
    [("apple", "computers"), ("java", "applet"), ("target", "coupons"), ("amazon", "books"), ("jaguar", "dealers")],
)
def test_context_words_show_the_brand(brands, name, other):
    assert brands[name].meant_with(["some", other])


def test_the_table_is_large_and_every_concept_exists():
    table = read_brands()
    assert len(table) >= 1_200
    found = brand_concepts(table, load_wordnet())
    assert [brand.name for brand, concept in zip(table, found, strict=True) if concept < 0] == []


def test_no_noun_of_wordnet_is_taken_for_a_brand_unawares(brands):
    """A one-word name that is a common noun of another topic needs something, or is in the list above."""
    wordnet, tree = load_wordnet(), load_topic_tree()
    medicines = tree.node["Health/Medicines & Pharmacy"]
    nouns = {label for labels in wordnet.labels for label in labels if label.islower() and label.isalpha()}
    taken = {key for key, brand in brands.items() if key in nouns and not brand.needs and brand.topic != medicines}
    assert taken - NOUNS_THAT_ARE_MEANT_AS_BRANDS == set()
    stops = {key for key, brand in brands.items() if STOP_WORDS.issuperset(key.split()) and not brand.needs}
    assert stops == {"at and t", "a t and t", "d and d"}


def test_loading_takes_milliseconds():
    """About 20 ms of one slow core; three times the aim of 30 ms, so that a busy machine does not fail."""

    def seconds():
        start = process_time()
        brand_names.keyed_brands(read_brands(), "brands.tsv")
        return process_time() - start

    assert min(seconds() for _ in range(5)) < 0.09


def test_few_adult_sites(brands):
    adult = load_topic_tree().node["Adult"]
    assert len({brand.line for brand in brands.values() if brand.topic == adult}) <= 10


def test_the_table_cannot_be_changed(brands):
    with pytest.raises(TypeError):
        brands["mine"] = brands["nike"]


def test_a_table_of_ones_own(tmp_path):
    table = load_brands(written(tmp_path, f"Zapatón\tzapaton's, zapa-ton\t{SHOES}\tshoe#1\talone\tshoe, shoes"))
    assert list(table) == ["zapaton", "zapa ton"]
    assert table["zapaton"].meant_with([])
    assert table["zapa ton"].meant_with(["red", "shoes"])
    assert not table["zapa ton"].meant_with(["red"])
    assert label_text("Zapatón") in table


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        (["zap\t\t" + SHOES], r"mine.tsv, line 2: expected 6 tab-separated fields \(name, aliases, .*\), found 3"),
        (["zap\t\tShoes\tshoe#1\t\t"], "line 2: there is no topic 'Shoes'"),
        ([f"zap\t\t{SHOES}\tshoee#1\t\t"], "line 2: there is no concept 'shoee#1' in WordNet"),
        ([f"zap\t\t{SHOES}\tshoe#99\t\t"], "line 2: there is no concept 'shoe#99'"),
        ([f"zap\t\t{SHOES}\tshoe\t\t"], "line 2: there is no concept 'shoe'"),
        (
            [f"zap\t\t{SHOES}\tshoe#1\tsometimes\t"],
            "line 2: needs must be empty, 'alone' or 'context', found 'sometimes'",
        ),
        ([f"zap\t\t{SHOES}\tshoe#1\tcontext\t"], "line 2: a brand that needs context has no context words"),
        ([f"zap\t\t{SHOES}\tshoe#1\t\tshoes"], "line 2: context words are given, and needs is empty"),
        ([f"\t\t{SHOES}\tshoe#1\t\t"], "line 2: the name is empty"),
        ([f"zap\t!?\t{SHOES}\tshoe#1\t\t"], "line 2: a name has no letters or digits"),
        (
            [f"zap\t\t{SHOES}\tshoe#1\t\t", "Zap's\t\tFood & Drink\tfood#1\t\t"],
            'line 3: the name "Zap\'s" is in line 2 with another topic; keep one of the two',
        ),
        (
            [f"zap\tzip\t{SHOES}\tshoe#1\t\t", f"zop\tZIP\t{SHOES}\tshoe#1\t\t"],
            "line 3: the name 'ZIP' is in line 2 too",
        ),
    ],
)
def test_bad_lines_are_refused_by_number(tmp_path, lines, match):
    with pytest.raises(InputError, match=match):
        load_brands(written(tmp_path, *lines))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_brands(tmp_path / "missing.tsv")
    (tmp_path / "latin.tsv").write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="UTF-8"):
        load_brands(tmp_path / "latin.tsv")
    (tmp_path / "binary.tsv").write_bytes(b"a\0b\n")
    with pytest.raises(InputError, match="binary"):
        load_brands(tmp_path / "binary.tsv")
