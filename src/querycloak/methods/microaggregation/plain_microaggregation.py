"""Plain microaggregation: semantic microaggregation without semantics, where queries are only equal or different.

The "non-semantic" method that Batet et al. 2013 compare with (section 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.distances.user_concepts import user_words
from querycloak.methods.microaggregation._group_release import (
    GroupBags,
    Grouped,
    no_rows,
    release_groups,
    release_shared,
)
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags, refuse_too_few
from querycloak.methods.microaggregation._quotas import quotas
from querycloak.methods.microaggregation._representative_kernels import representatives
from querycloak.progress import QUIET, Progress
from querycloak.texts.phrases import shared_texts

if TYPE_CHECKING:
    from querycloak.distances.user_concepts import UserConcepts
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["PlainMicroaggregation", "group_by_texts", "plain_microaggregation"]

NAME: Final = "plain-microaggregation"
Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class PlainMicroaggregation(MdavSettings):
    """Settings of `plain-microaggregation`."""


def plain_microaggregation(
    log: QueryLog,
    settings: PlainMicroaggregation,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Group users by the queries they share, word for word, and publish one log per group.

    A user is a bag of query texts; two texts are at distance 0 or 1. The group's log keeps the members' texts as often
    as they were asked, on average, in the form that many people share; concepts are used for labels alone.

    As in the paper, the log takes each member's quota: the group's most frequent query first, then those the member
    repeats most, verbatim.
    """
    if settings.as_in_paper:
        users, bags = _bags(log, settings.k)
        grouping = group_bags(bags, settings, progress)
        progress.start("writing the groups' logs")
        made = _as_in_paper(users, grouping.group, bags, log)
        return release_groups(NAME, log, settings, random, made, dropped={}, figures=grouping.figures())
    grouped = group_by_texts(log, settings, progress)
    progress.start("writing the groups' logs")
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=taxonomy)
    return release_shared(NAME, log, settings, random, grouped, shared, concepts=concepts, taxonomy=taxonomy)


def group_by_texts(log: QueryLog, settings: PlainMicroaggregation, progress: Progress = QUIET) -> Grouped:
    """Group the users of a log by the queries they share, word for word."""
    users, bags = _bags(log, settings.k)
    grouping = group_bags(bags, settings, progress)
    return Grouped(users, grouping.group, grouping.figures())


def _bags(log: QueryLog, k: int) -> tuple[Ints, UserConcepts]:
    """Return the users of a log, and the queries of each, counted."""
    events = np.flatnonzero(log.event)
    users, user = np.unique(log.user[events], return_inverse=True)
    refuse_too_few(len(users), k, "")
    return users, user_words(user, log.query[events], len(users))


def _as_in_paper(users: Ints, group: Ints, bags: UserConcepts, log: QueryLog) -> GroupBags:
    """Take each member's quota of its queries."""
    quota = quotas(group, bags.weight)
    groups = Ragged.positions(group, int(group.max()) + 1)
    length = groups.sums(quota[groups.values])
    query = bags.original[representatives(bags, groups, quota, row_starts(length))]
    return GroupBags(users, group, np.repeat(np.arange(len(length)), length), query, no_rows(query), log.queries)
