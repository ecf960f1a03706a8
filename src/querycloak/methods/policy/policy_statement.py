"""What the statement of a policy says: what the rules give, and no more. No bound per person is ever promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from querycloak._version import __version__
from querycloak.methods.policy.rule_identifiers import Identifiers
from querycloak.methods.policy.rule_phrase_users import PhraseUsers
from querycloak.releases.statement import PrivacyStatement
from querycloak.texts.identifiers import what_was_searched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.methods.policy.policy import Policy
    from querycloak.methods.policy.policy_text import PolicyRules
    from querycloak.methods.policy.rule_query_users import QueryUsers

__all__ = ["Facts", "does_not_cover", "drops_identifiers", "people_per_text", "statement_of"]

_IDS = {
    "person": "all rows of a person stay under one id: who knows some of a person's queries can find the rest",
    "day": "all rows of a person on one day stay under one id: who knows some of a day's queries can find the rest",
    "session": "all rows of a session stay under one id: who knows one query of a session can find the others, and "
    "sessions of one person may be recognised by what is alike in them",
    "none": "rows have no ids; a row may still name a person by what is in it",
}


@dataclass(frozen=True)
class Facts:
    """What the rules did, as far as the statement tells it."""

    ids: str
    """what has one id: `person`, `day`, `session`, `none`"""
    cut: bool
    """a text may be a part of a query"""
    columns: Sequence[str]
    """published next to each query"""
    in_log: Sequence[str]
    """columns of the log next to user and query"""
    dropped: Mapping[str, int]
    figures: Mapping[str, int]


def statement_of(
    settings: Policy, facts: Facts, *, randomness: str, counts_in: dict[str, int], counts_out: dict[str, int]
) -> PrivacyStatement:
    """Say what the rules of the settings give."""
    rules = settings.parsed
    return PrivacyStatement(
        method="policy",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        text_users=people_per_text(rules, cut=facts.cut),
        identifiers_dropped=drops_identifiers(rules),
        covers=(),
        does_not_cover=does_not_cover(rules, facts),
        randomness=randomness,
        new_ids=True,
        counts_in=counts_in,
        counts_out=counts_out,
        dropped=dict(facts.dropped),
        figures={name: float(n) for name, n in facts.figures.items()},
        parts=facts.cut,
        ids=facts.ids,
    )


def people_per_text(policy: PolicyRules, *, cut: bool) -> int:
    """Return how many people asked each published text as a whole: what rules about whole queries demand.

    A rule that lets a query pass for its words, or cuts it, demands nothing of the text as a whole.
    """
    if cut:
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


def does_not_cover(policy: PolicyRules, facts: Facts) -> tuple[str, ...]:
    """Say what the rules leave open."""
    said = [
        "no bound for any person is proved: thresholds count people, and say nothing about what an attacker knows",
        _IDS[facts.ids],
    ]
    if people_per_text(policy, cut=facts.cut) == 1:
        said.append("a text, as a whole, may be one that a single person asked")
    said.append(what_was_searched(identifiers="identifiers" in policy.rules))
    if facts.cut:
        said.append("texts may be parts of queries: a part that is published tells that somebody asked more")
    if facts.columns:
        said.append(f"published next to each query: {', '.join(facts.columns)}")
    named = [n for rule in ("combination_users", "columns") for n in _named(policy, rule)]
    missing = [name for name in dict.fromkeys(named) if name not in facts.in_log]
    if missing:
        said.append(f"the log has no column {', '.join(missing)}: rules about it were not applied")
    if facts.ids != "none":
        said.append("the number of rows under each id is visible, and where times are not shuffled, their order")
    return tuple(said)


def _named(policy: PolicyRules, rule: str) -> tuple[str, ...]:
    settings = policy.rules.get(rule)
    return cast("tuple[str, ...]", getattr(settings, "columns" if rule == "combination_users" else "keep", ()))
