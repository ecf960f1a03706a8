"""Texts are searched once, and what is found is the same as without remembering."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from querycloak.texts.remembered import Remembered

TEXTS = st.lists(st.sampled_from(["", "a", "bb", "ccc", "dddd", "é", "ee ff"]), max_size=12)


def _lengths(texts: pl.Series) -> np.ndarray:
    return texts.str.len_chars().to_numpy().astype(np.uint16)


@given(columns=st.lists(TEXTS, max_size=5), fewest=st.integers(0, 4), most=st.integers(0, 6))
def test_what_is_found_is_the_same_as_by_searching_each_column(columns: list[list[str]], fewest: int, most: int):
    remembered = Remembered(_lengths, fewest=fewest, most=most)
    for texts in columns:
        found = remembered.of(pl.Series(texts, dtype=pl.String))
        assert found.tolist() == [len(text) for text in texts]
        assert found.dtype == np.uint16


def test_a_text_is_searched_once():
    searched: list[str] = []

    def search(texts: pl.Series) -> np.ndarray:
        searched.extend(texts.to_list())
        return _lengths(texts)

    remembered = Remembered(search, fewest=1)
    remembered.of(pl.Series(["a", "bb", "a"]))
    remembered.of(pl.Series(["bb", "ccc", "a"]))
    assert searched == ["a", "bb", "ccc"]


def test_no_more_are_remembered_than_allowed():
    searched: list[str] = []

    def search(texts: pl.Series) -> np.ndarray:
        searched.extend(texts.to_list())
        return _lengths(texts)

    remembered = Remembered(search, fewest=1, most=2)
    for column in (["a", "bb"], ["ccc"], ["ccc", "a"]):
        remembered.of(pl.Series(column))
    assert searched == ["a", "bb", "ccc", "a"]


def test_what_is_returned_may_be_changed():
    remembered = Remembered(_lengths, fewest=1)
    remembered.of(pl.Series(["a"]))[0] = 9
    assert remembered.of(pl.Series(["a"])).tolist() == [1]
