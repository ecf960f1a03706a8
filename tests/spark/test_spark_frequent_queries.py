"""Frequent queries on a cluster: contributions of one machine to the last digit, and the same chances."""

import random

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2_contingency

from querycloak.errors import ParameterError
from querycloak.evaluation.workbench import Workbench
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.query_log import QueryLog
from querycloak.methods.dp import _contribution as one_machine
from querycloak.methods.dp._set_union import Round
from querycloak.methods.dp._set_union import set_union as set_union_of_one_machine
from querycloak.methods.dp.frequent_queries import FrequentQueries, union_shares
from querycloak.randomness import Randomness

pytestmark = pytest.mark.slow

WORDS = ["tea", "green", "flights", "to", "oslo", "caf\u00e9", "\u3000cheap", "weather", "\U0001f375"]


def rows_of(seed, users=40, each=30):
    draw = random.Random(seed)
    out = []
    for i in range(users * each):
        text = " ".join(draw.choice(WORDS) for _ in range(1 + min(int(draw.expovariate(0.9)), 5)))
        url = draw.choice([None, "a.example", "b.example"])
        out.append((f"u{int(users * draw.random() ** 3)}", text, 1_141_000_000 + 7 * i, url))
    return out


def log_of(rows):
    return QueryLog.of(pl.DataFrame(rows, schema=["user", "query", "time", "url"], orient="row"), yes=True)


def frame_of(spark, rows):
    shuffled = rows.copy()
    random.Random(1).shuffle(shuffled)
    return spark.createDataFrame(shuffled, "user string, query string, time bigint, url string").repartition(3)


def spark_log(spark, rows):
    from querycloak.spark.spark_log import SparkLog

    return SparkLog.of(frame_of(spark, rows))


class ByPair(Randomness):
    """The words that a cluster draws, in the order in which one machine asks for them."""

    def __init__(self, keyed, some, users, items):
        super().__init__()
        names = [(users[u], items[i]) for u, i in zip(some.user.tolist(), some.item.tolist(), strict=True)]
        self._words = keyed.words(f"{len(user)} {user}{item}" for user, item in names)[:, 0]

    def words(self, n):
        assert n == len(self._words)
        return self._words


@pytest.mark.parametrize(("kind", "d"), [("query", 12), ("phrase", 60)])
def test_sums_and_people_are_those_of_one_machine_to_the_last_digit(spark, kind, d):
    from querycloak.methods.dp import _set_union_items as items_of_one_machine
    from querycloak.spark.dp import contribution, items

    rows = rows_of(3)
    log = log_of(rows)
    single = getattr(items_of_one_machine, f"{kind}_items")(log, short=True)
    text = single.text(np.arange(single.users.items)).to_list()
    keyed = KeyedRandomness(Randomness(seed=4))
    heavy = np.bincount(single.users.user) > d
    assert heavy.any()
    assert not heavy.all()
    kept = one_machine.keep_cheapest(
        single.users, single.cost, d, ByPair(keyed, single.users, log.users.to_list(), text)
    )
    unit = 1 << 20
    sums = one_machine.add_up(kept, one_machine.weigh(kept, single.cost, unit))
    people = one_machine.count_people(single.users, d, 1 << 10)

    some = getattr(items, f"{kind}_items")(spark_log(spark, rows), short=True)
    mine = contribution.keep_cheapest(some, d, keyed)
    found = {row.item: row["sum"] for row in contribution.add_up(contribution.weigh(mine, unit)).collect()}
    assert found == {text[i]: n for i, n in enumerate(sums.tolist()) if n}
    found = {row.item: row["sum"] for row in contribution.count_people(some, d, 1 << 10).collect()}
    assert found == dict(zip(text, people.tolist(), strict=True))
    some.unpersist()


def of_copies(chosen, copies):
    """Return the chosen items of each copy of a log."""
    out = [[] for _ in range(copies)]
    for row in chosen:
        copy, _, text = row.item.partition("/")
        out[int(copy)].append(text)
    return [tuple(sorted(some)) for some in out]


