"""Rule `as_counts`: rows become counts of equal rows, and small counts are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from querycloak.methods.policy.draft import Draft, Help, joint_codes
from querycloak.methods.policy.rule import Rule
from querycloak.methods.policy.rule_columns import columns_of
from querycloak.methods.policy.rule_combination_users import codes_of
from querycloak.settings import setting

__all__ = ["AsCounts", "count_rows", "drop_small_counts"]


@dataclass(frozen=True)
class AsCounts(Rule):
    """Settings of `as_counts`."""

    name: ClassVar[str] = "as_counts"

    least: int = setting(1, "smallest count that is published", minimum=1)


def drop_small_counts(draft: Draft, rule: AsCounts, given: Help) -> Draft:  # noqa: ARG001 - rules are called alike
    """Leave out rows that are equal to too few others in query and columns, and take the ids away."""
    of, count = count_rows(draft)
    kept = draft.keep((count >= rule.least)[of], f"as_counts: a count below {rule.least}")
    return replace(kept, unit=None, ids="none")


def count_rows(draft: Draft) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return int64[n], the code of each row by query and columns, and int64[codes], how many rows have it."""
    table = draft.table
    columns = [codes for name in columns_of(table) if (codes := codes_of(table, name)) is not None]
    of = joint_codes(table.query, *columns)
    return of, np.bincount(of).astype(np.int64)
