from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.mapping.lexicon import Lexicon, lexicon_of
from querycloak.mapping.word_concepts import WordConcepts

LABELS = ["Top", "Arts", "Music", "Shopping", "Music", "Swimming and Diving", "Diving", "Photographer", "The Knife"]
PARENTS = [-1, 0, 1, 0, 3, 0, 3, 1, 1]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("music", ["Top/Arts/Music", "Top/Shopping/Music"]),
        ("diving", ["Top/Shopping/Diving", "Top/Swimming and Diving"]),  # also a part of a double label
        ("knives", ["Top/Arts/The Knife"]),
        ("photographing", ["Top/Arts/Photographer"]),  # by its stem
        ("the", []),
        ("zzz", []),
    ],
)
def test_a_word_has_every_category_with_its_label(word, found) -> None:
    taxonomy = Taxonomy.from_parents(PARENTS, [[label] for label in LABELS])
    words = WordConcepts(taxonomy, Lexicon(taxonomy))
    for _ in range(2):  # the second time it is remembered
        assert sorted(taxonomy.paths[c] for c in words.all(word)) == found
    assert set(words.one(word)) <= set(words.all(word))


def test_all_senses_of_a_noun() -> None:
    taxonomy = qc.load_taxonomy()
    words = WordConcepts(taxonomy, lexicon_of(taxonomy))
    for word in ("bank", "jaguar", "banks", "hotel", "photographers", "buying"):
        assert set(words.one(word)) <= set(words.all(word))
    assert words.all("bank") == sorted(set(taxonomy.find("bank")))
    assert len(words.all("bank")) > 5
