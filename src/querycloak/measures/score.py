"""What one measure found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Score"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one measure found."""

    measure: str
    value: float
    better: Literal["higher", "lower"]
    details: dict[str, float] = field(default_factory=dict)
    curve: dict[int, float] = field(default_factory=dict)
    """the value by a number that somebody has to choose, such as that of clusters; empty = there is none"""

    def to_row(self) -> dict[str, object]:
        """Return the measure and its value, for a table."""
        return {"measure": self.measure, "value": float(self.value), "better": self.better}

    def to_cells(self) -> dict[str, str]:
        """Return the same as text."""
        return {"measure": self.measure, "value": f"{self.value:.4f}", "better": self.better}
