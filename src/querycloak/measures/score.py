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
