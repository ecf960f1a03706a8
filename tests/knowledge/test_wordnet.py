from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from querycloak.knowledge import wordnet
from querycloak.knowledge.wordnet import irregular_nouns, load_wordnet

HERE = Path(wordnet.__file__).parent
DATABASE = Path("/usr/share/wordnet")


def test_counts_are_those_of_wordnet_3():
    taxonomy = load_wordnet()
    child, _ = taxonomy.more_parents
    assert len(taxonomy) == 82_115
    assert len(taxonomy.first_sense) == 117_798
    assert sum(len({label.lower() for label in labels}) for labels in taxonomy.labels) == 146_312
    assert len(taxonomy) - 1 + len(child) == 84_427
    assert len(np.unique(child)) == 2_213
    assert taxonomy.height == 19
    assert taxonomy.label(0) == "entity"


def test_it_is_a_tree_in_depth_first_order():
    taxonomy = load_wordnet()
    parent = taxonomy.parent.astype(np.int64)
    index = np.arange(1, len(taxonomy))
    above = parent[1:]
    assert (above < index).all()
    assert (index < above + taxonomy.size[above]).all()
    child, further = taxonomy.more_parents
    assert (np.diff(child) >= 0).all()
    assert (parent[child] != further).all()


def test_labels_are_in_the_order_of_senses():
    taxonomy = load_wordnet()
    dogs = taxonomy.find("dog")
    assert len(dogs) == 7
    assert taxonomy.labels[dogs[0]] == ("dog", "domestic dog", "Canis familiaris")
    assert [taxonomy.label(c) for c in taxonomy.find("Mercury")] == ["mercury", "Mercury", "Mercury", "mercury"]
    assert taxonomy.path(taxonomy.concept("apple")).endswith("food/produce/edible fruit/apple")
    first, second = taxonomy.all_parents(dogs[0])
    assert {taxonomy.label(first), taxonomy.label(second)} == {"canine", "domestic animal"}


def test_irregular_nouns():
    irregular = irregular_nouns()
    assert irregular["geese"] == "goose"
    assert irregular["aides-de-camp"] == "aide-de-camp"
    assert irregular["amici curiae"] == "amicus curiae"
    assert len(irregular) == 2_050


def test_the_file_is_small_and_the_notice_stands_beside_it():
    assert (HERE / "wordnet-nouns.npz").stat().st_size <= 2_000_000
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in (HERE / "wordnet-NOTICE.txt").read_text()


@pytest.mark.skipif(not (DATABASE / "data.noun").exists(), reason="the database files are not installed")
def test_rebuilding_gives_the_same_file(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import build_wordnet

    outputs = [tmp_path / "a.npz", tmp_path / "b.npz"]
    for output in outputs:
        monkeypatch.setattr(sys, "argv", ["build_wordnet.py", str(DATABASE), "-o", str(output)])
        build_wordnet.main()
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    # Another zlib may pack the same columns into other bytes, so the embedded file is compared column by column.
    with np.load(outputs[0]) as built, np.load(HERE / "wordnet-nouns.npz") as embedded:
        assert built.files == embedded.files
        for name in built.files:
            np.testing.assert_array_equal(built[name], embedded[name])
