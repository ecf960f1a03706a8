"""What a release promises, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from querycloak.releases.account import AccountLine  # noqa: TC001 - msgspec reads the types of fields

__all__ = ["TWO_RELEASES", "PrivacyStatement"]

TWO_RELEASES: Final = (
    "two releases do not add up: another release of the same users, by any method or the same one run again, can be "
    "intersected with this one, and fewer than k people may be left"
)
"""What every method with a k leaves open. The k holds for one release; nobody can check it over two."""


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
    account: tuple[AccountLine, ...] = ()
    """what each mechanism spent, for differential privacy; filled by the gate from the method's budget"""
    text_users: int = 1
    """each published text of the log was asked by at least so many people; 1 = nothing is promised"""
    parts: bool = False
    """published texts may be parts of queries, shared by so many people, or labels in brackets that so many meant"""
    identifiers_dropped: bool = False
    """no published text holds an identifier that our patterns find, or the name of somebody few people asked for"""
    time_grain: str = ""
    """published times are rounded down to it: hour, day or week, of a stream also 10m; empty = nothing is promised"""
    click_users: int = 0
    """at least so many people share the text and the URL of each published click; 0 = nothing is promised"""
    covers: tuple[str, ...]
    """what the guarantee says, one sentence each"""
    does_not_cover: tuple[str, ...]
    """what stays visible or is published as it was"""
    assumptions: tuple[str, ...] = ()
    randomness: str
    new_ids: bool
    """user ids are new random ones"""
    ids: str = "person"
    """what has a published id of its own: a `person`, a `day`, `epoch` or `session` of a person, or nothing (`none`);
    `invented` = ids stand for nobody, which only differential privacy of users can promise"""
    mapping: str = ""
    """how queries were read to find their concepts (`mapping.modes`); empty = no query was; filled by the bench"""
    mapping_learned: bool = False
    """what was learned from the log took part in the mapping; False = public knowledge alone"""
    columns: tuple[str, ...] = ()
    """columns published; filled by the writer"""
    command: str = ""
    """the command that made it, files by their names alone; empty from Python; filled by the writer"""
    input_commitment: str = ""
    """salted commitment to the log, or why there is none (`releases/commitment.py`); filled by the writer"""
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
        """The chance of naming a user that the model allows: 1/k for k-anonymity of users, None where it says nothing.

        A k below 2, or one that is no whole number, says nothing: a statement is a file, and anybody can edit one.
        """
        k = self.parameters.get("k", 0.0)
        return 1 / k if self.unit == "user" and k >= 2 and k.is_integer() else None

    def _repr_html_(self) -> str:
        from querycloak.releases.cards import statement_card

        return statement_card(self)

    def seeded(self) -> PrivacyStatement:
        """Return the statement with what a seed costs, whatever the method."""
        open_to = (
            "made with a seed: who knows or guesses it can undo ids, draws and noise; for experiments, not to publish"
        )
        return replace(self, does_not_cover=(*self.does_not_cover, open_to))

    def short(self, signature: str = "unsigned") -> str:
        """Return the lines that the command line prints; `signature` says who signed it."""
        rows_in = f"{self.counts_in['rows']:,} rows in, " if "rows" in self.counts_in else ""
        lines = [f"{self.method}: {rows_in}{self.counts_out.get('rows', 0):,} rows out", f"guarantee: {self.model}"]
        lines += [f"  spent: {line}" for line in self.account]
        lines += [f"  covers: {text}" for text in self.covers]
        lines += [f"  does not cover: {text}" for text in self.does_not_cover]
        lines += [f"  dropped: {n:,} rows, {reason}" for reason, n in self.dropped.items() if n]
        if self.mapping:
            source = "learned from the log" if self.mapping_learned else "by public knowledge, not learned from the log"
            if ", vectors " in self.mapping:  # `mapping.modes`, which `import querycloak` must not load
                source += "; that the vectors were not made from the log, who published this vouches for"
            lines.append(f"mapping: {self.mapping}, {source}")
        lines += [f"randomness: {self.randomness}", f"signature: {signature}"]
        return "\n".join(lines)
