from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.mapping import textblob_lexicon as lexicon
from reference.mapping import textblob_tag as tag

from querycloak.mapping.tagger import Tagger

TAGGER = Tagger()


def expected(word: str) -> str:
    """TextBlob's tag, but NNP where only the capitalised form is in its lexicon."""
    only_with_capital = lexicon.get(word) is None and lexicon.get(word.capitalize()) is not None
    return "NNP" if only_with_capital else tag(word, tokenize=False)[0][1]


def test_every_word_of_the_lexicon_has_its_tag():
    for word in list(lexicon):
        if word == word.lower() and "/" not in word and not any(map(str.isspace, word)):
            assert TAGGER.tag(word) == (lexicon[word], True)


@given(st.text(alphabet="abcdefghilmnorstuy0123456789'.-", min_size=1, max_size=12))
def test_unknown_words_are_guessed_as_textblob_does(word):
    assert TAGGER.tag(word)[0] == expected(word)


@given(st.lists(st.sampled_from(["diving", "in", "the", "paris", "play", "zxing", "95", "cheap", "qate"]), min_size=1))
def test_a_tag_does_not_depend_on_its_neighbours(words):
    together = [found for _, found in tag(" ".join(words), tokenize=False)]
    assert together == [tag(word, tokenize=False)[0][1] for word in words]


@pytest.mark.parametrize("word", ["", "a" * 100_000, "\u0000", "\U0001f600"])
def test_odd_words(word):
    assert TAGGER.tag(word)[0]


def test_nltk_is_not_imported():
    code = "import sys; from querycloak.mapping.tagger import Tagger; Tagger(); sys.exit('nltk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
