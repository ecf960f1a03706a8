"""The rows of a block as a log: the same whatever the order in which they come. No session is needed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa

from querycloak.spark.block_rows import read_block

ROWS = [  # user, query, time, rank, url, text, kind, people, concepts
    ("ann", "tea", 5, 1, "a.com", "tea", 0, 9, [3]),
    ("ann", "tea", 5, 2, "b.com", "tea", 0, 9, [3]),
    ("ann", "tea", 5, None, None, "tea", 0, 9, [3]),
    ("bob", "green tea", None, None, None, "tea", 1, 9, [3, -1]),
    ("bob", "who is cem", 7, None, None, None, 3, None, [-1]),
]
NAMES = ("user", "query", "time", "rank", "url", "text", "kind", "people", "concepts")
SCHEMA = pa.schema(
    [
        ("user", pa.string()),
        ("query", pa.string()),
        ("time", pa.int64()),
        ("rank", pa.int32()),
        ("url", pa.string()),
        ("text", pa.string()),
        ("kind", pa.int8()),
        ("people", pa.int64()),
        ("concepts", pa.list_(pa.int32())),
    ]
)


def read(rows):
    table = pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in rows], schema=SCHEMA)
    return read_block(table, np.full(5, -1))


def test_rows_become_a_log_with_its_events_texts_and_concepts() -> None:
    log, concepts, shared, _, _ = read(ROWS)
    assert log.users.to_list() == ["ann", "bob"]
    assert log.event.sum() == 4  # two clicks of one search are one event
    assert shared.words.to_list() == ["tea"]
    assert shared.people.tolist() == [9]
    texts = {log.queries[q]: (int(shared.text[q]), int(shared.kind[q])) for q in range(len(log.queries))}
    assert texts == {"tea": (0, 0), "green tea": (0, 1), "who is cem": (-1, 3)}
    found = [(log.queries[int(q)], int(c)) for q, c in zip(concepts.query, concepts.concept, strict=True)]
    assert sorted(found) == [("green tea", -1), ("green tea", 3), ("tea", 3), ("tea", 3), ("who is cem", -1)]
    assert (log.user[concepts.row] == concepts.user).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_order_in_which_rows_come_makes_no_difference(seed) -> None:
    mixed = [ROWS[i] for i in np.random.default_rng(seed).permutation(len(ROWS))]
    first, second = read(ROWS), read(mixed)
    for name in ("user", "query", "time", "rank", "url"):
        assert getattr(first.log, name).tolist() == getattr(second.log, name).tolist()
    assert first.concepts.concept.tolist() == second.concepts.concept.tolist()
    assert first.shared.text.tolist() == second.shared.text.tolist()
