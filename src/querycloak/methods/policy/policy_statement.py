"""What the statement of a policy says: what the rules give, and no more. No bound per person is ever promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from querycloak.methods.policy.rule_identifiers import Identifiers
from querycloak.methods.policy.rule_phrase_users import PhraseUsers
from querycloak.texts.identifiers import what_was_searched

if TYPE_CHECKING:
    from querycloak.methods.policy.draft import Draft
    from querycloak.methods.policy.policy_text import PolicyRules
    from querycloak.methods.policy.rule_query_users import QueryUsers

__all__ = ["does_not_cover", "drops_identifiers", "people_per_text"]

_IDS = {
    "person": "all rows of a person stay under one id: who knows some of a person's queries can find the rest",
    "day": "all rows of a person on one day stay under one id: who knows some of a day's queries can find the rest",
    "session": "all rows of a session stay under one id: who knows one query of a session can find the others, and "
    "sessions of one person may be recognised by what is alike in them",
    "none": "rows have no ids; a row may still name a person by what is in it",
}


def people_per_text(policy: PolicyRules, draft: Draft) -> int:
    """Return how many people asked each published text as a whole: what rules about whole queries demand.

    A rule that lets a query pass for its words, or cuts it, demands nothing of the text as a whole.
    """
    if draft.cut:
        return 1
    whole = [cast("QueryUsers", policy.rules["query_users"]).people] if "query_users" in policy.rules else []
    phrases = policy.rules.get("phrase_users")
    if isinstance(phrases, PhraseUsers) and phrases.every == "query":
        whole.append(phrases.people)
    return max(whole, default=1)


def drops_identifiers(policy: PolicyRules) -> bool:
    """Tell whether no published text may hold an identifier of any kind, or the name of somebody who is not famous."""
    rule = policy.rules.get("identifiers")
    return isinstance(rule, Identifiers) and rule.finds_all and rule.names


def does_not_cover(policy: PolicyRules, draft: Draft, columns: list[str]) -> tuple[str, ...]:
    """Say what the rules leave open."""
    said = [
        "no bound for any person is proved: thresholds count people, and say nothing about what an attacker knows",
        _IDS[draft.ids],
    ]
    if people_per_text(policy, draft) == 1:
        said.append("a text, as a whole, may be one that a single person asked")
    said.append(what_was_searched(identifiers="identifiers" in policy.rules))
    if draft.cut:
        said.append("texts may be parts of queries: a part that is published tells that somebody asked more")
    if columns:
        said.append(f"published next to each query: {', '.join(columns)}")
    named = [n for rule in ("combination_users", "columns") for n in _named(policy, rule)]
    missing = [name for name in dict.fromkeys(named) if name not in _in_log(draft)]
    if missing:
        said.append(f"the log has no column {', '.join(missing)}: rules about it were not applied")
    if draft.ids != "none":
        said.append("the number of rows under each id is visible, and where times are not shuffled, their order")
    return tuple(said)


def _named(policy: PolicyRules, rule: str) -> tuple[str, ...]:
    settings = policy.rules.get(rule)
    return cast("tuple[str, ...]", getattr(settings, "columns" if rule == "combination_users" else "keep", ()))


def _in_log(draft: Draft) -> list[str]:
    from querycloak.methods.policy.rule_columns import columns_of

    return columns_of(draft.log)
