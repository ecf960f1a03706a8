"""What makes a run one of several shards: which records it takes, and of what it makes its ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from querycloak.live.secret import IdSecret
    from querycloak.live.shard_filter import ShardFilter

__all__ = ["Sharding"]


@dataclass(frozen=True)
class Sharding:
    """The part of a stream that a run takes."""

    filter: ShardFilter
    secret: IdSecret | None
    """None = ids are the original ones"""

    @property
    def counts_lost_lines(self) -> bool:
        """Whether lines that are of no category are counted here."""
        return self.filter.shard.index == 0 and 0 not in self.filter.behind
