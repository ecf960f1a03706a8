"""Private methods with rows for each user: with a seed the table of one machine, and what the gate refuses."""

from dataclasses import replace

import pytest
from test_spark_frequent_queries import frame_of, log_of

from querycloak.errors import GateError, ParameterError
from querycloak.evaluation.workbench import Workbench

pytestmark = pytest.mark.slow

TEXTS = ["tennis", "green tea", "cheap hotels", "football boots", "zxqv", "new york marathon", "apple pie recipe"]
ROWS = [
    (f"u{i % 17}", TEXTS[(i * i + i // 5) % len(TEXTS)] if i % 17 else "zxqv", 1_141_000_000 + i, None)
    for i in range(300)
]
SAME = ("settings", "parameters", "model", "unit", "covers", "does_not_cover", "assumptions", "account", "counts_out")


def published(release):
    log = release.log
    category = log.category
    columns = [[log.users[u] for u in log.user.tolist()], [log.queries[q] for q in log.query.tolist()]]
    if category is not None:
        columns += [[log.categories[c] for c in category.tolist()], log.extra["count"].to_list()]
    return sorted(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("histogram-dp", {"epsilon": 4.0, "per_user_queries": 12, "domain": "sport"}),
        ("semantic-dp", {"epsilon": 60.0, "rows_per_user": 7, "domain": "sport"}),
    ],
)
def test_with_a_seed_the_table_is_that_of_one_machine(spark, method, settings):
    from querycloak.spark import anonymize

    table, statement = anonymize(frame_of(spark, ROWS), method, seed=11, **settings)
    release = Workbench(log_of(ROWS)).anonymize(method, seed=11, **settings)
    for name in SAME:
        assert getattr(statement, name) == getattr(release.statement, name), name
    columns = ["user", "query", *(["category", "count"] if method == "histogram-dp" else [])]
    assert sorted(tuple(row) for row in table.select(columns).collect()) == published(release)
    assert statement.counts_out["users"] == 17, "also who has no concept at all"


def test_what_needs_the_order_of_a_log_or_one_file_is_refused(spark):
    from querycloak.spark import anonymize

    frame = frame_of(spark, ROWS[:5])
    with pytest.raises(ParameterError, match="has no order"):
        anonymize(frame, "semantic-dp", shape="paper")
    with pytest.raises(ParameterError, match="A ledger is kept on one machine"):
        anonymize(frame, "histogram-dp", ledger="x.ledger", ledger_log="x")


def test_the_gate_refuses_private_drafts_that_show_the_log(spark):
    """Each wrong draft shows something of the log besides its noise, or spends what was not asked for."""
    from pyspark.sql import functions as F  # noqa: N812

    from querycloak.spark.gate import publish
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.release_on_spark import make_draft
    from querycloak.spark.spark_log import SparkLog

    log = SparkLog.of(frame_of(spark, ROWS))
    knowledge = Knowledge.of(spark)
    settings = {"epsilon": 9.0, "delta": 1e-3}
    good = make_draft(log, "frequent-queries", knowledge, seed=1, settings=settings)
    good = replace(good, frame=good.frame.persist())
    assert publish(good, log, knowledge).statement.account
    said, frame, budget = good.statement, good.frame, good.budget

    class Spent:
        """A budget of which a share was left unused."""

        account = (replace(budget.account[0], used=False),)
        lines = budget.lines
        closed = False
        total = budget.total

    wrong = {
        "exact counts": replace(good, statement=replace(said, counts_in={"rows": 300})),
        "no bound and no setting": replace(
            good, statement=replace(said, parameters={**said.parameters, "users": 17.0})
        ),
        "time": replace(good, frame=frame.withColumn("time", F.lit(5).cast("bigint"))),
        "rank": replace(good, frame=frame.withColumn("rank", F.lit(5))),
        "url": replace(good, frame=frame.withColumn("url", F.lit("a.example"))),
        "concept_id": replace(good, frame=frame.withColumn("concept_id", F.lit("a value of the log"))),
        "secret": replace(good, frame=frame.withColumn("secret", F.lit("x"))),
        "kind": replace(good, frame=frame.withColumn("kind", F.lit("cem's query"))),
        "no whole numbers": replace(good, frame=frame.withColumn("count", F.col("count") + F.lit(0.5))),
        "learned from the log": replace(good, statement=replace(said, mapping_learned=True)),
        "users are": replace(good, frame=frame.withColumn("user", F.lit("u3"))),
        "ids of the log": replace(good, kind="log", frame=frame.withColumn("user", F.lit("u3"))),
        "more than promised": replace(
            good,
            statement=replace(
                said, settings={**said.settings, "epsilon": 1.0}, parameters={**said.parameters, "epsilon": 1.0}
            ),
        ),
        "no budget": replace(good, budget=None),
        "never used": replace(good, budget=Spent()),
    }
    for words, draft in wrong.items():
        with pytest.raises(GateError, match=words):
            publish(draft, log, knowledge)
    frame.unpersist()
