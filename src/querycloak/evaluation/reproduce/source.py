"""The log of each draw: another sample of the users of one log, or another generated log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import UserError
from querycloak.logs.content_digest import content_digest
from querycloak.mapping.modes import check_mapping
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.evaluation.reproduce.paper import Cell, Paper
    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog

__all__ = ["Draw", "Source", "check_users", "sampled"]


@dataclass(frozen=True)
class Source:
    """Where the logs of the draws come from."""

    says: str
    """what they are, for the page"""
    mark: str
    """tells one source from another: a digest"""
    users: int
    """users of each draw"""
    make: Callable[[int], Workbench]
    """seed of a draw → the log of the draw on its bench"""


def check_users(paper: Paper, users: int) -> None:
    """Refuse a log with too few users."""
    if users < paper.least_users:
        raise UserError(
            f"{paper.name} needs {paper.least_users:,} users or more for its largest k; there are {users:,}: take a "
            "larger log, or a generated one (leave the log out)."
        )


def sampled(bench: Workbench, paper: Paper, users: int | None, knowledge: str = "") -> Source:
    """Draw samples of the users of a log; with as many users as it has, all draws have the whole log.

    `users`: None = as many as the paper had, or all where the log has fewer.
    """
    log = bench.log
    people = np.unique(log.user)
    if users is not None and users > len(people):
        raise UserError(f"--users is {users:,}, and the log has {len(people):,} users.")
    count = min(len(people), paper.users) if users is None else users
    check_users(paper, count)

    def make(seed: int) -> Workbench:
        if count == len(people):
            return bench
        return bench.part(_of_people(log, _order(people, seed)[:count]))

    whole = count == len(people)
    says = (
        f"all {count:,} users of the log in every draw; draws differ by the seed of the methods"
        if whole
        else f"{count:,} of the {len(people):,} users of the log, drawn again for every draw"
    )
    tree = bench.taxonomy
    mark = "".join([content_digest(log).hex(), tree.name, str(len(tree)), check_mapping(bench.mapping), knowledge])
    return Source(says, mark, count, make)


class Draw:
    """The log of one draw, and the parts of it that cells ask for; each is made once."""

    def __init__(self, bench: Workbench, paper: Paper, seed: int) -> None:
        self._bench = bench if paper.prepare is None else bench.part(paper.prepare(bench))
        self._paper = paper
        self._seed = seed
        self._parts: dict[tuple[str, int | None], Workbench] = {}

    def bench(self, cell: Cell) -> Workbench:
        """Return the log that a cell runs on."""
        key = (cell.part, cell.users)
        if key not in self._parts:
            self._parts[key] = self._make(*key)
        return self._parts[key]

    def _make(self, part: str, users: int | None) -> Workbench:
        bench = self._bench
        if part:
            bench = bench.part(self._paper.parts[part](bench))
        people = np.unique(bench.log.user)
        if users is None or users >= len(people):
            return bench
        return bench.part(_of_people(bench.log, _order(people, self._seed)[:users]))


def _order(people: npt.NDArray[np.int32], seed: int) -> npt.NDArray[np.int32]:
    return people[Randomness(seed).child("users of a draw").permutation(len(people))]


def _of_people(log: QueryLog, people: npt.NDArray[np.int32]) -> QueryLog:
    keep = np.zeros(len(log.users), dtype=np.bool_)
    keep[people] = True
    return log.take(keep[log.user])
