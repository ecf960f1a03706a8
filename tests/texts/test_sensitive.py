from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import InputError
from querycloak.texts.sensitive import NOT_SENSITIVE, load_sensitive, read_sensitive, sensitive_topics

OURS = load_sensitive()


def topics(*texts, words=OURS):
    found = sensitive_topics(pl.Series(list(texts), dtype=pl.String), words)
    return [None if t == NOT_SENSITIVE else words.topics[t] for t in found]


def test_our_list_has_five_topics():
    assert topics("diabetes", "gay bars", "mosque near me", "payday loans", "arrested for dui") == [
        "health", "sex", "religion", "money", "crime"
    ]  # fmt: skip


def test_whole_words_and_whole_phrases():
    assert topics("essex", "sussex hotels", "cancerous", "", "food", "stamps food", "food  STAMPS!") == [None] * 6 + [
        "money"
    ]
    assert topics("Alzheimer's", "alzheimers", "hiv-positive", "stage-4 cancer") == ["health"] * 4


def write(tmp_path, text):
    path = tmp_path / "list.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_another_list_replaces_ours(tmp_path):
    words = read_sensitive(write(tmp_path, "# drinks\n\ntea\tGreen Tea\ntea\tOolong\nmoney\tgreen\nother\tgreen tea\n"))
    assert words.topics == ("tea", "money", "other")
    assert topics("cheap green tea", "green cups", "oolong", "cancer", words=words) == ["tea", "money", "tea", None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nhealth cancer\n", r"list.tsv, line 2: expected 2 tab-separated fields, topic and word.*, found 1\."),
        ("a\tb\tc\n", r"line 1: expected 2 tab-separated fields.*, found 3\."),
        ("a\tb\n\tcancer\n", r"line 2: .*found an empty one\."),
        ("a\t--\n", r"line 1: expected a word or phrase after the tab, found no letter or digit\."),
        ("# nothing\n", r"list.tsv: expected a list of sensitive words.*found no line\."),
        (b"a\tb\na\t\xff\n", r"line 2: expected UTF-8 text, found other bytes\."),
        ("".join(f"t{i}\tw{i}\n" for i in range(128)), r"line 128: expected at most 127 topics"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_sensitive(write(tmp_path, text))


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"gone.tsv: expected a list of sensitive words: No such file"):
        read_sensitive(tmp_path / "gone.tsv")


@given(st.lists(st.sampled_from(["tea", "breast", "cancer", "food", "stamps", "heart", "attack"]), max_size=6))
def test_equals_looking_for_every_phrase(words):
    text = " ".join(words)
    held = {" ".join(p) for p in OURS.phrases if f" {' '.join(p)} " in f" {text} "}
    assert (topics(text)[0] is not None) == bool(held)
