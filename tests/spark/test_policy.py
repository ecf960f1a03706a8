"""Policies on Spark publish the table of one machine, and say the same of it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import fields

import polars as pl
import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.methods.policy.presets_list import PRESETS, policy_text

pytestmark = pytest.mark.slow

COLUMNS = "user string, query string, time bigint, rank int, url string, country string, age string"
TEXTS = [
    "tea", "Tea", "green tea", "green  tea", "green tea pot", "tea pot for two", "pot", "of the tea", "red cup",
    "call 555-010-1234", "karen hartwell", "karen hartwell tea", "555-010 tea", "pot 1234", "555-010 secret 1234",
    "a b c d e f g h", "İstanbul ΑΣ tea", "jane@tea.example", "red cup\ttea",
]  # fmt: skip
SPRING = 1_141_171_200


def rows_of(seed, n=220, users=9):
    """Rows of a log in which people, texts, times and clicks meet; rows of one event follow each other."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        user, text = f"u{min(draw.randrange(users), draw.randrange(users))}", draw.choice(TEXTS)
        text = f"rare{draw.randrange(12)} {text}" if draw.random() < 0.2 else text
        time = SPRING + draw.randrange(60) * 1200 + draw.randrange(3) * 86_400
        time = None if draw.random() < 0.05 else time
        country, age = draw.choice(["at", "AT", None, "be"]), draw.choice(["34", "39", "x", None, " 7", "1d"])
        for _ in range(draw.choice([1, 1, 2])):
            clicked = draw.random() < 0.6
            url, rank = (draw.choice("xyz"), draw.randrange(1, 9)) if clicked else (None, None)
            rows.append((user, text, time, rank, url, country, age))
    return sorted(rows, key=lambda row: (row[0], row[1], row[2] or 0, row[4] is not None))


def on_one_machine(rows, rules, seed):
    """Return the release as a bag of rows, whose each id is, and the statement."""
    names = [name.split()[0] for name in COLUMNS.split(", ")]
    table = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    log = QueryLog.of(table.with_columns(pl.from_epoch("time", time_unit="s")), yes=True)
    release = Workbench(log).anonymize("policy", seed=seed, rules=rules)
    published = release.log
    columns = {"query": published.queries.gather(published.query).to_list()}
    if release.has_users:
        columns["user"] = published.users.gather(published.user).to_list()
    if published.time is not None:
        columns["time"] = [None if time == MISSING_TIME else time for time in published.time.tolist()]
    if published.rank is not None:
        columns["rank"] = [None if rank < 0 else rank for rank in published.rank.tolist()]
    if published.url is not None:
        columns["url"] = [None if code < 0 else published.urls[code] for code in published.url.tolist()]
    columns |= {} if published.extra is None else published.extra.to_dict(as_series=False)
    truth = None
    if release.truth is not None:
        truth = set(zip(published.users.to_list(), log.users.gather(release.truth.user).to_list(), strict=True))
    return bag([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]), truth, release


def bag(rows):
    return Counter(tuple(sorted(row.items())) for row in rows)


def on_spark(spark, rows, rules, seed):
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.release_on_spark import make_draft, make_release
    from querycloak.spark.spark_log import SparkLog

    shuffled = random.Random(seed).sample(rows, len(rows))
    log, knowledge = SparkLog.of(spark.createDataFrame(shuffled, COLUMNS).repartition(3)), Knowledge.of(spark)
    draft = make_draft(log, "policy", knowledge, seed=seed, settings={"rules": rules})
    release = make_release(draft, log, knowledge, seed=seed)
    truth = None if release.truth is None else {(row.id, row.user) for row in release.truth.collect()}
    return bag([row.asDict() for row in release.frame.collect()]), truth, release


CLICKS = '[columns]\nkeep = ["time", "rank", "url", "country", "age"]\nround = { rank = 5, age = 10 }\n'
SAMPLE = '[sample]\nshare = 0.6\nof = "{}"\n'


def smaller(name):
    """Return a preset for few people and few days."""
    text = policy_text(name)[0]
    for large, small in (("people = 30", "people = 3"), ("people = 10", "people = 4"), ("days = 395", "days = 2")):
        text = text.replace(large, small)
    return text


POLICIES = {
    **{name: smaller(name) for name in PRESETS},
    "rows": """[combination_users]\npeople = 2\ncolumns = ["url", "country"]\ndays = 2
[time]\ngrain = "week"\n[ids]\nper = "session"\ngap = 20\nmost = 2\n"""
    + CLICKS
    + SAMPLE.format("events"),
    "texts": """[identifiers]\nfamous = 3\n[entities]\npeople = 4\nspan_people = 2\ndays = 2\nrare = "cut"
[phrase_users]\npeople = 4\nrare = "cut"\n"""
    + SAMPLE.format("people"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_table_and_the_statement_are_those_of_one_machine(spark, name):
    seed = list(POLICIES).index(name)
    rows = rows_of(seed)
    expected, truth, single = on_one_machine(rows, POLICIES[name], seed)
    found, ids, release = on_spark(spark, rows, POLICIES[name], seed)
    for field in fields(single.statement):
        assert getattr(release.statement, field.name) == getattr(single.statement, field.name), field.name
    assert found == expected
    assert ids == truth
    assert release.kind == single.kind
