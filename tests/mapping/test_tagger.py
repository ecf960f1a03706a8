from __future__ import annotations

import gzip
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import DATA, ROOT
from reference.mapping import textblob_lexicon as lexicon
from reference.mapping import textblob_tag as tag

from querycloak.mapping.tagger import MAX_WORD, Tagger

TAGGER = Tagger()


def corrected(word: str, found: str) -> str:
    """TextBlob's tag, but NNP where only the capitalised form is in its lexicon."""
    only_with_capital = lexicon.get(word) is None and lexicon.get(word.capitalize()) is not None
    return "NNP" if only_with_capital else found


def test_every_word_of_the_lexicon_has_its_tag():
    for word in list(lexicon):
        if word == word.lower() and "/" not in word and not any(map(str.isspace, word)):
            assert TAGGER.tag(word) == (lexicon[word], True)


@given(st.text(alphabet="abcdefghilmnorstuy0123456789'.-", min_size=1, max_size=12))
def test_unknown_words_are_guessed_as_textblob_does(word):
    assert TAGGER.tag(word)[0] == corrected(word, tag(word, tokenize=False)[0][1])


@given(st.lists(st.sampled_from(["diving", "in", "the", "paris", "play", "zxing", "95", "cheap", "qate"]), min_size=1))
def test_a_tag_does_not_depend_on_its_neighbours(words):
    together = [found for _, found in tag(" ".join(words), tokenize=False)]
    assert together == [tag(word, tokenize=False)[0][1] for word in words]


@pytest.mark.parametrize("word", ["", "a" * 100_000, "\u0000", "\U0001f600"])
def test_odd_words(word):
    assert TAGGER.tag(word)[0]


def test_the_embedded_words_are_those_that_the_tool_builds():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import build_tagger
    finally:
        sys.path.pop(0)
    words = build_tagger.words_by_tag(build_tagger.read_lexicon(build_tagger.installed_lexicon()))
    text = gzip.decompress(build_tagger.TARGET.read_bytes()).decode()
    assert text == "".join(f"{tag} {' '.join(found)}\n" for tag, found in words.items())


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the real logs are not here")
@pytest.mark.parametrize(("name", "column"), [("excite-small.log", -1), ("kdd2005-labelled-queries.tsv", 0)])
def test_every_word_of_real_queries_has_textblobs_tag(name, column):
    text = (DATA / name).read_text("utf-8", errors="replace")
    queries = [line.split("\t")[column].lower() for line in text.splitlines()]
    for query in queries:
        words = [word for word in query.split() if "/" not in word and len(word) <= MAX_WORD]
        if words:
            tagged = tag(" ".join(words), tokenize=False)
            assert [TAGGER.tag(word)[0] for word in words] == [corrected(word, found) for word, found in tagged]


def test_textblob_is_not_imported():
    code = (
        "import sys; from querycloak.mapping.tagger import Tagger; Tagger();"
        "sys.exit(bool({'textblob', 'nltk'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
