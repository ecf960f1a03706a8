"""Queries that were mapped with a larger column are looked up, and have the concepts that mapping finds."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.mapping import Mapper, mapper

TAXONOMY = Taxonomy.from_parents([-1, 0, 0], [["Top"], ["chess"], ["water sport"]])
TEXTS = ["chess", "water sports", "chess water sports", "", "the", "x1", "chess chess", "Chess"]


@given(columns=st.lists(st.lists(st.sampled_from(TEXTS), max_size=9), max_size=5), large=st.integers(0, 5))
def test_the_result_does_not_depend_on_what_was_mapped_before(columns, large):
    kept = mapper._LARGE
    mapper._LARGE = large
    try:
        one = Mapper(TAXONOMY)
        for texts in columns:
            found = one.map_queries(pl.Series(texts, dtype=pl.String))
            assert [tuple(found.of(q)) for q in range(len(found))] == [Mapper(TAXONOMY).concepts(t) for t in texts]
    finally:
        mapper._LARGE = kept


def test_only_new_queries_are_mapped(monkeypatch):
    monkeypatch.setattr(mapper, "_LARGE", 1)
    monkeypatch.setattr(mapper, "_QUERIES_KEPT", 0)  # nothing is remembered one by one
    mapped = []
    one = Mapper(TAXONOMY)
    read = one.reader.read
    monkeypatch.setattr(one.reader, "read", lambda text: mapped.append(text) or read(text))
    for texts in (["chess", "the", "x1"], ["x1", "tea"], ["the", "chess"]):
        one.map_queries(pl.Series(texts))
    assert mapped == ["chess", "the", "x1", "tea"]
