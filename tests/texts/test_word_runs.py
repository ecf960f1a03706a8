"""All runs of words of texts, against plain Python."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from reference.set_union import runs_of

from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.texts._longest_runs import split_words
from querycloak.texts.compared import compared
from querycloak.texts.word_runs import LONGEST, WordRuns
from querycloak.texts.words import JOINED

WORD = st.sampled_from(["the", "of", "tea", "green", "-", "cup", "日"])


@given(st.lists(st.lists(WORD, max_size=9), max_size=5))
def test_runs_equal_the_reference(texts):
    plain = compared(pl.Series([" ".join(t) for t in texts], dtype=pl.String))
    runs = WordRuns.of(plain)
    names = runs.texts(np.arange(len(runs.words))).to_list()
    assert len(names) == len(set(names)), "two runs with one text would be two items"
    assert [len(name.split(" ")) for name in names] == runs.words.tolist()
    for words, row in zip(texts, runs.of_text.to_lists(), strict=True):
        assert {tuple(names[r].split(" ")) for r in row} == runs_of(words, LONGEST, STOP_WORDS)


LETTERS = "aé9-' \u0301\u200d\u3000日本ひらカーｱกำ\u0e31ກក\u1037"


@given(st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=4))
def test_the_words_of_a_run_follow_from_its_text(texts):
    """So a text stands for its run, also where runs are counted apart from their words (on Spark)."""
    plain = compared(pl.Series(texts, dtype=pl.String))
    runs = WordRuns.of(plain)
    names = runs.texts(np.arange(len(runs.words)))
    assert names.n_unique() == len(names)
    again = split_words(names)
    for number, at in enumerate(runs.at.tolist()):
        length = int(runs.words[number])
        words = runs.split.slice(at, length).to_list()
        words[0] = words[0].removeprefix(JOINED)
        assert again.words.slice(int(again.start[number]), length).to_list() == words
        assert int(again.start[number + 1] - again.start[number]) == length


def test_texts_without_spaces():
    runs = WordRuns.of(pl.Series(["日本", "日 本"]))
    assert sorted(runs.texts(np.arange(len(runs.words))).to_list()) == ["日", "日 本", "日本", "本"]
