"""Plain microaggregation: semantic microaggregation without semantics, where queries are only equal or different.

The "non-semantic" method that Batet et al. 2013 compare with (section 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.distances.user_bags import flat_bags
from querycloak.methods.microaggregation._group_release import GroupBags, release_groups
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags, refuse_too_few
from querycloak.methods.microaggregation._quotas import group_slices, quotas
from querycloak.methods.microaggregation._representative_kernels import representatives
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["PlainMicroaggregation", "plain_microaggregation"]


@dataclass(frozen=True)
class PlainMicroaggregation(MdavSettings):
    """Settings of `plain-microaggregation`."""


def plain_microaggregation(
    log: QueryLog, settings: PlainMicroaggregation, random: Randomness, progress: Progress = QUIET
) -> Release:
    """Group users by the queries they share, word for word, and publish one log per group.

    A user is a bag of query texts; two texts are at distance 0 or 1. The group's log takes each member's quota: the
    group's most frequent query first, then those the member repeats most. There is no label to publish in the place of
    a query that too few users asked: such queries are left out of the group's log.
    """
    events = np.flatnonzero(log.event)
    users, user = np.unique(log.user[events], return_inverse=True)
    refuse_too_few(len(users), settings.k, "")
    bags = flat_bags(user, log.query[events], len(users))
    grouping = group_bags(bags, settings, progress)

    progress.start("writing the groups' logs")
    quota = quotas(grouping.group, bags.weight)
    start, member = group_slices(grouping.group)
    length = np.add.reduceat(quota[member], start[:-1])
    out_start = np.concatenate([[0], np.cumsum(length)])
    query = bags.original[representatives(bags, start, member, quota, out_start)]
    group_of_row = np.repeat(np.arange(len(length)), length)
    size = np.diff(start)
    enough = (log.users_per_query() >= settings.min_query_users)[query]
    return release_groups(
        "plain-microaggregation",
        log,
        settings,
        random,
        GroupBags(users, grouping.group, group_of_row[enough], query[enough], log.queries),
        covers_not=(),
        dropped={f"asked by fewer than {settings.min_query_users} users": int(size[group_of_row[~enough]].sum())},
        figures=grouping.figures(),
    )
