"""All rules, in the order in which they are applied, whatever file they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.methods.policy.rule_as_counts import AsCounts, drop_small_counts
from querycloak.methods.policy.rule_columns import Columns, choose_columns
from querycloak.methods.policy.rule_combination_users import CombinationUsers, drop_rare_clicks
from querycloak.methods.policy.rule_entities import Entities, judge_entities
from querycloak.methods.policy.rule_identifiers import Identifiers, drop_identifiers
from querycloak.methods.policy.rule_ids import Ids, assign_ids
from querycloak.methods.policy.rule_length import Length, drop_long_queries
from querycloak.methods.policy.rule_phrase_users import PhraseUsers, keep_shared_phrases
from querycloak.methods.policy.rule_query_users import QueryUsers, drop_rare_queries
from querycloak.methods.policy.rule_sample import Sample, draw_sample
from querycloak.methods.policy.rule_time import Time, round_times

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.methods.policy.draft import Draft, Help
    from querycloak.methods.policy.rule import Rule

__all__ = ["RULES", "RuleEntry"]


class RuleEntry(NamedTuple):
    """A rule: its settings, and the function that applies it."""

    settings: type[Rule]
    apply: Callable[[Draft, Any, Help], Draft]


RULES: Final[dict[str, RuleEntry]] = {
    entry.settings.name: entry
    for entry in (
        RuleEntry(Identifiers, drop_identifiers),
        RuleEntry(QueryUsers, drop_rare_queries),
        RuleEntry(Entities, judge_entities),
        RuleEntry(PhraseUsers, keep_shared_phrases),
        RuleEntry(Length, drop_long_queries),
        RuleEntry(CombinationUsers, drop_rare_clicks),
        RuleEntry(Time, round_times),
        RuleEntry(Ids, assign_ids),
        RuleEntry(Columns, choose_columns),
        RuleEntry(Sample, draw_sample),
        RuleEntry(AsCounts, drop_small_counts),
    )
}
"""Rules by name, in the order of their use."""
