"""What a release promises, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["PrivacyStatement"]


@dataclass(frozen=True, kw_only=True)
class PrivacyStatement:
    """What a release promises and what it does not: written next to it as `<output>.statement.json`."""

    method: str
    settings: dict[str, Any]
    version: str
    """of QueryCloak"""
    model: str
    """the formal model in one line, or 'none'"""
    parameters: dict[str, float]
    """the numbers of the model, such as k or epsilon; empty where there is none"""
    unit: str
    """what is protected: 'user', 'query', or 'none'"""
    text_users: int = 1
    """each published text of the log was asked by at least so many people; 1 = nothing is promised"""
    identifiers_dropped: bool = False
    """no published text holds an identifier that our patterns find"""
    covers: tuple[str, ...]
    """what the guarantee says, one sentence each"""
    does_not_cover: tuple[str, ...]
    """what stays visible or is published as it was"""
    assumptions: tuple[str, ...] = ()
    randomness: str
    new_ids: bool
    """user ids are new random ones"""
    columns: tuple[str, ...] = ()
    """columns published; filled by the writer"""
    counts_in: dict[str, int]
    counts_out: dict[str, int]
    dropped: dict[str, int]
    """rows left out, by reason"""
    figures: dict[str, float] = field(default_factory=dict)
    """what the method measured of its own release, such as distortion"""

    def __post_init__(self) -> None:
        for name in ("parameters", "figures"):  # 5 and 5.0 must not differ once written and read back
            object.__setattr__(self, name, {key: float(value) for key, value in getattr(self, name).items()})

    @property
    def bound(self) -> float | None:
        """The chance of naming a user that the model allows: 1/k for k-anonymity, None where it says nothing."""
        return 1 / self.parameters["k"] if "k" in self.parameters else None

    def seeded(self) -> PrivacyStatement:
        """Return the statement with what a seed costs, whatever the method."""
        open_to = (
            "made with a seed: who knows or guesses it can undo ids, draws and noise; for experiments, not to publish"
        )
        return replace(self, does_not_cover=(*self.does_not_cover, open_to))

    def short(self) -> str:
        """Return the lines that the command line prints."""
        rows_in = f"{self.counts_in['rows']:,} rows in, " if "rows" in self.counts_in else ""
        lines = [f"{self.method}: {rows_in}{self.counts_out.get('rows', 0):,} rows out", f"guarantee: {self.model}"]
        lines += [f"  covers: {text}" for text in self.covers]
        lines += [f"  does not cover: {text}" for text in self.does_not_cover]
        lines += [f"  dropped: {n:,} rows, {reason}" for reason, n in self.dropped.items() if n]
        lines.append(f"randomness: {self.randomness}")
        return "\n".join(lines)
