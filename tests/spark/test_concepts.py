"""Queries are mapped as on one machine."""

import pytest

from querycloak.knowledge.named import load_taxonomy
from querycloak.mapping.mappers import mapper_of

pytestmark = pytest.mark.slow


def test_queries_are_mapped_as_on_one_machine(spark):
    from querycloak.spark.concepts import with_concepts
    from querycloak.spark.knowledge import Knowledge

    queries = ["cheap hotels san francisco airport", "green tea", "zxqv", "www.example.com", "jaguar", " "]
    found = mapper_of(load_taxonomy("wordnet")).map_queries(queries)
    frame = spark.createDataFrame([(query,) for query in queries], "query string").repartition(2)
    rows = with_concepts(frame, Knowledge.of(spark)).collect()
    assert {row.query: row.concepts for row in rows} == {q: found.of(i) for i, q in enumerate(queries)}
