"""What may be published of each query is what one machine chooses, whatever the log is like."""

import random
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.texts.phrases import shared_texts as on_one_machine
from querycloak.texts.text_settings import TextRule

pytestmark = pytest.mark.slow

LABELS = [
    *("thing", "life", "animal", "beast", "mammal", "cat", "house cat"),
    *("siamese cat", "tabby", "dog", "beagle", "poodle", "jaguar"),
]
SMALL = Taxonomy.from_parents([-1, 0, 1, 2, 3, 4, 5, 6, 6, 4, 9, 9, 1], [[label] for label in LABELS])
"""Labels at depth 5 and deeper stand for those below them."""
WORDS = [
    "green",
    "tea",
    "hotels",
    "in",
    "boston",
    "the",
    "jaguar",
    "zxqv",
    "日本茶",
    "カフェ",
    "karen",
    "hartwell",
    "Tea",
]
WHOLE = [
    "Green Tea", " green  tea", "karen hartwell", "karen hartwell boston", "bob@mail.example", "tea bob@mail.example",
    "617-555-0143", "the of", "", "\u3000", "hartwell, karen tea", "[green tea]", "MIT", "İstanbul", "日 本", "本茶",
    "cheap hotels in new york city for the week", "siamese cat", "persian cat", "tabby", "beagle", "poodle",
]  # fmt: skip


def a_log(seed, rows=420, users=24):
    """A log with ties, spellings, Chinese, identifiers, names, and ids with many rows."""
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=draw.choice([1, 2, 2, 3, 4, 9]))) for _ in range(70)] + WHOLE * 2
    people = [f"u{min(draw.randrange(users), draw.randrange(users))}" for _ in range(rows)]
    # Three people hold "blue kettle" in two queries each: six in sum, and three in truth.
    same = [(f"v{i}", f"blue kettle {colour}") for i in range(3) for colour in ("red", "zxqv")]
    return [*((user, draw.choice(texts) or "tea") for user in people), *same]


def both(spark, rows, rule):
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.shared_texts import shared_texts
    from querycloak.spark.spark_log import SparkLog

    rows = [row for row in rows if row[1].strip()]
    single = QueryLog.of(pl.DataFrame(rows, schema=["user", "query"], orient="row"), yes=True)
    bench = Workbench(single, SMALL)
    expected = on_one_machine(single, rule, concepts=bench.concepts, taxonomy=SMALL)
    frame = spark.createDataFrame(rows, "user string, query string").repartition(3)
    found = shared_texts(SparkLog.of(frame), rule, Knowledge.of(spark, SMALL))
    people = [int(expected.people[t]) if t >= 0 else None for t in expected.text.tolist()]
    texts = [expected.words[t] if t >= 0 else None for t in expected.text.tolist()]
    wanted = dict(zip(single.queries, zip(texts, expected.kind.tolist(), people, strict=True), strict=True))
    got = found.of_query.collect()
    assert len(got) == len(wanted)
    assert {row.query: (row.text, row.kind, row.people) for row in got} == wanted
    assert np.array_equal(found.label, expected.label)
    return [kind for _, kind, _ in wanted.values()]


RULE = TextRule(people=4, rare="phrase", identifiers="drop", famous=7)


@pytest.mark.parametrize(
    "rule",
    [
        RULE,
        replace(RULE, most_rows=25, famous=5),
        replace(RULE, rare="label", people=3),
        replace(RULE, rare="drop", identifiers="keep"),
        replace(RULE, rare="keep", famous=2),
        replace(RULE, identifiers="keep", people=2),
    ],
)
def test_texts_are_those_of_one_machine(spark, rule):
    kinds = both(spark, a_log(3), rule)
    if rule.rare == "phrase" and rule.identifiers == "drop":
        assert set(kinds) == {0, 1, 2, 3}
