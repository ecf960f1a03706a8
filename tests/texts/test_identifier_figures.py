"""How much is found and missed on labelled texts: the floors under the figures of docs/identifiers.md."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from querycloak.texts.identifiers import KINDS, find_spans

HERE = Path(__file__).parent
LABELLED = HERE / "identifiers.tsv"
UNSEEN = HERE / "unseen_identifiers.tsv"
"""Written after the rules; whoever changes a rule because of a line in it writes new lines."""

TOOL = HERE.parents[1] / "tools" / "identifier_figures.py"
RECALL = 0.97
"""of each kind, on the texts that the rules were made with"""
PRECISION = {"address": 0.95, "name": 0.7}
OTHER_PRECISION = 0.98


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("identifier_figures", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_recall_and_precision_of_each_kind(tool):
    figures = tool.figures(tool.read_labelled(LABELLED))
    assert list(figures) == [*KINDS, "name"]
    for kind, found in figures.items():
        assert found.labelled >= 30, kind
        assert found.recall >= RECALL, kind
        assert found.precision >= PRECISION.get(kind, OTHER_PRECISION), kind


def test_texts_that_changed_no_rule(tool):
    labelled = tool.read_labelled(UNSEEN)
    answers = list(zip(labelled, tool.kinds_found([text for _, text in labelled]), strict=True))
    withheld = [bool(found) for (kind, _), found in answers if kind != "-"]
    clean = [not found - {"name"} for (kind, _), found in answers if kind == "-"]
    assert sum(withheld) / len(withheld) >= 0.9
    assert sum(clean) / len(clean) >= 0.95


def test_the_labelled_set_is_large_and_says_each_text_once(tool):
    labelled = tool.read_labelled(LABELLED)
    texts = [text for _, text in labelled]
    assert len(set(texts)) == len(texts)
    assert sum(kind == "-" for kind, _ in labelled) >= 400
    assert sum(kind != "-" for kind, _ in labelled) >= 400


def test_a_column_and_a_single_text_are_answered_alike(tool):
    texts = [text for path in (LABELLED, UNSEEN) for _, text in tool.read_labelled(path)]
    for text, found in zip(texts, tool.kinds_found(texts), strict=True):
        assert {kind for kind, _, _ in find_spans(text)} == found - {"name"}, text
