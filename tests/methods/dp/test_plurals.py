"""Plurals, next to TextBlob's."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping.tagger import Tagger
from querycloak.methods.dp._plurals import NOT_OF_MAN, plural


@pytest.mark.slow
def test_plurals_of_wordnet_are_textblobs_but_where_those_are_wrong():
    pluralize = pytest.importorskip("textblob.en.inflect").pluralize
    words = {label.rpartition(" ")[2] for labels in load_wordnet().labels for label in labels}
    assert len(words) > 65_000
    different = {word for word in words if plural(word) != pluralize(word)}
    in_s_or_z = {word for word in different if re.search("[sz](-|$)", word)}
    of_man = {word for word in different if word.lower().rpartition("-")[2] in NOT_OF_MAN}
    # TextBlob replaces every occurrence of the part that is counted: "yaksety-yaks"
    repeated = {w for w in different if any(w.lower().count(part) > 1 for part in w.lower().split("-"))}
    assert different - in_s_or_z - of_man - repeated == set()
    assert len(of_man) + len(repeated) < 80


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("virus", "viruses"),
        ("gymnastics", "gymnastics"),
        ("waltz", "waltzes"),
        ("human", "humans"),
        ("triggerman", "triggermen"),
        ("yo-yo", "yo-yoes"),
        ("attorney-general", "attorneys-general"),
        ("boss's", "bosses'"),
        ("child's", "children's"),
        ("", ""),
        ("-", "-"),
    ],
)
def test_some_words(word, expected):
    assert plural(word) == expected


@given(st.text(max_size=20))
def test_any_text_has_a_plural(word):
    assert len(plural(word)) >= len(word) - 4


def test_a_plural_is_tagged_as_a_plural_or_unchanged():
    tagger = Tagger()
    for word in ("flurb", "flurby", "flurbo", "flurbax", "flurbish", "flurbz"):
        assert tagger.tag(plural(word))[0] == "NNS"
