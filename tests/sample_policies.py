"""Policies applied to small logs, as tests need it: without a large taxonomy, and rule by rule."""

from __future__ import annotations

import polars as pl

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.methods.policy.draft import Help
from querycloak.methods.policy.policy import Policy, apply_rules, policy
from querycloak.methods.policy.policy_text import parse_policy
from querycloak.methods.policy.presets_list import policy_text
from querycloak.randomness import Randomness

TREE = Taxonomy.from_parents([-1], [["thing"]])
DAY = 86_400
SPRING = 1_141_171_200
"""1 March 2006, midnight: a Wednesday."""


def log_of(rows, **columns) -> QueryLog:
    """Make a log of rows (user, text[, time[, url]]), with further columns by name."""
    full = [(*row, *(None,) * (4 - len(row))) for row in rows]
    times = None if any(row[2] is None for row in full) else [row[2] for row in full]
    urls = [row[3] for row in full] if any(row[3] for row in full) else None
    log = QueryLog.of([row[0] for row in full], [row[1] for row in full], times=times, urls=urls)
    if columns:
        return QueryLog(**{**log.__dict__, "extra": pl.DataFrame(columns)})
    return log


def applied(log: QueryLog, text: str, seed: int = 1):
    """Apply rules, and return the draft."""
    return apply_rules(log, parse_policy(text, "rules"), Help(Randomness(seed), TREE))


def published(log: QueryLog, rules: str, seed: int = 1):
    """Publish a log under a policy: a preset, or the text of one."""
    return policy(log, Policy(rules=rules), Randomness(seed), taxonomy=TREE)


def texts_of(release) -> list[str]:
    """Return the published texts, one per row, sorted."""
    return sorted(release.log.queries.gather(release.log.query).to_list())


def preset(name: str, **changes) -> str:
    """Return the text of a preset, with some lines replaced: `people="people = 3"` replaces the first `people = …`."""
    lines = policy_text(name)[0].splitlines()
    for key, line in changes.items():
        at = next(i for i, old in enumerate(lines) if old.startswith(f"{key} ="))
        lines[at] = line
    return "\n".join(lines) + "\n"
