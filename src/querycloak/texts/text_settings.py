"""What may be published of a text: the settings that all methods share which publish texts of the log.

The defaults are safe. `as_in_paper` turns them off, to reproduce what a paper did.

>>> rule = TextSettings().rule
>>> rule.people, rule.rare, rule.identifiers
(5, 'phrase', 'drop')
>>> TextSettings(as_in_paper=True).rule.people
1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from querycloak.errors import ParameterError
from querycloak.settings import Settings, setting

__all__ = ["Identifiers", "Rare", "TextRule", "TextSettings"]

Rare = Literal["phrase", "label", "drop", "keep"]
"""What happens to a text that too few people asked."""
Identifiers = Literal["drop", "keep"]

_PAPER: Final[dict[str, Any]] = {"min_query_users": 1, "rare": "keep", "identifiers": "keep"}
_SAFE: Final[dict[str, Any]] = {"rare": "phrase", "identifiers": "drop"}


@dataclass(frozen=True)
class TextRule:
    """When a text may be published, and what instead of it."""

    people: int
    """m: as many people must have asked a text"""
    rare: Rare
    identifiers: Identifiers
    famous: int = 30
    """a person's name may be published where so many people asked it"""
    most_rows: int | None = None
    """an id with more rows counts as nobody for m; None = all ids count"""

    @property
    def promised(self) -> int:
        """How many people are promised for each published text: m, or 1 where rare texts are kept."""
        return 1 if self.rare == "keep" else self.people


@dataclass(frozen=True)
class TextSettings(Settings):
    """Which texts of the log are published."""

    min_query_users: int | None = setting(
        None, "publish only texts that at least this many people asked", minimum=1, shown="k, or 5 without a k"
    )
    rare: str | None = setting(
        None,
        "instead of a text that fewer asked: its longest phrase that so many asked, or else the label of what it is "
        "about; the label alone; nothing; or the text all the same",
        choices=("phrase", "label", "drop", "keep"),
        shown="phrase",
    )
    identifiers: str | None = setting(
        None,
        "texts with mail, phone, card numbers, addresses and the like, and names of people who are not famous",
        choices=("drop", "keep"),
        shown="drop",
    )
    famous: int = setting(30, "a name of a person is published where so many people asked it", minimum=1)
    max_rows_per_user: int | None = setting(
        None, "an id with more rows is taken for a machine, and counts as nobody in --min-query-users", minimum=1
    )
    kinds: str = setting(
        "none",
        "column: say of each row whether it is a query, a phrase or a label; for use inside the house, since it tells "
        "where a rarer query stood",
        choices=("none", "column"),
    )
    as_in_paper: bool = setting(
        False, "publish as the paper does: every text, also of one person, and identifiers; to reproduce, not to share"
    )

    def __post_init__(self) -> None:
        for name, value in (_PAPER if self.as_in_paper else _SAFE | {"min_query_users": self.usual_people}).items():
            given = getattr(self, name)
            if given is None:
                object.__setattr__(self, name, value)
            elif self.as_in_paper and given != value:
                expected = f"{value} with as_in_paper, which sets it"
                raise ParameterError.of(f"{type(self).__name__}.{name}", expected, given)
        super().__post_init__()

    @property
    def usual_people(self) -> int:
        """What `min_query_users` is where it is not given."""
        return 5

    @property
    def rule(self) -> TextRule:
        """When a text may be published."""
        return TextRule(
            people=cast("int", self.min_query_users),
            rare=cast("Rare", self.rare),
            identifiers=cast("Identifiers", self.identifiers),
            famous=self.famous,
            most_rows=self.max_rows_per_user,
        )
