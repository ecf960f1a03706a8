"""The label texts of WordNet that were indexed ahead of time are those that the labels make."""

from __future__ import annotations

import pickle
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import embedded_labels as module
from querycloak.mapping.embedded_labels import FILE, EmbeddedLabels
from querycloak.mapping.label_index import LabelIndex
from querycloak.mapping.lexicon import Lexicon

EMBEDDED = Path(module.__file__).with_name(FILE)


@pytest.fixture(scope="module")
def index() -> LabelIndex:
    return LabelIndex(load_wordnet())


@pytest.fixture
def embedded() -> EmbeddedLabels:
    """The tables, not yet unpacked."""
    with np.load(EMBEDDED) as npz:
        return EmbeddedLabels(dict(npz.items()))


def lexicon_with(labels: LabelIndex | EmbeddedLabels) -> Lexicon:
    lexicon = Lexicon(load_wordnet())
    lexicon._labels = labels
    return lexicon


def texts(labels: LabelIndex, count: int) -> list[str]:
    """Return labels, their plurals, wrong ones and labels with a word less, as queries may have them."""
    draw = random.Random(135)
    some = draw.sample(sorted(labels.concept), count)
    ends = ["", "", "s", "es", "ing", " zzz"]
    return [text.rpartition(" ")[draw.choice([0, 2])] or text for text in some] + [t + draw.choice(ends) for t in some]


@pytest.mark.slow
def test_rebuilding_gives_the_same_file(tmp_path, monkeypatch, capsys, index):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import build_lexicon

    monkeypatch.setattr(build_lexicon, "LabelIndex", lambda taxonomy: index if taxonomy is load_wordnet() else None)
    monkeypatch.setattr(sys, "argv", ["build_lexicon.py", "-o", str(tmp_path / "labels.npz")])
    build_lexicon.main()
    assert (tmp_path / "labels.npz").read_bytes() == EMBEDDED.read_bytes(), "Run python tools/build_lexicon.py again."


def test_words_find_the_same_in_the_tables_and_after_unpacking_as_in_the_labels(index, embedded):
    tables, labels = lexicon_with(embedded), lexicon_with(index)
    asked = texts(index, 300)
    expected = [answers(labels, text) for text in asked]
    assert {how for _, how, *_ in expected} == {"label", "singular", "stem", ""}
    assert [answers(tables, text) for text in asked] == expected
    assert not isinstance(embedded.concept, dict)
    embedded.unpack()
    asked = texts(index, 3_000)
    unpacked = lexicon_with(embedded)
    assert [answers(unpacked, text) for text in asked] == [answers(labels, text) for text in asked]


def answers(lexicon: Lexicon, text: str) -> tuple[object, ...]:
    words = [lexicon.words[word] for word in text.split()]
    start = " ".join(word.stem for word in words[:2])
    how, found = lexicon.how(words), lexicon.find(words)
    return found, how, lexicon.candidates(words), lexicon.longest.get(start, 0)


def test_all_tables_are_equal(index, embedded):
    embedded.unpack()
    assert embedded.concept == index.concept
    assert embedded.label_of_stems == index.label_of_stems
    assert embedded.longest == index.longest
    assert embedded.last_words == index.last_words
    assert embedded.possessive_pairs == index.possessive_pairs
    assert all(embedded.senses(text) == index.senses(text) for text in sorted(index.concept)[::10])


def test_after_many_look_ups_the_tables_become_dictionaries(embedded, monkeypatch):
    table = embedded.longest
    embedded._left = 3
    assert (table.get("water sport"), table.get("no such"), table.get("no such", 7)) == (2, None, 7)
    assert isinstance(embedded.longest, dict)
    assert table.get("water sport") == embedded.longest["water sport"] == 2  # who still has the table may use it
    assert embedded.concept["water sport"] == embedded.senses("water sport")[0]


def test_a_table_refuses_what_it_does_not_have(embedded):
    with pytest.raises(KeyError):
        embedded.concept["no such label"]
    assert "dog" in embedded.concept
    assert "no such label" not in embedded.concept


def test_another_stemmer_reads_the_labels_itself(monkeypatch, embedded, index):
    assert embedded.fits
    monkeypatch.setattr(module, "stemmer_digest", lambda words: f"PyStemmer 2.0 {len(words)}")
    with np.load(EMBEDDED) as npz:
        other = EmbeddedLabels(dict(npz.items()))
    assert not other.fits
    monkeypatch.setattr("querycloak.mapping.lexicon.embedded_labels", lambda: other)
    monkeypatch.setattr("querycloak.mapping.lexicon.LabelIndex", lambda taxonomy, weight: index)
    assert Lexicon(load_wordnet())._labels is index


def test_other_processes_load_the_file_themselves():
    lexicon = Lexicon(load_wordnet())
    sent = pickle.dumps(lexicon)
    assert len(sent) < 1_000
    again = pickle.loads(sent)
    assert answers(again, "water sports") == answers(lexicon, "water sports")
