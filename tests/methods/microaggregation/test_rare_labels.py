"""A rare query is not published as the label of its own concept."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.logs.query_log import QueryLog

COMMON = ("weather", "news", "music")


@pytest.mark.parametrize("method", ["word-microaggregation", "semantic-microaggregation"])
def test_a_label_that_is_the_query_of_too_few_people_is_not_published(method):
    rows = [(f"u{i}", text) for i in range(10) for text in COMMON]
    rows += [("u3", "dermatitis")] * 20 + [("u7", "Anemonella")] * 20 + [("u7", "ANEMONELLA")]
    log = QueryLog.of([u for u, _ in rows], [q for _, q in rows])
    for seed in range(3):
        release = qc.anonymize(log, method, k=2, min_query_users=5, seed=seed)
        published = {text.lower().strip("[]") for text in release.log.queries.to_list()}
        assert published <= set(COMMON)  # nobody else means a kind of dermatitis, so that no label is left
