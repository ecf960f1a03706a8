"""Rule `identifiers`: queries with mail, phone, card numbers, addresses and the like are left out; names, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import numpy.typing as npt

from querycloak.methods.policy.draft import Draft, Help, counted_people, form_codes
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting
from querycloak.texts.identifiers import KINDS, find_identifiers
from querycloak.texts.names import find_names

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ALL", "Identifiers", "drop_identifiers", "holds_kind"]

ALL: Final = "all"


@dataclass(frozen=True)
class Identifiers(Rule):
    """Settings of `identifiers`."""

    name: ClassVar[str] = "identifiers"

    kinds: tuple[str, ...] = setting((ALL,), "kinds of identifiers that a query may not hold")
    names: bool = setting(True, "a query may not hold the name of a person who is not famous")
    famous: int = setting(30, "a name is famous where so many people asked the query that holds it", minimum=1)

    def allowed(self, name: str) -> tuple[str, ...] | None:
        """Return the kinds that there are."""
        return (ALL, *KINDS) if name == "kinds" else None

    @property
    def finds_all(self) -> bool:
        """Every kind of identifier is looked for."""
        return ALL in self.kinds or set(self.kinds) == set(KINDS)


def drop_identifiers(draft: Draft, rule: Identifiers, given: Help) -> Draft:
    """Leave out queries with an identifier, and those with a name that too few people asked."""
    texts = draft.table.queries
    holds = holds_kind(texts, rule.kinds)
    draft_ = draft.keep(~holds[draft.table.query], "identifiers: personal identifier")
    if not rule.names:
        return draft_
    form, forms = form_codes(texts)
    people = counted_people(form[draft_.table.query], draft_.table.user, len(forms))
    few = np.flatnonzero((people[form] < rule.famous) & ~holds)
    named = np.zeros(len(texts), dtype=np.bool_)
    named[few] = find_names(texts.gather(few), given.taxonomy)
    return draft_.keep(~named[draft_.table.query], "identifiers: name of a person")


def holds_kind(texts: pl.Series, kinds: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """bool[texts]: holds an identifier of one of these kinds."""
    found = find_identifiers(texts)
    if ALL in kinds:
        return np.asarray(found != 0)
    wanted = sum(1 << bit for bit, kind in enumerate(KINDS) if kind in kinds)
    return np.asarray((found.astype(np.int64) & wanted) != 0)
