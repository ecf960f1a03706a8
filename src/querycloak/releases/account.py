"""One line of an account: what one mechanism guarantees, in its own terms, and against which neighbours.

| native guarantee | fields that are not 0 |
|---|---|
| pure differential privacy | `epsilon` |
| approximate differential privacy | `epsilon` and `delta` |
| the price of a threshold: with this probability alone, anything may happen | `delta` |
| zero-concentrated differential privacy (Bun and Steinke 2016) | `rho` |

The neighbouring relation says which two logs may not be told apart: `ADD_REMOVE`, one has one user more; `REPLACE`, one
user's whole log is another one, and the number of users is public; `EMPTY`, one user's log is empty in one of them, and
that the user is there is public. `CONCEPTS` and `CONCEPT` protect less than a user: what the queries of one user, or
one query, are about, but not how many there are. Each of the first two implies the third with the same numbers,
provided that a user without queries changes nothing; which is why a ledger counts against `EMPTY` (docs/ledger.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ADD_REMOVE", "CONCEPT", "CONCEPTS", "EMPTY", "RELATIONS", "REPLACE", "AccountLine", "Relation"]

Relation = Literal["add-remove", "replace", "empty", "concepts", "concept"]

ADD_REMOVE: Final = "add-remove"
REPLACE: Final = "replace"
EMPTY: Final = "empty"
CONCEPTS: Final = "concepts"
CONCEPT: Final = "concept"
RELATIONS: Final[dict[Relation, str]] = {
    ADD_REMOVE: "one user more or fewer",
    REPLACE: "one user's log replaced",
    EMPTY: "one user's log against an empty one",
    CONCEPTS: "the concepts of one user's queries replaced",
    CONCEPT: "one concept of one query replaced",
}


@dataclass(frozen=True, kw_only=True)
class AccountLine:
    """What one mechanism of a release costs each user.

    >>> print(AccountLine(purpose="counts of people", relation=ADD_REMOVE, rho=0.02))
    counts of people: rho 0.02 (one user more or fewer)
    """

    purpose: str
    relation: Relation
    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0

    def __post_init__(self) -> None:
        numbers = self.epsilon, self.delta, self.rho
        if not all(math.isfinite(number) and number >= 0 for number in numbers):  # a cost below 0 would give back
            raise ValueError("what a mechanism costs is finite and not below 0")

    def __str__(self) -> str:
        return f"{self.purpose}: {self.guarantee} ({RELATIONS[self.relation]})"

    @property
    def guarantee(self) -> str:
        """The native guarantee in words: `epsilon 0.5, delta 1e-06`, or `rho 0.02`."""
        numbers = (("epsilon", self.epsilon), ("delta", self.delta), ("rho", self.rho))
        return ", ".join(f"{name} {value:g}" for name, value in numbers if value) or "nothing"
