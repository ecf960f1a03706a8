"""A column of texts gets what each is about, as on one machine; rows and other columns stay as they are."""

import pytest

from querycloak.errors import InputError, ParameterError
from querycloak.knowledge.taxonomy import Taxonomy

pytestmark = pytest.mark.slow

SMALL = Taxonomy.from_parents([-1, 0, 1, 0, 3], [["entity"], ["sport"], ["water sport"], ["place"], ["Mediterranean"]])
ROWS = [(1, "water sports in the Mediterranean"), (2, "zxqv"), (3, None), (4, "zxqv"), (5, "Sport")]


def test_each_text_gets_its_labels_paths_or_concepts(spark):
    from querycloak.spark import map_queries

    frame = spark.createDataFrame(ROWS, "n int, `what was typed` string")
    found = map_queries(frame, "what was typed", taxonomy=SMALL)
    assert found.columns == ["n", "what was typed", "labels"]
    about = {1: ["water sport", "Mediterranean"], 2: [], 3: None, 4: [], 5: ["sport"]}
    assert {row.n: row.labels for row in found.collect()} == about
    numbers = map_queries(frame, "what was typed", show="concepts", to="c", taxonomy=SMALL).collect()
    assert {row.n: row.c for row in numbers} == {1: [2, 4], 2: [], 3: None, 4: [], 5: [1]}
    paths = map_queries(frame.limit(1), "what was typed", show="paths", taxonomy=SMALL).first().paths
    assert paths == [SMALL.paths[2], SMALL.paths[4]]


def test_what_cannot_be_asked_for_is_refused(spark):
    from querycloak.spark import map_queries

    frame = spark.createDataFrame(ROWS, "labels int, query string")
    with pytest.raises(InputError, match="there is no column 'text'"):
        map_queries(frame, "text")
    with pytest.raises(ParameterError, match="concepts, labels, paths"):
        map_queries(frame, show="tree")
    with pytest.raises(ParameterError, match="not there yet"):
        map_queries(frame)
