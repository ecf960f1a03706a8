"""Popular queries: only the queries that most users asked are published, under new ids.

The privacy argument: a text that many people asked does not name one of them. That is all: which of these queries a
user asked stays together under one id, so this is no formal guarantee, and the statement says `none`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak import PrivacyStatement, Settings, __version__, setting
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.table import count_in, count_out, under_new_ids

if TYPE_CHECKING:
    from querycloak import Progress, QueryLog, Randomness, Release

__all__ = ["PopularQueries", "popular_queries"]


@dataclass(frozen=True)
class PopularQueries(Settings):
    """Settings of `popular-queries`."""

    top: int = setting(1000, "how many queries are published, those of most users first", minimum=1)
    min_query_users: int = setting(5, "leave out queries asked by fewer users than this", minimum=2)


def popular_queries(log: QueryLog, settings: PopularQueries, random: Randomness, progress: Progress) -> Release:
    """Keep the query events of the most popular queries; of equally popular ones, those that appear first."""
    progress.start("counting users of queries")
    users = log.users_per_query()  # int64[distinct queries]
    by_users = np.argsort(-users, kind="stable")
    popular = np.zeros(len(users), dtype=np.bool_)
    popular[by_users[: settings.top]] = True
    rare = users < settings.min_query_users

    is_rare = log.event & rare[log.query]
    is_unpopular = log.event & ~is_rare & ~popular[log.query]
    keep = np.flatnonzero(log.event & ~is_rare & ~is_unpopular)
    published, truth, *_ = under_new_ids(log, log.user[keep], log.query[keep], random)
    statement = PrivacyStatement(
        method="popular-queries",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        text_users=settings.min_query_users,
        covers=(),
        does_not_cover=(
            "all queries of a user stay under one id: who knows some of a user's queries can find the rest",
            "queries are published verbatim, and were not searched for personal identifiers",
            "the number and the order of each user's queries are visible",
        ),
        randomness=random.describe(),
        new_ids=True,
        counts_in=count_in(log),
        counts_out=count_out(published),
        dropped={
            "further clicks of a query": int((~log.event).sum()),
            f"asked by fewer than {settings.min_query_users} users": int(is_rare.sum()),
            f"not among the {settings.top} most popular": int(is_unpopular.sum()),
        },
    )
    return publish_log(published, statement, truth, Evidence(log))  # the gate: checks what the statement promises
