"""What was made ahead of time of brands, senses and topics is what the tables make."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from querycloak.knowledge.brands import FILE as BRANDS
from querycloak.knowledge.brands import read_brands
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import embedded_brands as module
from querycloak.mapping.brand_match import BrandNames
from querycloak.mapping.brand_names import keyed_brands, load_brands
from querycloak.mapping.embedded_brands import FILE, EmbeddedBrands, embedded_brands
from querycloak.mapping.layer_tables import PERSON, LayerTables
from querycloak.mapping.word_table import load_word_table

EMBEDDED = Path(module.__file__).with_name(FILE)


@pytest.fixture
def made() -> EmbeddedBrands:
    """What the file has, not yet unpacked."""
    return embedded_brands.__wrapped__()


def test_rebuilding_gives_the_same_file(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import build_brand_table

    monkeypatch.setattr(sys, "argv", ["build_brand_table.py", "-o", str(tmp_path / "brands.npz")])
    build_brand_table.main()
    assert (tmp_path / "brands.npz").read_bytes() == EMBEDDED.read_bytes(), "Run tools/build_brand_table.py again."


def test_names_find_the_same_brands_before_and_after_unpacking(made):
    plain = keyed_brands(read_brands(), BRANDS)
    asked = [*list(plain)[::250], "no such name", "york"]
    assert [made.brands.get(name) for name in asked] == [plain.get(name) for name in asked]
    assert dict(made.brands) == dict(plain)
    assert list(made.brands) == list(plain)
    assert dict(made.lengths) == module.lengths_of_names(plain)
    assert BrandNames(load_brands())._lengths is embedded_brands().lengths
    assert (made.topic_of == topics_of_concepts(load_topic_tree(), load_wordnet())).all()


def test_without_the_file_everything_is_made_from_the_tables(monkeypatch):
    monkeypatch.setattr(module, "source", lambda: "of another table")
    assert embedded_brands.__wrapped__() is None
    with_file = LayerTables(load_wordnet())
    for name in ("layer_tables", "brand_match", "brand_names"):
        monkeypatch.setattr(f"querycloak.mapping.{name}.embedded_brands", lambda: None)
    without = LayerTables(load_wordnet())
    assert without._concept(PERSON) == with_file._concept(PERSON)
    assert (without._topic_of == with_file._topic_of).all()


@pytest.mark.parametrize("name", ["sense", "guess", "topic"])
def test_words_mean_the_same_before_and_after_unpacking(name):
    table = getattr(load_word_table.__wrapped__(), name)
    full = dict(getattr(load_word_table(), name))
    asked = [*list(full)[::5_000], "qzxvkjw", "no such"]
    assert [table.get(word) for word in asked] == [full.get(word) for word in asked]
    assert table._all is None
    with np.load(EMBEDDED.with_name("word-table.npz")) as npz:
        rare = 0 if name == "sense" else (npz[f"rare_{name}"] > -2).sum()
        assert len(full) == (npz[name] > -2).sum() + rare
