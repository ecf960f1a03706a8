"""The figures of all branches of a stream, added up, and the statement that they go into."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from querycloak.methods.stream.delays import BUCKETS, Delays
from querycloak.methods.stream.stream_statement import TOO_LONG, stream_statement
from querycloak.methods.stream.stream_texts import changes_texts, nothing_left, published_kinds
from querycloak.spark.spark_log import NO_QUERY, NO_USER
from querycloak.spark.streams.branch import NONE_LEFT, Branch, Tally, published_columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.randomness import Randomness
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["BranchFigures", "Figures", "figures_of", "stated"]

COUNTED_APART = (
    "people are counted within each top-level category, and so are the records that one waits for: a text that is "
    "published was asked by as many people there"
)


class BranchFigures(msgspec.Struct, frozen=True):
    """What one branch has counted since it began. It holds no text, no id, and no name of a category."""

    tally: Tally
    waiting: int
    nodes: int
    bags: tuple[int, int]
    """bags that hold something, and records in them"""
    levels: list[int]
    """waiting users by the depth of their node"""
    delays: dict[str, int]
    """records by the bucket of their delay"""
    total_delay: int
    longest_delay: int
    phrases: int
    full: bool


def figures_of(branch: Branch) -> BranchFigures:
    """Return what a branch has counted."""
    bags = branch.engine.bag_sizes()
    used = np.flatnonzero(branch.delays.counts)
    texts = branch.texts
    return BranchFigures(
        branch.tally,
        branch.engine.waiting,
        len(branch.engine.tree),
        (len(bags), int(bags.sum())),
        branch.engine.waiting_per_level(),
        {str(i): int(branch.delays.counts[i]) for i in used},
        branch.delays.total,
        branch.delays.longest,
        0 if texts is None else texts.people.phrases,
        texts is not None and texts.is_full,
    )


class Figures:
    """The figures of several branches together."""

    def __init__(self, branches: Iterable[BranchFigures]) -> None:
        self.branches = list(branches)

    def __repr__(self) -> str:
        return f"Figures({self.rows:,} rows, {self.left:,} left, {self.waiting:,} wait)"

    def _sum(self, name: str) -> int:
        return sum(getattr(branch.tally, name) for branch in self.branches)

    @property
    def rows(self) -> int:
        """Rows that came."""
        return self._sum("rows")

    @property
    def left(self) -> int:
        """Records that have left."""
        return self._sum("left")

    @property
    def waiting(self) -> int:
        """Records that wait."""
        return sum(branch.waiting for branch in self.branches)

    def dropped(self, settings: StreamSettings) -> dict[str, int]:
        """Return the rows that have not left, by reason."""
        texts = {nothing_left(settings.rule): self._sum("nothing_left")} if changes_texts(settings.rule) else {}
        return {
            "still waiting at the end": self.waiting,
            TOO_LONG: self._sum("too_long"),
            "unclassified": self._sum("unclassified_dropped"),
            **texts,
            **{name: n for name, n in ((NO_USER, self._sum("no_user")), (NO_QUERY, self._sum("no_query"))) if n},
        }

    def flow(self, settings: StreamSettings) -> dict[str, float]:
        """Return the figures of a statement: those of one machine."""
        counts = np.zeros(BUCKETS, dtype=np.int64)
        for branch in self.branches:
            for bucket, n in branch.delays.items():
                counts[int(bucket)] += n
        totals = sum(b.total_delay for b in self.branches), max((b.longest_delay for b in self.branches), default=0)
        fewest = min((b.tally.fewest for b in self.branches), default=NONE_LEFT)
        bags, records = sum(b.bags[0] for b in self.branches), sum(b.bags[1] for b in self.branches)
        levels: Counter[int] = Counter()
        for branch in self.branches:
            levels.update(dict(enumerate(branch.levels)))
        kinds = np.sum([np.zeros(3, dtype=np.int64), *(np.array(b.tally.kinds) for b in self.branches)], axis=0)
        texts: dict[str, float] = {}
        if changes_texts(settings.rule):
            texts = {
                **published_kinds(kinds),
                "phrases counted": sum(b.phrases for b in self.branches),
                "phrases full": float(any(b.full for b in self.branches)),
            }
        return {
            **Delays(counts, *totals).figures(),
            "fewest candidates": 0 if fewest == NONE_LEFT else fewest,
            "mean bag size": records / bags if bags else 0.0,
            "nodes": sum(b.nodes for b in self.branches),
            **{
                f"users waiting at level {'0 (unclassified)' if d == 0 else d}": levels.get(d, 0)
                for d in range(settings.depth + 1)
            },
            "unclassified": self._sum("unclassified"),
            **texts,
        }


def stated(
    method: str,
    settings: StreamSettings,
    random: Randomness,
    figures: Figures,
    roles: tuple[str, ...],
    counts_in: dict[str, int],
    counts_out: dict[str, int],
) -> PrivacyStatement:
    """Return the statement of one machine, and what differs on a cluster."""
    statement = stream_statement(
        method,
        settings,
        random,
        counts_in=counts_in,
        counts_out=counts_out,
        dropped=figures.dropped(settings),
        figures=figures.flow(settings),
        columns=("user", *published_columns(roles)),
        timed="time" in roles,
    )
    more: dict[str, Any] = {"does_not_cover": (*statement.does_not_cover, COUNTED_APART)}
    return replace(statement, **more)
