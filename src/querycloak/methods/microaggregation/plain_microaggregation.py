"""Plain microaggregation: semantic microaggregation without semantics, where queries are only equal or different.

The "non-semantic" method that Batet et al. 2013 compare with (section 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.distances.user_concepts import user_words
from querycloak.methods.microaggregation._group_release import GroupBags, release_groups
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags, refuse_too_few
from querycloak.methods.microaggregation._quotas import quotas
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
    group's most frequent query first, then those the member repeats most. There is no label to publish instead of
    a query that too few users asked: such queries are left out of the group's log.
    """
    events = np.flatnonzero(log.event)
    users, user = np.unique(log.user[events], return_inverse=True)
    refuse_too_few(len(users), settings.k, "")
    bags = user_words(user, log.query[events], len(users))
    grouping = group_bags(bags, settings, progress)

    progress.start("writing the groups' logs")
    quota = quotas(grouping.group, bags.weight)
    groups = Ragged.positions(grouping.group, int(grouping.group.max()) + 1)
    length = groups.sums(quota[groups.values])
    query = bags.original[representatives(bags, groups, quota, row_starts(length))]
    group_of_row = np.repeat(np.arange(len(length)), length)
    size = groups.lengths
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
