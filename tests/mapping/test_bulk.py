"""Queries that are read in bulk have the concepts that the reference finds, one query at a time."""

from __future__ import annotations

import string
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import DATA, EXCITE

from querycloak.arrays import jit
from querycloak.knowledge.topic_tree import load_topic_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper, _class_kernels, _layer_kernels, _neighbour_kernels, _split_kernels, bulk
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.bulk_words import split_texts
from querycloak.mapping.context import Senses, nearness, sum_of
from querycloak.mapping.layers import NEAR
from querycloak.mapping.reading import LayerReader, concepts_in
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.words import clauses_with_sites

pytestmark = pytest.mark.needs_jit  # the labels of WordNet as codes take half a minute in plain Python

BRANDS = [*list(load_brands())[::40], "yahoo", "sam club", "new york times", "apple", "target", "amazon"]
CONTEXTS = sorted({word for brand in load_brands().values() for word in brand.context if brand.context})[::20]
LABELS = [label for labels in load_wordnet().labels[::400] for label in labels]
AMBIGUOUS = ["bank", "bark", "bass", "crane", "jaguar", "java", "mercury", "plant", "spring", "men", "women", "news"]
SEVERAL = ["black hole", "hot dog", "white house", "ice cream", "water sports", "statue of liberty", "business women"]
TOPICS = [label for labels in load_topic_tree().taxonomy.labels[1::15] for label in labels[:3]]
PLACES = ["river", "money", "tree", "dog", "guitar", "car", "coffee", "planet", "chicken pox", "john smith"]
GUESSED = ["univeristy", "cheapflights", "qzxvkjw", "lyrics", "mp3", "ringtones", "xbox360", "swim", "policewomen"]
ODD = ["www.yahoo.com", "mail.google.co.uk", "st. louis", "u.s.", "1.5", "10,000", "café", "-free", "sam's", "r & b"]
MARKS = [",", '"', "(", ")", "?", "!", "+", "_", "-", "'", "a-b", ".", "end. of", "foo_bar", "x" * 70, "\t", "3 ", "42"]
VOCABULARY = [
    *(BRANDS, CONTEXTS, LABELS, AMBIGUOUS, SEVERAL, TOPICS, PLACES, GUESSED, ODD, MARKS),
    sorted(STOP_WORDS),
]
PIECES = st.one_of([st.sampled_from(words) for words in VOCABULARY])
QUERIES = st.lists(PIECES, max_size=7).map(" ".join)
READERS = [("wordnet", "layers"), ("wordnet", "certain"), ("topics", "layers")]


@pytest.fixture(scope="module", params=READERS, ids="-".join)
def reader(request) -> LayerReader:
    return LayerReader(*request.param)


def one_by_one(reader: LayerReader, texts: list[str]) -> list[tuple[int, ...]]:
    return [concepts_in(reader.read(text)) for text in texts]


def in_bulk(reader: LayerReader, texts: list[str]) -> list[tuple[int, ...]]:
    count, concept = reader.bulk.read(pl.Series(texts, dtype=pl.String))
    return [tuple(part.tolist()) for part in np.split(concept, np.cumsum(count)[:-1])] if texts else []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(QUERIES, max_size=40))
def test_any_queries_have_the_concepts_of_the_reference(reader, texts):
    assert in_bulk(reader, texts) == one_by_one(reader, texts)


def test_queries_that_show_every_layer(reader):
    texts = [
        *("", " ", "the", "3 3", "yahoo", "jaguar", "jaguar car", "river bank", "bank, river", "apple", "apple pie"),
        *("chicken pox", "john smith", "statue of liberty", "hot dogs", "sam's club card", '"black hole" star'),
        *("univeristy", "cheap flights to bark", "www.mit.edu", "foo www.nike.com bar", "swim", "free", "how to"),
        *(" ".join(["bank"] * 50), " ".join(["bank"] * 51), "men", "women's shoes", "knives", "baby sleep"),
    ]
    reader.bulk.left = 0
    assert in_bulk(reader, texts) == one_by_one(reader, texts)
    assert reader.bulk.left == 3  # two addresses and 51 words
    assert in_bulk(reader, texts) == in_bulk(reader, texts[::-1])[::-1]


def test_the_reference_looks_at_all_words_of_what_the_kernel_reads():
    assert _layer_kernels.MOST_WORDS <= NEAR


