"""What the queries of a log are about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.modes import DEFAULT_MAPPING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from querycloak.logs.query_log import Codes

__all__ = ["ConceptLog"]


@dataclass(frozen=True, eq=False)
class ConceptLog:
    """What the queries of a log are about: one row per (query event, unit). Every event has at least one row."""

    row: npt.NDArray[np.int64]
    """int64[m], row of the QueryLog (the first of the query event)"""
    user: Codes
    """int32[m]"""
    query: Codes
    """int32[m], code of the query's text"""
    concept: Codes
    """int32[m], -1 = not in the taxonomy"""
    learned: bool = False
    """what was learned from this log (its clicks, its sites) took part in the mapping"""
    mapping: str = DEFAULT_MAPPING
    """how the queries were read (`mapping.modes`)"""

    def __len__(self) -> int:
        return len(self.row)

    def known(self) -> ConceptLog:
        """Keep the rows that have a concept."""
        keep = self.concept != NO_CODE
        return replace(
            self, row=self.row[keep], user=self.user[keep], query=self.query[keep], concept=self.concept[keep]
        )
