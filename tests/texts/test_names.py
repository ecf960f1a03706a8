from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.texts.names import FIRST, LAST, _names, find_names, folded_name

LABELLED = Path(__file__).with_name("labelled_names.tsv")
UNSEEN = Path(__file__).with_name("unseen_names.tsv")
"""Written after the rules; whoever changes a rule because of a line in it writes new lines."""


def found(*texts, taxonomy=None):
    return find_names(pl.Series(list(texts), dtype=pl.String), taxonomy or load_wordnet()).tolist()


def precision_and_recall(path):
    lines = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    named, hit = [label == "1" for label, _ in lines], found(*(text for _, text in lines))
    right = sum(a and b for a, b in zip(named, hit, strict=True))
    return right / sum(hit), right / sum(named)


def test_precision_and_recall_on_texts_that_the_rules_were_made_with():
    precision, recall = precision_and_recall(LABELLED)
    assert precision >= 0.94
    assert recall >= 0.95


def test_precision_and_recall_on_texts_that_changed_no_rule():
    precision, recall = precision_and_recall(UNSEEN)
    assert precision >= 0.8
    assert recall >= 0.93


@pytest.mark.parametrize(
    "text",
    [
        "karen hartwell",
        "KAREN  HARTWELL",
        "hartwell, karen",
        "karen b hartwell",
        "karen b. hartwell",
        "is karen hartwell in boston",
        "dr. karen hartwell-moore",
        "karen van der hartwell",
        "karen hartwell's house",
        "karen o'brien",
        "jürgen müller",
        "łukasz kowalski",
        "nguyen thi mai",
        "bob smith",
    ],
)
def test_a_name_is_found(text):
    assert found(text) == [True]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "karen",
        "hartwell",
        "karen 5 hartwell",
        "karen & hartwell",
        "karen.hartwell.com",
        "karen's hartwell",
        "summer park",
        ", ,",
    ],
)
def test_no_name_is_found(text):
    assert found(text) == [False]


def test_who_is_in_the_knowledge_base_is_famous_there_alone():
    nobody = Taxonomy.from_parents([-1], [["thing"]])
    assert found("abraham lincoln", "abraham lincoln speech") == [False, False]
    assert found("abraham lincoln", "abraham lincoln speech", taxonomy=nobody) == [True, True]


def test_the_lists_hold_names_of_many_countries():
    names = _names()
    assert len(names) > 100_000
    for word in ("mary", "jurgen", "giuseppe", "mehmet", "krzysztof", "joao", "bjorn", "rajesh", "ahmed", "sergei"):
        assert names[word] & FIRST, word
    for word in ("smith", "muller", "rossi", "yilmaz", "kowalski", "silva", "hansen", "gupta", "haddad", "kuznetsov"):
        assert names[word] & LAST, word
    assert all(name == folded_name(name) and name.isascii() for name in names)