def test_words_that_were_forgotten_are_learned_again(reader, monkeypatch):
    texts = ["river bank", "hot dog stand", "univeristy lyrics"]
    found = in_bulk(reader, texts)
    monkeypatch.setattr(bulk, "_WORDS_KEPT", 0)
    assert in_bulk(reader, texts) == found


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.text(string.printable, max_size=30), QUERIES), max_size=5))
def test_words_are_split_as_by_the_reference(texts):
    split = split_texts(pl.Series(texts, dtype=pl.String))
    words = [bytes(split.words[a:b]).decode() for a, b in split.spans.tolist()]
    for q, text in enumerate(texts):
        first, last = split.start[q : q + 2].tolist()
        if q in split.odd:
            assert "." in text or "-" in text or "," in text or not text.isascii()
            assert first == last
            continue
        ends = [0, *(np.flatnonzero(split.ends[first:last]) + 1).tolist()]
        found = [words[first + a : first + b] for a, b in pairwise(ends)]
        assert [(clause, "") for clause in found] == clauses_with_sites(text)


def test_neighbourhoods_are_those_of_the_reference(reader):
    tables, known = reader.tables, reader.bulk._senses
    texts = [*AMBIGUOUS, "black hole", "hot dog", "white house", "ice cream", "dog", "photographers"]
    words = [[tables.lexicon.words[word] for word in text.split()] for text in texts]
    codes = [reader.bulk._words.code_texts(text.split()) for text in texts]
    found = [tables.lexicon.candidates(label) for label in words]
    senses = Senses(load_wordnet(), tables.vectors)
    for entry, text, candidates in zip(known.add(codes, found).tolist(), texts, found, strict=True):
        rows = slice(*known.arrays.start[entry : entry + 2].tolist())
        matrix = senses.matrix(candidates.words, candidates.senses)
        assert known.arrays.matrix[rows].tolist() == matrix.tolist()
        assert known.arrays.near[rows].tolist() == nearness(matrix, sum_of(tables.vectors, text.split()))
        assert known.arrays.concept[rows].tolist() == [tables.of_concept(sense) for sense in candidates.senses]


def test_the_kernels_do_the_same_in_plain_python(reader, monkeypatch):
    texts = ["jaguar car bark", "hot dogs, river", "apple pie recipe", "john smith lyrics", "chicken pox", "plant zzzq"]
    for module in (_class_kernels, _layer_kernels, _neighbour_kernels, _split_kernels):
        monkeypatch.setattr(module, "INTERPRET_SMALL", True, raising=False)
    jit.expect_input(10)
    try:
        assert in_bulk(reader, texts) == one_by_one(reader, texts)
    finally:
        jit.expect_input(None)


def test_a_mapper_reads_large_columns_in_bulk(monkeypatch):
    monkeypatch.setattr("querycloak.mapping.mapper._BLOCK", 7)
    texts = [f"{place} {word}" for place in PLACES for word in AMBIGUOUS[:3]]
    small = Mapper(load_wordnet())
    expected = [small.concepts(text) for text in texts]
    assert "bulk" not in vars(small.reader)
    monkeypatch.setattr("querycloak.mapping.mapper.LEAST_BULK", len(texts))
    large = Mapper(load_wordnet())
    found = large.map_queries(texts)
    assert [tuple(found.of(q)) for q in range(len(texts))] == expected
    assert "bulk" in vars(large.reader)


def test_with_vectors_of_ones_own_queries_are_read_one_by_one(tmp_path):
    from querycloak.knowledge import vectors

    path = tmp_path / "own.bin"
    path.write_bytes(
        vectors.MAGIC + b'{"words": 2, "dimensions": 2, "bytes": 8, "type": "int8"}\ntea\ncup\n' + b"\x7f\0\0\x7f"
    )
    assert LayerReader("wordnet", f"layers:{path}").bulk is None


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the real logs are not next to the checkout")
def test_real_queries_have_the_concepts_of_the_reference(reader):
    lines = EXCITE.read_text("utf-8", errors="replace").splitlines()
    labelled = (DATA / "kdd2005-labelled-queries.tsv").read_text("utf-8", errors="replace").splitlines()
    texts = [
        *{line.split("\t")[2]: 0 for line in lines if line.count("\t") >= 2},
        *(t.split("\t")[0] for t in labelled),
    ]
    assert in_bulk(reader, texts) == one_by_one(reader, texts)


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_processes():
    texts = [f"{a} {b} {c}" for a in LABELS[:120] for b in AMBIGUOUS for c in (*PLACES, *SEVERAL, *CONTEXTS[:12])][
        :40_500
    ]
    assert len(texts) > 40_000
    one = Mapper(load_wordnet()).map_queries(texts, workers=1)
    two = Mapper(load_wordnet()).map_queries(texts, workers=2)
    assert (one.start == two.start).all()
    assert (one.concept == two.concept).all()
