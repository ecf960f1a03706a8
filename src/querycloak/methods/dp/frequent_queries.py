"""A table of the queries that many users asked, their phrases and clicks, with noisy counts: differentially private.

Which items are published is chosen with noise, by one of three rules; then each is published with a count and fresh
noise. (ε, δ)-differential privacy of a user holds for the whole table: every part takes its share from one budget.

| `choose` | paper | noise | proof |
|---|---|---|---|
| `sips`, `gaussian` | Swanberg et al. 2023, Gopi et al. 2020: set union | discrete Gaussian | `_set_union.py` |
| `korolova` | Korolova, Kenthapadi, Mishra, Ntoulas 2009 | discrete Laplace | `_korolova.py` |

Korolova et al. also publish clicks on the first ten results of a chosen query, which a search engine knows without the
log. We do not know them, so a pair of query and URL is chosen with noise as well (`clicks`), among chosen queries.

Counts of `korolova` count query events; those of a set union count people: one person's repetitions would need more
noise than they are worth.

The filtered log (`output_form="log"`) publishes all rows whose query was chosen, as they were. It is not
differentially private, and its statement says so; no budget goes to counts then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.errors import ParameterError
from querycloak.methods.dp._dp_settings import (
    LEAST_DELTA,
    MOST_PER_USER,
    DpSettings,
    ledger_log_setting,
    ledger_setting,
)
from querycloak.methods.dp._frequent_table import PlainRows, count_table, covers, does_not_cover
from querycloak.methods.dp._korolova import choose_queries, count_queries, first_queries
from querycloak.methods.dp._noise import check_library, describe_noise, scale_for
from querycloak.methods.dp._set_union_items import click_items, phrase_items, query_items
from querycloak.methods.dp._set_union_table import PLURALS, RESERVED, Plan, choose_items, count_chosen, take_shares
from querycloak.methods.dp._spending import charge, check_columns_public
from querycloak.progress import QUIET, Progress
from querycloak.releases.budget import Budget
from querycloak.releases.publish import Evidence, publish_counts, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.settings import setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.logs.query_log import QueryLog
    from querycloak.methods.dp._set_union import Rule
    from querycloak.methods.dp._set_union_items import Items
    from querycloak.methods.dp._set_union_table import Shares
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share
    from querycloak.releases.release import Release

__all__ = [
    "FrequentQueries",
    "frequent_queries",
    "korolova_shares",
    "log_statement",
    "table_statement",
    "union_rule",
    "union_shares",
]

Int64s = npt.NDArray[np.int64]

_LEAST_SHARE = 1e-6
"""Of the budget: with less, nothing is published but noise, and rounding may leave nothing at all."""


@dataclass(frozen=True)
class FrequentQueries(DpSettings):
    """Settings of `frequent-queries`."""

    epsilon: float = setting(math.log(10), "budget of each user, for choosing and for counts", above=0)
    delta: float = setting(1e-5, "probability that something of one user alone is published", above=0, below=1)
    choose: str = setting(
        "sips",
        "how items are chosen: sips = set union in rounds, gaussian = in one round, korolova = the paper of 2009",
        choices=("sips", "gaussian", "korolova"),
    )
    items: str = setting(
        "queries",
        "what is published: queries, phrases = runs of words of queries, or both",
        choices=("queries", "phrases", "both"),
    )
    clicks: bool = setting(False, "publish also which URLs were clicked for a chosen query")
    per_user: int | None = setting(
        None,
        "most distinct items of a user that count in a choice; korolova: the first so many queries",
        minimum=1,
        below=MOST_PER_USER + 1,
        shown="20 queries, 100 phrases, 20 clicks; korolova: 1",
    )
    counted_per_user: int = setting(
        10, "a user with more chosen items than this counts for each of them in part (not with korolova)", minimum=1
    )
    count_share: float | None = setting(
        None, "share of the budget that goes to the published counts", above=0, below=1, shown="0.2; korolova: 0.5"
    )
    phrase_share: float = setting(0.2, "of both, the share of the budget that phrases have", above=0, below=1)
    click_share: float = setting(0.2, "share of the budget that clicks have, if asked for", above=0, below=1)
    rounds: int = setting(2, "rounds of sips", minimum=1)
    weights: str = setting(
        "short",
        "where the weight of a user goes: short = to texts of few words, equal = to all alike (not with korolova)",
        choices=("short", "equal"),
    )
    output_form: str = setting(
        "table",
        "table = items with noisy counts; log = the rows of the log whose query was chosen: no guarantee",
        choices=("table", "log"),
    )
    ledger: str | None = ledger_setting()
    ledger_log: str | None = ledger_log_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        queries_only = "korolova" if self.choose == "korolova" else "log" if self.output_form == "log" else ""
        if queries_only and self.items != "queries":
            raise ParameterError.of("FrequentQueries.items", f"queries with {queries_only}", self.items)
        if self.clicks and (queries_only or self.items == "phrases"):
            why = f"off with {queries_only or 'phrases alone'}"
            raise ParameterError.of("FrequentQueries.clicks", why, self.clicks)
        if self.ledger is not None and self.output_form == "log":
            raise ParameterError("A ledger needs --output-form table: a log has no bound that could be charged to it.")
        for name in ("count_share", "phrase_share", "click_share"):
            share = getattr(self, name)
            if share is not None and not _LEAST_SHARE <= share <= 1 - _LEAST_SHARE:
                expected = f"a number from {_LEAST_SHARE:g} to {1 - _LEAST_SHARE:g}"
                raise ParameterError.of(f"FrequentQueries.{name}", expected, share)
        if self.delta < LEAST_DELTA:
            raise ParameterError.of("FrequentQueries.delta", f"a number >= {LEAST_DELTA:g}", self.delta)
        if self.rounds > 10:
            raise ParameterError.of("FrequentQueries.rounds", "an integer from 1 to 10", self.rounds)

    def plan(self, kind: str) -> Plan:
        """Return what items of one kind have of the budget, and what a user may contribute to them."""
        share = 1.0 - (self.click_share if self.clicks else 0.0)
        if self.items == "both":
            share *= self.phrase_share if kind == "phrase" else 1 - self.phrase_share
        usual = 100 if kind == "phrase" else 20
        return Plan(
            share=self.click_share if kind == "click" else share,
            count_share=0.0 if self.output_form == "log" else self.share_of_counts,
            rounds=self.rounds if self.choose == "sips" else 1,
            per_user=self.per_user or usual,
            counted=self.counted_per_user,
        )

    @property
    def has_truth(self) -> bool:
        """A table has no users."""
        return self.output_form == "log"

    @property
    def share_of_counts(self) -> float:
        """The share of the budget that counts have."""
        return self.count_share or (0.5 if self.choose == "korolova" else 0.2)


def frequent_queries(
    log: QueryLog, settings: FrequentQueries, random: Randomness, progress: Progress = QUIET
) -> Release:
    """Publish what many users asked."""
    if random.seed is None:
        check_library()
    if settings.output_form == "table":
        check_columns_public(log)
    rows, rule, budget = (_korolova if settings.choose == "korolova" else _set_union)(log, settings, random, progress)
    if settings.output_form == "log":
        return _filtered_log(log, rows[0].code, settings, random, rule)
    published = count_table(log, rows)
    statement = table_statement(settings, rule, describe_noise(random), {"rows": len(published)})
    return publish_counts(published, statement, Evidence(log, budget=budget))


def table_statement(
    settings: FrequentQueries, rule: dict[str, float], randomness: str, counts_out: dict[str, int]
) -> PrivacyStatement:
    """Return the statement of a table of counts; `rule` is what was done, which follows from the settings alone."""
    return PrivacyStatement(
        method="frequent-queries",
        settings=settings.public(),
        version=__version__,
        model=(
            "(epsilon, delta)-differential privacy of each user, "
            f"epsilon {settings.epsilon:g}, delta {settings.delta:g}"
        ),
        parameters={"epsilon": float(settings.epsilon), "delta": float(settings.delta), **rule},
        unit="user",
        counts_in={},
        counts_out=counts_out,
        dropped={},
        **_said(settings, randomness),
    )


def log_statement(
    settings: FrequentQueries, rule: dict[str, float], randomness: str, counts: dict[str, Any]
) -> PrivacyStatement:
    """Return the statement of a filtered log, which promises nothing; counts: `counts_in` and others, by field."""
    return PrivacyStatement(
        method="frequent-queries",
        settings=settings.public(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        figures=rule,
        **counts,
        **_said(settings, randomness),
    )


def union_shares(settings: FrequentQueries) -> tuple[Budget, dict[str, Shares]]:
    """Take what each kind of items has of the budget of a set union, in the order in which they are chosen."""
    budget = Budget(float(settings.epsilon), float(settings.delta), reserved_delta=float(settings.delta) * RESERVED)
    kinds = {"queries": ["query"], "phrases": ["phrase"], "both": ["query", "phrase"]}[settings.items]
    kinds += ["click"] if settings.clicks else []
    return budget, {kind: take_shares(kind, settings.plan(kind), budget) for kind in kinds}


def union_rule(kind: str, rules: Sequence[Rule]) -> dict[str, float]:
    """Return what the rounds of one kind did, for the statement."""
    out: dict[str, float] = {}
    for i, done in enumerate(rules):
        name = f" of {PLURALS[kind]}, round {i + 1}"
        out |= {f"deviation of the noise{name}": done.deviation, f"threshold{name}": done.threshold}
    return out


def korolova_shares(settings: FrequentQueries) -> tuple[Budget, Share, Share | None]:
    """Take what choosing and counting have of the budget of Korolova et al.; a log has no counts."""
    budget = Budget(float(settings.epsilon), float(settings.delta))
    table = settings.output_form == "table"
    share = 1 - settings.share_of_counts if table else 1.0
    to_choose = budget.take("choosing queries", fraction=share, delta=float(settings.delta))
    to_count = budget.take_rest("counts of the chosen") if table else None
    for part in (to_choose, to_count):  # noise that would overflow is refused before a ledger is charged
        if part is not None:
            scale_for(settings.per_user or 1, part.epsilon)
    return budget, to_choose, to_count


def _set_union(
    log: QueryLog, settings: FrequentQueries, random: Randomness, progress: Progress
) -> tuple[list[PlainRows], dict[str, float], Budget]:
    """Choose items by set union and count people: the rows of the table, and what was done."""
    budget, shares = union_shares(settings)
    log = _taking_part(log, settings, budget, progress)
    rows: list[PlainRows] = []
    rule: dict[str, float] = {}
    queries: Int64s = np.zeros(0, dtype=np.int64)
    for kind in shares:
        progress.start(f"choosing {PLURALS[kind]}")
        items, plan = _items(log, kind, settings, queries), settings.plan(kind)
        chosen = choose_items(items, plan, shares[kind], random)
        rule |= union_rule(kind, chosen.rules)
        count = count_chosen(items, chosen, plan, shares[kind], random) if plan.count_share else None
        rows.append(PlainRows(kind, chosen.code, chosen.text, chosen.url, count))
        queries = chosen.code if kind == "query" else queries
    return rows, rule, budget


def _items(log: QueryLog, kind: str, settings: FrequentQueries, queries: Int64s) -> Items:
    """Return the items of a kind; clicks are of `queries`, those that were chosen."""
    short = settings.weights == "short"
    if kind == "click":
        return click_items(log, queries)
    return query_items(log, short=short) if kind == "query" else phrase_items(log, short=short)


def _korolova(
    log: QueryLog, settings: FrequentQueries, random: Randomness, progress: Progress
) -> tuple[list[PlainRows], dict[str, float], Budget]:
    """Choose and count queries with Laplace noise."""
    budget, to_choose, to_count = korolova_shares(settings)
    d = settings.per_user or 1
    log = _taking_part(log, settings, budget, progress)
    progress.start("choosing queries")
    counts = first_queries(log, d)
    chosen, rule = choose_queries(counts, d, to_choose, random)
    shown = None if to_count is None else count_queries(counts, chosen, d, to_count, random)
    return [PlainRows("query", chosen, log.queries.gather(chosen), None, shown)], rule, budget


def _taking_part(log: QueryLog, settings: FrequentQueries, budget: Budget, progress: Progress) -> QueryLog:
    """Return the rows of those who take part: all, or those whom a ledger was charged for."""
    takes_part = charge(log, settings, budget, progress, method="frequent-queries")
    rows = takes_part[log.user]
    return log if rows.all() else log.take(rows)


def _filtered_log(
    log: QueryLog, chosen: Int64s, settings: FrequentQueries, random: Randomness, rule: dict[str, float]
) -> Release:
    """Publish the rows of the log whose query was chosen: no guarantee."""
    event = log.event
    kept = event & np.isin(log.query, chosen)
    published, truth, *_ = under_new_ids(log, log.user[kept], log.query[kept], random)
    counts: dict[str, Any] = {
        "counts_in": count_in(log),
        "counts_out": count_out(published),
        "dropped": {
            "further clicks of a query": int((~event).sum()),
            "query not frequent enough": int((event & ~kept).sum()),
        },
    }
    statement = log_statement(settings, rule, describe_noise(random), counts)
    return publish_log(published, statement, truth, Evidence(log))


def _said(settings: FrequentQueries, randomness: str) -> dict[str, Any]:
    """Return what a statement says besides numbers."""
    table = settings.output_form == "table"
    return {
        "covers": covers(settings.epsilon, settings.delta) if table else (),
        "does_not_cover": does_not_cover(table=table, people=settings.choose != "korolova", adds_up=settings.adds_up),
        "assumptions": ("one person is one user of the log", "the settings were chosen without looking at the log"),
        "randomness": randomness,
        "new_ids": True,
    }
