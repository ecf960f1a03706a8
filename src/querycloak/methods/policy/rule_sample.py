"""Rule `sample`: a random share of the people, or of the query events, is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from querycloak.errors import ParameterError
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

if TYPE_CHECKING:
    from querycloak.methods.policy.draft import Draft, Help

__all__ = ["Sample", "draw_sample"]


@dataclass(frozen=True)
class Sample(Rule):
    """Settings of `sample`."""

    name: ClassVar[str] = "sample"
    required: ClassVar[tuple[str, ...]] = ("share",)

    share: float = setting(1.0, "share that is published, at most 1", above=0)
    of: str = setting("people", "what is drawn", choices=("people", "events"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share > 1:
            raise ParameterError.of("Sample.share", "a number > 0 and <= 1", self.share)


def draw_sample(draft: Draft, rule: Sample, given: Help) -> Draft:
    """Keep the rows of a random share of the people, or of the events, rounded to a whole number of them."""
    drawn = draft.table.user if rule.of == "people" else draft.log.event_row[draft.row]
    units, of = np.unique(drawn, return_inverse=True)
    kept = np.zeros(len(units), dtype=np.bool_)
    kept[given.random.child("sample").permutation(len(units))[: round(rule.share * len(units))]] = True
    return draft.keep(kept[of], "sample: not drawn")
