from __future__ import annotations

import pickle

import numpy as np
import pytest

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.mapping.lexicon import Lexicon, singulars


def lexicon(*labels: str, parents=None, weight=None) -> Lexicon:
    taxonomy = Taxonomy.from_parents([-1, *(parents or [0] * len(labels))], [["Top"], *([label] for label in labels)])
    return Lexicon(taxonomy, weight)


def find(lex: Lexicon, text: str) -> int:
    return lex.find([lex.words[word] for word in text.split()])


def how(lex: Lexicon, text: str) -> str:
    return lex.how([lex.words[word] for word in text.split()])


def test_exact_before_singular_before_stem():
    lex = lexicon("photographer", "photograph", "sport", "sports", "knife")
    assert (find(lex, "photographer"), how(lex, "photographer")) == (1, "label")
    assert (find(lex, "photographers"), how(lex, "photographers")) == (1, "singular")
    assert (find(lex, "photographing"), how(lex, "photographing")) == (2, "stem")  # the shorter of the two
    assert (find(lex, "sports"), how(lex, "sports")) == (4, "label")
    assert (find(lex, "knives"), how(lex, "knives")) == (5, "singular")
    assert (find(lex, "qwyjibo"), how(lex, "qwyjibo")) == (-1, "")


def test_news_is_not_the_plural_of_new():
    assert find(lexicon("new"), "news") == -1


def test_several_words_by_last_singular_or_stems():
    lex = lexicon("water sport", "sports car", "goose egg")
    assert find(lex, "water sports") == 1
    assert find(lex, "sport cars") == 2
    assert find(lex, "geese eggs") == 3


@pytest.mark.parametrize("word", ["in", "it", "us", "la", "a", "1", "42", "the", "may", "ii"])
def test_words_that_never_stand_alone(word):
    assert find(lexicon(word), word) == -1


@pytest.mark.parametrize("word", ["tv", "uk", "ny", "sun"])
def test_short_words_that_do(word):
    assert find(lexicon(word), word) == 1


def test_numbers_and_letters_inside_a_label():
    assert find(lexicon("vitamin c", "world war 2"), "vitamin c") == 1
    assert find(lexicon("vitamin c", "world war 2"), "world war 2") == 2


def test_labels_without_their_stop_words_come_after_whole_ones():
    lex = lexicon("The Hague", "Bill of Rights", "I. A. Richards", "hague")
    assert find(lex, "hague") == 4
    assert find(lex, "bill rights") == 2
    assert find(lex, "richards") == -1


def test_directories_find_halves_of_double_labels_after_whole_ones():
    lex = lexicon("Swimming and Diving", "Swimming")
    assert find(lex, "diving") == 1
    assert find(lex, "swimming") == 2


def test_a_directory_takes_the_fewest_ancestors_then_the_most_sites():
    parents = [0, 1, 0, 0]
    labels = ["Arts", "Jazz", "Jazz", "Jazz"]
    assert find(lexicon(*labels, parents=parents), "jazz") == 3
    assert find(lexicon(*labels, parents=parents, weight=np.array([0, 0, 9, 1, 2])), "jazz") == 4


def test_senses_of_wordnet_are_kept():
    from querycloak.knowledge.wordnet import load_wordnet

    wordnet = load_wordnet()
    lex = Lexicon(wordnet)
    for label in ("dog", "turkey", "bank", "san francisco", "statue of liberty"):
        assert find(lex, label) == wordnet.find(label)[0]


def candidates(lex: Lexicon, text: str) -> tuple[int, ...]:
    return lex.candidates([lex.words[word] for word in text.split()]).senses


def test_candidates_are_all_concepts_of_a_label_as_written_and_in_the_singular():
    lex = lexicon(
        "Arts", "jazz", "water sport", "Jazz", "water sport", "sports", "sport", parents=[0, 1, 1, 0, 0, 0, 0]
    )
    assert candidates(lex, "jazz") == (4, 2)  # the order of `find`: fewest ancestors first
    assert candidates(lex, "water sports") == (5, 3)
    assert candidates(lex, "sports") == (6, 7)
    assert candidates(lex, "arts") == (1,)
    assert candidates(lex, "tea") == candidates(lex, "the") == ()


def test_candidates_of_a_stem_are_those_of_its_shortest_label():
    lex = lexicon("photographer", "photograph", "photograph")
    found = lex.candidates([lex.words["photographing"]])
    assert found.senses == (2, 3)
    assert found.by_stem
    assert set(found.words) == {"photographing", "photograph"}
    assert find(lex, "photographing") == 2


def test_candidates_of_wordnet_begin_with_the_one_found():
    from querycloak.knowledge.wordnet import load_wordnet

    wordnet = load_wordnet()
    lex = Lexicon(wordnet)
    assert candidates(lex, "jaguar") == tuple(wordnet.find("jaguar"))
    assert candidates(lex, "dogs") == tuple(wordnet.find("dog"))


def test_candidates_leave_possessive_labels_out():
    lex = lexicon("men's", "man", "Levi's", "chemist's", "chemist", "Alzheimer's", "alzheimer")
    assert candidates(lex, "men") == (2,)
    assert candidates(lex, "levi") == ()
    assert candidates(lex, "chemist") == (5,)
    assert find(lex, "men") == 1


def test_women_are_woman_to_the_layers():
    lex = lexicon("woman", "policewoman")
    assert candidates(lex, "women") == (1,)
    assert candidates(lex, "policewomen") == (2,)
    assert find(lex, "women") == -1  # as the papers' stems have it


def test_singulars():
    assert singulars("mice", {"mice": "mouse"}) == ["mouse"]
    assert singulars("glass", {}) == []
    assert singulars("bus", {}) == []
    assert singulars("boxes", {}) == ["boxe", "box"]


def test_pickles():
    lex = lexicon("water sport")
    assert find(pickle.loads(pickle.dumps(lex)), "water sports") == 1
