"""An identifier is one, and a name is one, whatever white space and control characters are between its words."""

from __future__ import annotations

import polars as pl
import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.texts.identifiers import find_identifiers, find_spans
from querycloak.texts.names import find_names

TREE = Taxonomy.from_parents([-1], [["thing"]])
SPACES = ["  ", "   ", "\t", "\r\n", "\x1f", " \u3000", "\x00", " \u200b "]
IDENTIFIERS = [
    "12 rue de la paix",
    "12 main street",
    "ann at example dot com",
    "ann (at) example (dot) com",
    "GB82 WEST 1234 5698 7654 32",
    "AB12 CDE",
    "555 010 1234",
]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_spaces_of_any_kind_hide_no_identifier(identifier, space):
    assert find_identifiers(pl.Series([identifier]))[0]
    assert find_identifiers(pl.Series([identifier.replace(" ", space)]))[0]


@pytest.mark.parametrize("space", [*SPACES, "_", "|"])
def test_spaces_of_any_kind_hide_no_name(space):
    assert find_names(pl.Series([f"karen{space}hartwell"]), TREE).tolist() == [True]


def test_slots_are_those_of_the_text_as_it_was_typed():
    text = "near  12  main \t street, ok"
    (found,) = find_spans(text)
    assert (found[0], text[found[1] : found[2]]) == ("address", "12  main \t street")


@pytest.mark.parametrize("widths", [(2, 2, 2, 2, 2), (1, 2, 3, 4, 5)])
def test_no_spelling_of_an_identifier_is_published(widths):
    texts = [f"12{' ' * n}rue{' ' * n}de la paix" for n in widths]
    bench = Workbench(QueryLog.of([f"u{i}" for i in range(5)], texts), TREE)
    release = bench.anonymize("sweep")
    assert not find_identifiers(pl.Series([" ".join(t.split()) for t in release.log.queries.to_list()])).any()
