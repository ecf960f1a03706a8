from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.phrases import words_of

from querycloak.texts.compared import compared
from querycloak.texts.words import JOINED, as_text, in_words, joined_texts

CHARS = "ab1-'& 日本語ひらカナー\u3099ไทยสวัดีລາວខ្មែរမြန်မာ가é\u0301\u200b　"


@given(st.lists(st.text(CHARS, max_size=8), max_size=5))
def test_words_equal_the_reference(texts):
    plain = compared(pl.Series(texts, dtype=pl.String))
    before = plain.to_list()
    found = in_words(plain)
    assert plain.to_list() == before
    for text, words in zip(plain.to_list(), found.to_list(), strict=True):
        parts = words.split(" ") if words else []
        assert [(word.removeprefix(JOINED), not word.startswith(JOINED)) for word in parts] == words_of(text)
        assert as_text(words) == text
    assert joined_texts(found).equals(plain)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京タワー", "東 +京 +タワー"),
        ("iphone14ケース", "iphone14 +ケース"),
        ("ラーメン 屋さん", "ラーメン 屋 +さ +ん"),
        ("กาแฟ", "ก +า +แ +ฟ"),
        ("서울 맛집", "서울 맛집"),
        ("o'neil's x-ray", "o'neil's x-ray"),
    ],
)
def test_scripts_with_and_without_spaces(text, words):
    assert in_words(pl.Series([text, "tea"]))[0].replace(JOINED, "+") == words
