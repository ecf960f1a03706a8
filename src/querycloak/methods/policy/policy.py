"""Policy: what a regulator or a service asks for, as a list of rules from a preset or a TOML file. No guarantee.

The rules are applied one after the other in the order of `rules.py`; each reads what the one before it left. Without a
rule `columns` nothing but id and query is published; without a rule `ids`, ids are new ones of this release; ids of the
log never are. Rows without ids are published as counts of equal rows: without ids, and in no order, that is all that
the rows tell (docs/adr/0104-policies.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from querycloak.errors import ParameterError
from querycloak.methods.policy.draft import Draft, Help
from querycloak.methods.policy.policy_statement import Facts, statement_of
from querycloak.methods.policy.policy_table import table_of_counts, table_of_ids
from querycloak.methods.policy.policy_text import PolicyRules, parse_policy
from querycloak.methods.policy.presets_list import policy_text
from querycloak.methods.policy.rule_columns import Columns, columns_of
from querycloak.methods.policy.rules import RULES
from querycloak.progress import QUIET, Progress
from querycloak.releases.publish import Evidence, publish_counts, publish_log
from querycloak.releases.table import count_in, count_out
from querycloak.settings import Settings, setting

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.methods.policy.rule import Rule
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["Policy", "apply_rules", "policy"]


@dataclass(frozen=True)
class Policy(Settings):
    """Settings of `policy`."""

    rules: str = setting("google-2024", "name of a preset (`querycloak policy list`), or a TOML file of rules")

    def __post_init__(self) -> None:
        super().__post_init__()
        # The rules themselves, not the name of a file that may change: they go into the statement, and from there into
        # every further run with the same settings.
        object.__setattr__(self, "rules", parse_policy(*_source(self.rules)).text())

    @cached_property
    def parsed(self) -> PolicyRules:
        """The rules, read."""
        return parse_policy(self.rules, "rules")


def _source(given: str) -> tuple[str, str]:
    if not given.strip():
        raise ParameterError.of("Policy.rules", "a preset or a file", given)
    return policy_text(given)


def policy(
    log: QueryLog, settings: Policy, random: Randomness, progress: Progress = QUIET, *, taxonomy: Taxonomy
) -> Release:
    """Apply the rules to a log."""
    rules = settings.parsed
    draft = apply_rules(log, rules, Help(random, taxonomy), progress)
    columns = columns_of(draft.table)
    truth = None
    if draft.ids == "none":
        table = table_of_counts(draft)
    else:
        table, truth = table_of_ids(draft, random)
    rows = {"rows": len(table), "distinct queries": len(np.unique(table.query))}
    facts = Facts(draft.ids, draft.cut, columns, columns_of(log), draft.dropped, draft.figures)
    statement = statement_of(
        settings,
        facts,
        randomness=random.describe(),
        counts_in=count_in(log),
        counts_out=rows if truth is None else count_out(table),
    )
    if truth is None:
        return publish_counts(table, statement, Evidence(log))
    return publish_log(table, statement, truth, Evidence(log))


def apply_rules(log: QueryLog, rules: PolicyRules, given: Help, progress: Progress = QUIET) -> Draft:
    """Apply rules one after the other."""
    # Without a rule `columns` none is published: an unknown column may hold anything.
    chosen: dict[str, Rule] = {"columns": Columns(), **rules.rules}
    columns = chosen["columns"]
    assert isinstance(columns, Columns)
    draft = Draft.of(log, clicks=not {"url", "rank"}.isdisjoint(columns.keep))
    progress.start("applying rules", total=len(chosen))
    for name in (name for name in RULES if name in chosen):
        draft = RULES[name].apply(draft, chosen[name], given)
        if name in {"entities", "phrase_users"} and draft.cut and "identifiers" in chosen:
            # Words that are next to each other only since something between them was cut may form an identifier.
            draft = RULES["identifiers"].apply(draft, chosen["identifiers"], given)
        progress.advance()
    return draft
