"""Policy on a cluster: the rules of `methods/policy`, one after the other. No guarantee, as on one machine.

What can be refused is refused before any job. The rules about texts work on distinct queries (`texts.py`), those about
rows on rows; people are counted exactly, over what the rule before left. Nothing comes to the driver but counts, and,
for a sample, histograms of fixed size. Nothing depends on the order of rows, so a task that runs again makes the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.errors import InputError, UserError
from querycloak.methods.policy.draft import NO_TIMES
from querycloak.methods.policy.policy_statement import Facts, statement_of
from querycloak.methods.policy.rule_columns import ROLES, Columns
from querycloak.methods.policy.rule_combination_users import CombinationUsers
from querycloak.methods.policy.rules import RULES
from querycloak.spark.kept import kept
from querycloak.spark.new_ids import NewIds, all_digits
from querycloak.spark.policy.as_counts import counted, drop_small_counts
from querycloak.spark.policy.columns import choose_columns
from querycloak.spark.policy.combination_users import drop_rare_clicks
from querycloak.spark.policy.entities import judge_entities
from querycloak.spark.policy.ids import assign_ids, round_times
from querycloak.spark.policy.phrase_users import keep_shared_phrases
from querycloak.spark.policy.rows import PolicyRows
from querycloak.spark.policy.sample import draw_sample
from querycloak.spark.policy.text_rules import drop_identifiers, drop_long_queries, drop_rare_queries
from querycloak.spark.policy.texts import Texts
from querycloak.spark.spark_log import SOURCE
from querycloak.spark.spark_release import Draft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from querycloak.methods.policy.policy import Policy
    from querycloak.methods.policy.rule import Rule
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["policy"]

OF_TEXTS: Final = ("identifiers", "query_users", "entities", "phrase_users", "length")
"""Rules that decide by the text of a query and its people."""
TAKEN: Final = ("user", "query", "count", "kind", *ROLES)
"""Names of columns that a release has of its own."""


@dataclass(frozen=True)
class _Ends:
    """When the first and the last query of the log were asked; None = no time is known, or nobody asks for it."""

    first: int | None = None
    last: int | None = None


def policy(log: SparkLog, settings: Policy, random: Randomness, knowledge: Knowledge) -> Draft:
    """Apply the rules to a log."""
    rules: dict[str, Rule] = {"columns": Columns(), **settings.parsed.rules}  # without that rule no column is published
    chosen = {name: rules[name] for name in RULES if name in rules}
    log = log.with_further(_further(log, chosen))
    _check_times(log, chosen)
    log = replace(log, frame=kept(log.frame))  # read and parsed once
    ends = _ends(log) if _days(chosen, log) else _Ends()
    rows, cut = _rows(log, chosen, knowledge, ends)
    for name in (name for name in chosen if name not in OF_TEXTS):
        rows = _applied(name, rows, chosen[name], random, ends)
    facts = Facts(rows.ids, cut, _names(rows), [*_roles(log), *log.further], rows.dropped, rows.figures)
    counts_in = log.counts_in
    statement = statement_of(settings, facts, randomness=random.describe(), counts_in=counts_in, counts_out={})
    if rows.ids == "none":
        counts = rows.frame if "as_counts" in chosen else counted(rows)
        return Draft("counts", counts.select(*_published(rows), "count"), statement)
    frame, truth = _under_new_ids(rows, log, random)
    return Draft("log", frame.select(F.col("id").alias("user"), *_published(rows)), statement, truth)


def _further(log: SparkLog, chosen: Mapping[str, Rule]) -> list[str]:
    """Return the columns without a role that a rule names, as far as the log has them."""
    named = [*getattr(chosen.get("combination_users"), "columns", ()), *getattr(chosen["columns"], "keep", ())]
    found = [name for name in dict.fromkeys(named) if name in log.further and name not in ROLES]
    lower = [name.lower() for name in found]  # names of Spark's columns that differ by case alone are one
    for i, name in enumerate(lower):
        if name in TAKEN or name in lower[:i]:
            problem = f"the column {found[i]} is called like another one of the release; rename it"
            raise InputError.at(SOURCE, problem)
    return found


def _check_times(log: SparkLog, chosen: Mapping[str, Rule]) -> None:
    """Refuse rules that need times where the log has none."""
    per = getattr(chosen.get("ids"), "per", "none")
    if not log.has("time") and (per in {"day", "session"} or _days(chosen, log)):
        raise UserError(NO_TIMES)


def _days(chosen: Mapping[str, Rule], log: SparkLog | None = None) -> set[int]:
    """Return for which last days, or for which periods, rules ask; of clicks where the log has any."""
    rules = [chosen[name] for name in ("query_users", "entities", "combination_users") if name in chosen]
    if log is not None:
        rules = [rule for rule in rules if not isinstance(rule, CombinationUsers) or _any_there(rule, chosen, log)]
    return {days for rule in rules if (days := getattr(rule, "days", None)) is not None}


def _any_there(rule: CombinationUsers, chosen: Mapping[str, Rule], log: SparkLog) -> bool:
    there = {*_roles(log), *log.further} - (set() if _has_clicks(chosen) else {"url", "rank"})
    return not there.isdisjoint(rule.columns)


def _ends(log: SparkLog) -> _Ends:
    found = log.frame.select(F.min("time"), F.max("time")).first()
    return _Ends() if found is None else _Ends(*found)


def _roles(log: SparkLog) -> list[str]:
    return [role for role in ROLES if log.has(role)]


def _has_clicks(chosen: Mapping[str, Rule]) -> bool:
    """Tell whether there is a row for each click; else there is one for each query event, without a URL."""
    return not {"url", "rank"}.isdisjoint(getattr(chosen["columns"], "keep", ()))


def _rows(log: SparkLog, chosen: Mapping[str, Rule], knowledge: Knowledge, ends: _Ends) -> tuple[PolicyRows, bool]:
    """Apply the rules about texts, and return the rows that are left, and whether a text may be a part of a query."""
    clicks = _has_clicks(chosen)
    frame = log.frame if clicks else log.events
    rows = log.counts_in["rows"] if clicks else log.counts_in["query events"]
    time = F.col("time") if log.has("time") else F.lit(None).cast("bigint")
    of_click = time.isNotNull() & F.col("url").isNotNull() if clicks and log.has("url") else F.lit(False)
    there = [name for name in (*ROLES, *log.further.values()) if name in frame.columns]
    asked = {"asked query": F.col("query"), "asked at": time, "of click": of_click}
    out = PolicyRows(frame.withColumns(asked), tuple(there), rows, log.further)
    out = replace(out, dropped={"further clicks of a query": log.counts_in["rows"] - rows})
    if "combination_users" not in chosen and not any(name in chosen for name in OF_TEXTS):
        return replace(out, frame=out.frame.withColumnRenamed("query", "text")), False
    texts, cut = _texts(frame, chosen, knowledge, ends)
    shown = texts.there.select(F.col("query").alias("of query"), "text", "form")
    joined = out.frame.join(shown, F.col("query") == F.col("of query")).drop("query", "of query")
    counts = texts.counts()
    figures = {name: counts.cut.get(rule, 0) for name, rule in FIGURES.items() if f"cut {rule}" in texts.table.columns}
    left = replace(out, frame=joined, left=counts.left, dropped={**out.dropped, **counts.dropped}, figures=figures)
    return left, cut


FIGURES: Final = {
    "entities: rows cut to what enough people asked": "entities",
    "phrase_users: rows cut to a phrase": "phrase_users",
}


def _texts(frame: DataFrame, chosen: Mapping[str, Rule], knowledge: Knowledge, ends: _Ends) -> tuple[Texts, bool]:
    """Apply the rules about texts, each query once."""
    recent = {name: rule for name, rule in chosen.items() if name in OF_TEXTS}
    texts, cut = Texts.of(frame, _days(recent), ends.last), False
    of_texts: dict[str, Any] = {
        "identifiers": lambda texts, rule: drop_identifiers(texts, rule, knowledge),
        "query_users": drop_rare_queries,
        "entities": lambda texts, rule: judge_entities(texts, rule, knowledge),
        "phrase_users": lambda texts, rule: keep_shared_phrases(texts, rule, knowledge),
        "length": drop_long_queries,
    }
    for name in (name for name in OF_TEXTS if name in chosen):
        texts = of_texts[name](texts, chosen[name])
        if name in {"entities", "phrase_users"}:
            cut = cut or (getattr(chosen[name], "rare", "") == "cut" and texts.any_cut())
            if cut and "identifiers" in chosen:
                # Words that are next to each other only since something between them was cut may form an identifier.
                texts = of_texts["identifiers"](texts, chosen["identifiers"])
    return texts, cut


def _applied(name: str, rows: PolicyRows, rule: Any, random: Randomness, ends: _Ends) -> PolicyRows:
    """Apply a rule about rows."""
    match name:
        case "combination_users":
            return drop_rare_clicks(rows, rule, ends.first)
        case "time":
            return round_times(rows, rule)
        case "ids":
            return assign_ids(rows, rule)
        case "columns":
            return choose_columns(rows, rule)
        case "sample":
            return draw_sample(rows, rule, random)
        case _:
            return drop_small_counts(rows, rule)


def _names(rows: PolicyRows) -> list[str]:
    """Return the names of the columns that are published next to each query."""
    own = {called: name for name, called in rows.further.items()}
    return [own.get(name, name) for name in rows.columns]


def _published(rows: PolicyRows) -> list[Any]:
    """Return the text and the columns under the names of a release."""
    pairs = zip(rows.columns, _names(rows), strict=True)
    return [F.col("text").alias("query"), *(F.col(column).alias(name) for column, name in pairs)]


def _under_new_ids(rows: PolicyRows, log: SparkLog, random: Randomness) -> tuple[DataFrame, DataFrame]:
    """Put the rows of each unit under a new id, drawn by the name of the unit; return also whose each id is."""
    frame = rows.frame if "unit" in rows.frame.columns else rows.frame.withColumn("unit", F.col("user"))
    frame = kept(frame.select("unit", "user", "text", *rows.columns))
    units = frame.select("unit", "user").distinct()
    ids = NewIds.of(units.select("unit"), random, avoid=log.users, digits=all_digits(log.users))
    return ids.put_on(frame, "unit"), ids.put_on(units, "unit").select("id", "user")
