"""What the rules about rows work on: the rows that are left, as they would be published, and what they come from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from querycloak.methods.policy.rule_columns import ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

__all__ = ["PolicyRows"]


@dataclass(frozen=True, eq=False, repr=False)
class PolicyRows:
    """Rows on their way to a release."""

    frame: DataFrame
    """`user`; `text`, as it would be published; columns by their roles and further ones; and of the log, not
    to be published: `asked query`, `asked at` where there are times, `form` where a rule needs it, `of click`: rows of
    one person, query and time that have it are one event; `unit`: rows of one unit get one id"""
    columns: tuple[str, ...]
    """those that would be published next to the text, by their names in the frame"""
    left: int
    """how many rows there are"""
    further: Mapping[str, str] = field(default_factory=dict)
    """name of a column without a role → what it is called in the frame"""
    ids: str = "person"
    dropped: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, int] = field(default_factory=dict)

    def column(self, name: str) -> str | None:
        """Return what a column that a policy names is called in the frame; None = it is not there."""
        found = name if name in ROLES else self.further.get(name)
        return found if found in self.columns else None

    def note(self, reason: str, rows: int) -> PolicyRows:
        """Note that so many rows were left out."""
        dropped = {**self.dropped, reason: self.dropped.get(reason, 0) + rows}
        return replace(self, dropped=dropped, left=self.left - rows)

    def with_columns(self, changed: Mapping[str, Column]) -> PolicyRows:
        """Change columns, or add some that are not published."""
        return replace(self, frame=self.frame.withColumns(dict(changed)))
