"""What an audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from querycloak.releases.account import Relation

__all__ = ["Audit", "AuditedPair"]


@dataclass(frozen=True)
class AuditedPair:
    """What was found on one pair."""

    pair: str
    what: str
    """how the user differs"""
    people: int
    """how many others there are"""
    claim: float
    """epsilon of the statement"""
    delta: float
    """delta of the statement"""
    event: str
    likely: str
    """in which log of the pair the event is more likely: `first`, the one with the user, or `second`"""
    choosing: int
    """runs of each side on which the event was chosen"""
    promise: float
    """roughly the bound that those runs would show; proves nothing"""
    runs: int = 0
    """runs of each side that were measured; 0 = the pair was not among the most telling"""
    hits: int = 0
    other_hits: int = 0
    bound: float = 0.0
    """epsilon is at least this"""

    @property
    def passed(self) -> bool:
        """Whether the bound is at most the claim."""
        return self.bound <= self.claim


@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found; its repr is a table of the pairs that were measured."""

    method: str
    settings: dict[str, Any]
    relation: Relation
    taxonomy: str
    seed: int | None
    error: float
    """probability that any of the bounds is wrong"""
    runs: int
    """of the method, in all"""
    pairs: tuple[AuditedPair, ...]
    """measured ones first, the largest bound against its claim first"""

    @property
    def measured(self) -> tuple[AuditedPair, ...]:
        """The pairs that have a bound."""
        return tuple(pair for pair in self.pairs if pair.runs)

    @property
    def passed(self) -> bool:
        """Whether no bound is above its claim."""
        return all(pair.passed for pair in self.pairs)

    def __repr__(self) -> str:
        from querycloak.evaluation.cards import audit_text

        return audit_text(self)

    def _repr_html_(self) -> str:
        from querycloak.evaluation.cards import audit_card

        return audit_card(self)
