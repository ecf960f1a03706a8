"""What a generated log should be like: its size, its users' habits, and its columns."""

from __future__ import annotations

from dataclasses import dataclass

from querycloak.errors import ParameterError
from querycloak.settings import Settings, setting

__all__ = ["Generate"]


@dataclass(frozen=True)
class Generate(Settings):
    """Settings of a generated log; the defaults follow the AOL log of 2006 (docs/generated-logs.md has the figures)."""

    users: int = setting(1_000, "number of users", minimum=1)
    queries: int = setting(44_000, "number of query events over all users; each user has at least one", minimum=1)
    days: int = setting(92, "days covered, from 1 March 2006", minimum=1, below=100_000)
    topics: str = setting("", "labels of the subtrees that queries come from, separated by commas; empty = all")
    interests: int = setting(4, "mean number of lasting interests per user", minimum=1)
    concepts_per_user: int | None = setting(None, "most concepts a user ever asks about; none = no limit", minimum=1)
    common: float = setting(0.21, "share of new queries from the background that all users share", minimum=0, below=1)
    named: float = setting(
        0.16, "share of new queries that just name a well-known site (not with topics)", minimum=0, below=1
    )
    personal: float = setting(0.01, "share of new queries with names, numbers or addresses", minimum=0, below=1)
    misspelt: float = setting(0.1, "share of phrases of one or two terms that have a slip", minimum=0, below=1)
    repeats: float = setting(0.13, "share of queries that the user asked before", minimum=0, below=1)
    next_pages: float = setting(0.273, "share of query events that ask for further results", minimum=0, below=0.7)
    spread: float = setting(1.7, "deviation of the logarithm of queries per user; 0 = all alike", minimum=0)
    clicks: bool = setting(True, "add clicks: rank and site, one row per click")
    categories: bool = setting(False, "add a column with the category path of each query")
    order: str = setting("user", "order of the rows", choices=("user", "time"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.users > self.queries:
            expected = f"at most the number of queries ({self.queries}), since each user asks at least one"
            raise ParameterError.of("Generate.users", expected, self.users)
        shares = self.common + self.named + self.personal
        if shares >= 1:
            raise ParameterError.of("Generate.common + Generate.named + Generate.personal", "a number < 1", shares)