def test_what_is_published_has_the_chances_of_one_machine(spark):
    """400 copies of a log in one job, each with users and items of its own: so nothing but the code is shared.

    What a copy publishes depends on its own users' rows and on the noise of its own items, which are drawn by their
    names: 400 independent runs. Two samples of one distribution have a p-value below 1e-5 once in 100,000 times.
    """
    from querycloak.spark.dp.set_union import set_union

    settings = FrequentQueries(epsilon=3.0, delta=0.02)
    items = {"tea": 14, "a b": 11, "c": 9, "d": 7, "e": 6, "f": 3}
    pairs = [(f"{i % 16}", item) for item, n in items.items() for i in range(n)]
    users, texts = sorted({u for u, _ in pairs}), sorted(items)
    code = [(users.index(u), texts.index(t)) for u, t in pairs]
    some = one_machine.Contributions.of(*np.array(code).T, len(texts))
    cost = np.array([1 + text.count(" ") for text in texts])

    def rounds():
        shares = union_shares(settings)[1]["query"].rounds
        assert len(shares) == 2
        return [Round(share.noise, share.threshold) for share in shares]

    runs, copies, d = 4000, 400, 3
    expected = [
        tuple(texts[i] for i in set_union_of_one_machine(some, cost, d, rounds(), Randomness(seed))[0].tolist())
        for seed in range(runs)
    ]
    rows = [(f"{c}/{user}", f"{c}/{item}", 1 + item.count(" ")) for c in range(copies) for user, item in pairs]
    frame = spark.createDataFrame(rows, "user string, item string, cost int").repartition(3)
    chosen = set_union(frame, d, rounds(), Randomness(5))
    found = of_copies(chosen.items.collect(), copies)
    outcomes = sorted(set(expected), key=expected.count, reverse=True)[:8]
    assert 0.02 < expected.count(outcomes[1]) / runs < 0.9
    classes = [[*(s.count(o) for o in outcomes), sum(x not in outcomes for x in s)] for s in (expected, found)]
    table = np.array(classes)[:, np.array(classes)[1] + np.array(classes)[0] > 20]
    assert chi2_contingency(table).pvalue > 1e-5
    share = lambda s, t: np.mean([t in some for some in s])  # noqa: E731
    for text in texts:  # four standard errors of 400 runs
        p = share(expected, text)
        assert abs(share(found, text) - p) < 4 * np.sqrt(p * (1 - p) / copies) + 0.01, text


def anonymized(spark, rows, **settings):
    from querycloak.spark import anonymize

    return anonymize(frame_of(spark, rows), "frequent-queries", **settings)


SAME = ("settings", "parameters", "model", "unit", "covers", "does_not_cover", "assumptions", "account", "counts_in")


@pytest.mark.parametrize(
    "settings",
    [
        {"items": "both", "clicks": True, "choose": "gaussian"},
        {"choose": "korolova", "per_user": 3},
    ],
)
def test_the_statement_and_account_are_those_of_one_machine(spark, settings):
    rows = rows_of(5, users=60)
    settings = {"epsilon": 20.0, "delta": 1e-3, **settings}
    table, statement = anonymized(spark, rows, seed=2, **settings)
    release = Workbench(log_of(rows)).anonymize("frequent-queries", seed=2, **settings)
    for name in SAME:
        assert getattr(statement, name) == getattr(release.statement, name), name
    published = table.collect()
    assert len(published) == statement.counts_out["rows"] > 0
    assert {row["count"] for row in published} != {1}
    texts = {row[1] for row in rows} | (
        {run for row in rows for run in runs_of(row[1])} if "items" in settings else set()
    )
    assert {row["query"] for row in published} <= texts
    if "items" in settings:
        assert {row.kind for row in published} == {"query", "phrase", "click"}
        assert all((row.url is not None) == (row.kind == "click") for row in published)


def runs_of(text):
    words = text.lower().split()
    return {" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}


def test_a_release_without_a_seed_draws_anew_and_is_the_same_whenever_it_is_looked_at(spark):
    rows = rows_of(6)
    table, statement = anonymized(spark, rows, epsilon=8.0, delta=1e-3, choose="gaussian")
    assert "exact sampler" in statement.randomness
    assert "secret key" in statement.randomness
    assert statement.counts_in == statement.dropped == statement.figures == {}
    again, _ = anonymized(spark, rows, epsilon=8.0, delta=1e-3, choose="gaussian")
    first = sorted(map(tuple, table.collect()))
    assert first == sorted(map(tuple, table.repartition(5).collect()))
    assert first != sorted(map(tuple, again.collect()))


def test_the_first_queries_of_a_user_count_by_time(spark):
    from querycloak.methods.dp._korolova import first_queries as of_one_machine
    from querycloak.spark.dp.korolova import first_queries

    rows = rows_of(8)
    log = log_of(rows)
    counts = first_queries(spark_log(spark, rows), 3, Randomness(1)).collect()
    expected = of_one_machine(log, 3)
    assert {r.item: r["sum"] for r in counts} == {
        q: n for q, n in zip(log.queries, expected.tolist(), strict=True) if n
    }


def test_a_filtered_log_holds_the_rows_of_chosen_queries(spark):
    rows = rows_of(9)
    table, statement = anonymized(spark, rows, seed=3, epsilon=30.0, delta=1e-2, output_form="log", choose="gaussian")
    queries = [row[1] for row in rows]
    published = [row["query"] for row in table.collect()]
    assert published
    assert all(published.count(text) == queries.count(text) for text in set(published))
    assert statement.model == "none"
    assert statement.dropped["query not frequent enough"] == len(rows) - len(published)
    assert table.columns == ["user", "query"]


def test_a_ledger_is_refused_before_any_job(spark):
    with pytest.raises(ParameterError, match="A ledger is kept on one machine"):
        anonymized(spark, rows_of(1, users=2), ledger="x.ledger", ledger_log="x")
