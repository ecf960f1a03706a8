from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mapping as naive

from querycloak.mapping.phrases import in_context, noun_phrases, read_classes, word_class

LETTERS = {
    "d": "determiner",
    "r": "adverb",
    "a": "adjective",
    "c": "number",
    "g": "ing",
    "n": "noun",
    "v": "verb",
    "s": "closed",
}


@pytest.mark.parametrize(
    ("word", "tag", "known", "letter"),
    [
        ("the", "DT", True, "d"),
        ("us", "PRP", True, "s"),
        ("plays", "VBZ", True, "n"),
        ("make", "VB", True, "v"),
        ("translate", "VBP", False, "n"),
        ("cheap", "JJ", True, "a"),
        ("used", "VBN", True, "a"),
        ("diving", "VBG", True, "g"),
        ("wedding", "NN", True, "g"),
        ("king", "NN", True, "n"),
        ("south", "RB", True, "r"),
        ("hifly", "RB", False, "n"),
        ("x", "NN", True, "c"),
        ("1997", "CD", False, "c"),
        ("viii", "NN", False, "c"),
        ("mp3", "NN", False, "n"),
    ],
)
def test_word_class(word, tag, known, letter):
    assert word_class(word, tag, known) == letter


def test_a_gerund_before_a_determiner_is_a_verb():
    assert in_context("ngdann") == "nvdann"
    assert in_context("gsdn") == "gsdn"


def test_a_verb_after_a_noun_at_the_end_is_a_noun():
    assert in_context("nv") == "nn"
    assert in_context("v") == "v"
    assert in_context("sv") == "sv"


@given(st.text(alphabet="dracgnvs", max_size=30))
def test_phrases_agree_with_the_naive_reading(classes):
    mended = naive.context([LETTERS[letter] for letter in classes])
    assert [LETTERS[letter] for letter in in_context(classes)] == mended
    assert list(noun_phrases(in_context(classes))) == naive.noun_phrases(mended)
    assert read_classes(classes) == (in_context(classes), noun_phrases(in_context(classes)))


@given(st.text(alphabet="dracgnvs", max_size=30))
def test_phrases_end_in_a_noun_and_do_not_overlap(classes):
    last = 0
    for start, end in noun_phrases(classes):
        assert start >= last
        assert classes[end - 1] in "gn"
        last = end


def test_long_clauses_take_linear_time():
    assert noun_phrases("a" * 500_000) == ()
    assert noun_phrases("d" * 500_000) == ()
