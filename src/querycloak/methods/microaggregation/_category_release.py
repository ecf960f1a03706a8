"""What url- and word-microaggregation share: grouping by categories, and queries of the members.

Both papers publish random queries of a group's members; they differ only in where the categories come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.methods.microaggregation._category_groups import (
    EventUnits,
    UserOwn,
    group_by_categories,
    user_categories,
)
from querycloak.methods.microaggregation._group_release import GroupBags, Grouped, release_groups, release_shared
from querycloak.methods.microaggregation._group_settings import GroupSettings
from querycloak.methods.microaggregation._grouping import refuse_too_few
from querycloak.methods.microaggregation._last_step import own_concepts
from querycloak.methods.microaggregation._quotas import quotas
from querycloak.settings import setting
from querycloak.texts.phrases import shared_texts

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease
    from querycloak.texts.phrases import SharedTexts

__all__ = ["CategorySettings", "Units", "group_by_units", "release_by_categories"]


@dataclass(frozen=True)
class CategorySettings(GroupSettings):
    """What both methods ask."""

    levels: int = setting(5, "compare categories down to this level of the directory", minimum=1)
    similarity: str | None = setting(
        None,
        "what two users share of a category: bags = as many queries as both have in it, sets = 1 where both have any",
        choices=("bags", "sets"),
        shown="bags; sets with as_in_paper",
    )

    def __post_init__(self) -> None:
        if self.similarity is None:  # equation 1 calls the categories of a user a set
            object.__setattr__(self, "similarity", "sets" if self.as_in_paper else "bags")
        super().__post_init__()


@dataclass(frozen=True, eq=False)
class Units:
    """The categories of a log: one entry per (query event, category)."""

    row: npt.NDArray[np.int64]
    """int64[m], first row of the event"""
    category: npt.NDArray[np.int32]
    """int32[m]"""
    taxonomy: Taxonomy
    learned: int | None = None
    """events whose category was learned from the log's clicks; None = nothing was learned"""


def release_by_categories(
    method: str,
    log: QueryLog,
    settings: CategorySettings,
    random: Randomness,
    progress: Progress,
    units: Units,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Group users by shared categories and publish queries of the members, in the form that many people share.

    A query without a category is a category of its own. `concepts` over `taxonomy` are used for labels alone. As in the
    papers (`_as_in_paper`), random queries of each member are published verbatim.
    """
    if settings.as_in_paper:
        return _as_in_paper(method, log, settings, random, progress, units)
    refuse_too_few(len(np.unique(log.user)), settings.k, "")
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=taxonomy)
    grouped = group_by_units(log, settings, units, shared, progress)
    progress.start("writing the groups' logs")
    return release_shared(method, log, settings, random, grouped, shared, concepts=concepts, taxonomy=taxonomy)


def group_by_units(
    log: QueryLog, settings: CategorySettings, units: Units, shared: SharedTexts, progress: Progress
) -> Grouped:
    """Group the users of a log by shared categories; a query without a category is one of its own."""
    events = np.flatnonzero(log.event)
    users, user = np.unique(log.user[events], return_inverse=True)
    refuse_too_few(len(users), settings.k, "")
    query = log.query[events]
    first = np.full(len(log), NO_CODE, dtype=np.int64)
    first[units.row[::-1]] = units.category[::-1]  # the first of an event's categories stays
    own, others = own_concepts(query, first[events], shared, len(units.taxonomy))
    alone = np.flatnonzero(first[events] < 0)
    index = np.full(len(log.users), -1, dtype=np.int64)
    index[users] = np.arange(len(users))
    categories = user_categories(
        EventUnits(units.row, index[log.user[units.row]], units.category),
        len(users),
        units.taxonomy,
        settings.levels,
        str(settings.similarity),
        UserOwn(user[alone], own[alone], others),
    )
    group = group_by_categories(categories, settings.k, progress)
    return Grouped(users, group, {**_sizes(group), **_resolved(log, units)})


def _as_in_paper(
    method: str, log: QueryLog, settings: CategorySettings, random: Randomness, progress: Progress, units: Units
) -> LogRelease:
    """Publish random queries of each member, by quota |Q_u| / size; users without a category are left out."""
    users, user = np.unique(log.user[units.row], return_inverse=True)
    refuse_too_few(len(users), settings.k, "with a category")
    compared = EventUnits(units.row, user, units.category)
    categories = user_categories(compared, len(users), units.taxonomy, settings.levels, str(settings.similarity))
    group = group_by_categories(categories, settings.k, progress)

    progress.start("writing the groups' logs")
    index_of = np.full(len(log.users), -1, dtype=np.int64)
    index_of[users] = np.arange(len(users))
    events = np.flatnonzero(log.event)
    left_out = index_of[log.user[events]] < 0
    events = events[~left_out]
    row = _drawn(events, index_of[log.user[events]], group, random)
    owner = group[index_of[log.user[row]]]
    return release_groups(
        method,
        log,
        settings,
        random,
        GroupBags(users, group, owner, log.query[row], row, log.queries),
        covers_not=("users none of whose queries has a category are left out",),
        dropped={"user without a category": int(left_out.sum())},
        figures={
            **_sizes(group),
            **_resolved(log, units),
            "users left out, without a category": len(np.unique(log.user)) - len(users),
        },
    )


def _sizes(group: npt.NDArray[np.int32]) -> dict[str, float]:
    """Return what the statement shows of the groups."""
    size = np.bincount(group)
    return {"groups": len(size), "smallest group": int(size.min()), "largest group": int(size.max())}


def _resolved(log: QueryLog, units: Units) -> dict[str, float]:
    """Count the query events that were found in the directory: the method promises k-anonymity, so counts are exact."""
    events, found = int(log.event.sum()), len(np.unique(units.row))
    counts: dict[str, float] = {
        "queries": events,
        "queries with a category": found,
        "queries without a category": events - found,
    }
    return counts if units.learned is None else {**counts, "queries with a learned category": units.learned}


def _drawn(
    events: npt.NDArray[np.int64], user: npt.NDArray[np.int64], group: npt.NDArray[np.int32], random: Randomness
) -> npt.NDArray[np.int64]:
    """Draw each user's quota of its query events, without putting back: rows of the log."""
    quota = quotas(group, np.bincount(user, minlength=len(group)))
    order = np.lexsort((random.child("queries").words(len(events)), user))
    rank = np.arange(len(order)) - np.searchsorted(user[order], user[order])
    return events[order[rank < quota[user[order]]]]
