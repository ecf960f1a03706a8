"""Rule `length`: long queries are left out, unless enough people asked them: what is long is rare and tells much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from querycloak.errors import ParameterError
from querycloak.methods.policy.draft import Draft, Help, counted_people, form_codes
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

__all__ = ["Length", "drop_long_queries"]


@dataclass(frozen=True)
class Length(Rule):
    """Settings of `length`."""

    name: ClassVar[str] = "length"

    words: int | None = setting(None, "most words of a query", minimum=1)
    characters: int | None = setting(None, "most characters of a query", minimum=1)
    people: int | None = setting(
        None, "longer queries are kept where so many people asked them", minimum=1, shown="never"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.words is None and self.characters is None:
            raise ParameterError.of("Length.words", "given, or `characters`", None)


def drop_long_queries(draft: Draft, rule: Length, given: Help) -> Draft:  # noqa: ARG001 - rules are called alike
    """Leave out queries with too many words or characters, but for those that enough people asked."""
    form, forms = form_codes(draft.table.queries)
    long = np.zeros(len(forms), dtype=np.bool_)
    if rule.words is not None:
        long |= forms.str.split(" ").list.len().to_numpy() > rule.words
    if rule.characters is not None:
        long |= forms.str.len_chars().to_numpy() > rule.characters
    if rule.people is not None:
        long &= counted_people(form[draft.table.query], draft.table.user, len(forms)) < rule.people
    return draft.keep(~long[form][draft.table.query], "length: too long")
