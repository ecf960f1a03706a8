"""Rule `query_users`: a query is left out where too few people asked it as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from querycloak.methods.policy.draft import Draft, Help, counted_people, form_codes, in_last_days
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting
from querycloak.texts.compared import compared

__all__ = ["QueryUsers", "as_many_spelled_it", "drop_rare_queries"]


@dataclass(frozen=True)
class QueryUsers(Rule):
    """Settings of `query_users`."""

    name: ClassVar[str] = "query_users"
    required: ClassVar[tuple[str, ...]] = ("people",)

    people: int = setting(1, "so many people must have asked the whole query", minimum=1)
    days: int | None = setting(None, "in so many days before the end of the log", minimum=1, shown="the whole log")


def drop_rare_queries(draft: Draft, rule: QueryUsers, given: Help) -> Draft:  # noqa: ARG001 - rules are called alike
    """Leave out queries that fewer people asked, however they spelled them."""
    form, forms = form_codes(draft.table.queries)
    counts = in_last_days(draft, rule.days)
    people = counted_people(form[draft.table.query[counts]], draft.table.user[counts], len(forms))
    kept = draft.keep(
        (people >= rule.people)[form][draft.table.query], f"query_users: asked by fewer than {rule.people} people"
    )
    return as_many_spelled_it(kept, rule.people)


def as_many_spelled_it(draft: Draft, people: int) -> Draft:
    """Publish a query as it was spelled where so many people spelled it so, else in the form that is compared.

    Capitals and spaces that one person alone types would name that person as well as a text does.
    """
    import polars as pl

    texts = draft.table.queries
    so_spelled = counted_people(draft.table.query, draft.table.user, len(texts)) >= people
    words = pl.select(pl.when(pl.Series(so_spelled)).then(texts).otherwise(compared(texts))).to_series()
    return draft.with_texts(words, cut=False)
