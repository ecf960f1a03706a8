"""What one attack found."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["AttackResult"]


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """What one attack found."""

    attack: str
    rate: float
    """share of targets that the attacker names correctly; the expected share where it guesses among equal scores"""
    low: float
    high: float
    """95 % interval of the rate"""
    guess: float
    """rate of blind guessing"""
    bound: float | None
    """the bound that the release's statement claims, if any"""
    targets: int
    names_users: bool = True
    """the attack names users; False where it counts something else that is risky, such as phone numbers"""
    details: dict[str, float] = field(default_factory=dict)
