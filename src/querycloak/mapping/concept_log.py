"""What the queries of a log are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from querycloak.logs.query_log import NO_CODE

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

    def __len__(self) -> int:
        return len(self.row)

    def known(self) -> ConceptLog:
        """Keep the rows that have a concept."""
        keep = self.concept != NO_CODE
        return ConceptLog(self.row[keep], self.user[keep], self.query[keep], self.concept[keep], self.learned)
