"""What the statement says of the texts, and that the gate agrees."""

from __future__ import annotations

import pytest
from samples import sample_directory, sample_log

import querycloak as qc
from querycloak.methods.microaggregation._group_settings import GroupSettings, MdavSettings
from querycloak.texts.phrases import NOT_PUBLISHED

GROUPED = ["plain", "semantic", "syntactic", "url", "word"]


def test_a_text_needs_as_many_people_as_the_smallest_group() -> None:
    assert GroupSettings(k=7).rule.people == 7
    assert MdavSettings(k=7, min_query_users=20).rule.people == 20
    assert GroupSettings(k=7, as_in_paper=True).rule.promised == 1


@pytest.mark.parametrize("name", GROUPED)
def test_the_statement_counts_the_kinds_of_rows(name) -> None:
    directory = {"directory": sample_directory()} if name == "url" else {}
    release = qc.anonymize(sample_log(), f"{name}-microaggregation", seed=1, k=3, **directory)
    said = release.statement
    assert said.text_users == 3
    assert said.parts
    assert said.identifiers_dropped
    kinds = [said.figures[f"published as {kind}"] for kind in ("whole queries", "phrases", "labels")]
    assert sum(kinds) == len(release.log)
    labels = release.log.queries.str.starts_with("[").to_numpy()[release.log.query].sum()
    assert kinds[2] == labels
    assert said.dropped[NOT_PUBLISHED] >= 0
