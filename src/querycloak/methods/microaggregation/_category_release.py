"""What url- and word-microaggregation share: grouping by categories, and random queries of the members.

Both papers publish random queries of a group's members; they differ only in where the categories come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.methods.microaggregation._category_groups import group_by_categories, user_categories
from querycloak.methods.microaggregation._group_release import GroupBags, labels_instead, release_groups, with_labels
from querycloak.methods.microaggregation._group_settings import GroupSettings
from querycloak.methods.microaggregation._grouping import refuse_too_few
from querycloak.methods.microaggregation._quotas import quotas
from querycloak.settings import setting

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["CategorySettings", "Units", "release_by_categories"]


@dataclass(frozen=True)
class CategorySettings(GroupSettings):
    """What both methods ask."""

    levels: int = setting(5, "compare categories down to this level of the directory", minimum=1)


@dataclass(frozen=True, eq=False)
class Units:
    """The categories of a log: one entry per (query event, category)."""

    row: npt.NDArray[np.int64]
    """int64[m], first row of the event"""
    category: npt.NDArray[np.int32]
    """int32[m]"""
    taxonomy: Taxonomy


def release_by_categories(
    method: str, log: QueryLog, settings: CategorySettings, random: Randomness, progress: Progress, units: Units
) -> LogRelease:
    """Group users by shared categories and publish random queries of each member, by quota |Q_u| / size of the group.

    Users without a category are left out and counted. With `min_query_users`, a drawn query that too few users asked is
    replaced by the label of its category, and left out where it has none.
    """
    users, user = np.unique(log.user[units.row], return_inverse=True)
    refuse_too_few(len(users), settings.k, "with a category")
    categories = user_categories(user, units.category, len(users), units.taxonomy, settings.levels)
    group = group_by_categories(categories, settings.k, progress)

    progress.start("writing the groups' logs")
    index_of = np.full(len(log.users), -1, dtype=np.int64)
    index_of[users] = np.arange(len(users))
    events = np.flatnonzero(log.event)
    left_out = index_of[log.user[events]] < 0
    events = events[~left_out]
    row = _drawn(events, index_of[log.user[events]], group, random)
    query, queries, lacking = _replace_rare(log, row, units, settings.min_query_users)
    owner = group[index_of[log.user[row]]]
    size = np.bincount(group)
    keep = query >= 0
    return release_groups(
        method,
        log,
        settings,
        random,
        GroupBags(users, group, owner[keep], query[keep], queries),
        covers_not=("users none of whose queries has a category are left out",),
        dropped={
            "user without a category": int(left_out.sum()),
            f"asked by fewer than {settings.min_query_users} users": int(size[owner[~keep]].sum()),
        },
        figures={
            "groups": len(size),
            "smallest group": int(size.min()),
            "largest group": int(size.max()),
            "users left out, without a category": len(np.unique(log.user)) - len(users),
            "published category labels": lacking,
        },
        public=units.taxonomy.all_labels,
    )


def _drawn(
    events: npt.NDArray[np.int64], user: npt.NDArray[np.int64], group: npt.NDArray[np.int32], random: Randomness
) -> npt.NDArray[np.int64]:
    """Draw each user's quota of its query events, without putting back: rows of the log."""
    quota = quotas(group, np.bincount(user, minlength=len(group)))
    order = np.lexsort((random.child("queries").words(len(events)), user))
    rank = np.arange(len(order)) - np.searchsorted(user[order], user[order])
    return events[order[rank < quota[user[order]]]]


def _replace_rare(
    log: QueryLog, row: npt.NDArray[np.int64], units: Units, min_query_users: int
) -> tuple[npt.NDArray[np.int64], pl.Series, int]:
    """Return the query of each row, a label of its category instead of a rare one, -1 where it has none."""
    query = log.query[row].astype(np.int64)
    rare = np.flatnonzero((log.users_per_query() < min_query_users)[query])
    category = np.full(len(log), NO_CODE, dtype=np.int32)
    category[units.row[::-1]] = units.category[::-1]  # the first of an event's categories stays
    known, which = np.unique(category[row[rare]], return_inverse=True)
    labels = labels_instead(log, known, units.taxonomy, min_query_users)
    words, code = with_labels(log.queries, labels)
    code[np.array([label == "" for label in labels], dtype=np.bool_)] = NO_CODE
    query[rare] = code[which]
    return query, words, int((code[which] >= 0).sum())
