"""Semantic microaggregation: users with like interests in groups of k, all published with the same synthetic log.

Batet, Erola, Sánchez and Castellà-Roca 2013, "Utility preserving query log anonymization via semantic
microaggregation".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.distances.user_concepts import user_concepts
from querycloak.logs.query_log import NO_CODE
from querycloak.methods.microaggregation._group_release import (
    GroupBags,
    Grouped,
    no_rows,
    release_groups,
    release_shared,
)
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags, refuse_too_few
from querycloak.methods.microaggregation._last_step import own_concepts
from querycloak.methods.microaggregation._quotas import quotas
from querycloak.methods.microaggregation._representative_kernels import representatives
from querycloak.progress import QUIET, Progress
from querycloak.texts.phrases import shared_texts

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release
    from querycloak.texts.phrases import SharedTexts

__all__ = ["SemanticMicroaggregation", "group_by_meaning", "semantic_microaggregation"]

NAME: Final = "semantic-microaggregation"


@dataclass(frozen=True)
class SemanticMicroaggregation(MdavSettings):
    """Settings of `semantic-microaggregation`."""


def semantic_microaggregation(
    log: QueryLog,
    settings: SemanticMicroaggregation,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Group users by the meaning of their queries and publish one log per group.

    Users are bags of concepts (C_u, section 4.1), grouped by MDAV (Algorithm 1) with D (eq. 4). A query without a
    concept is a concept of its own, far from all others. A group's log has as many rows as its members asked queries
    on average, spread evenly over what they asked about; each row is a text that many people share: the query itself,
    or else a query or a phrase about something near, or else a label.

    As in the paper (`_as_in_paper`), the log has concepts near the group's centroid concept, each replaced by a random
    query of the whole log, and users without a concept are left out.
    """
    if settings.as_in_paper:
        return _as_in_paper(log, settings, random, progress, concepts.known(), taxonomy)
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=taxonomy)
    grouped = group_by_meaning(log, settings, shared, progress, concepts=concepts, taxonomy=taxonomy)
    progress.start("writing the groups' logs")
    return release_shared(NAME, log, settings, random, grouped, shared, concepts=concepts, taxonomy=taxonomy)


def group_by_meaning(
    log: QueryLog,
    settings: SemanticMicroaggregation,
    shared: SharedTexts,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Grouped:
    """Group the users of a log by the concepts of their queries; a query without one is about itself."""
    events = np.flatnonzero(log.event)
    users, user = np.unique(log.user[events], return_inverse=True)
    refuse_too_few(len(users), settings.k, "")
    query = log.query[events]
    known = concepts.known()
    mapped = np.zeros(len(log), dtype=np.bool_)
    mapped[known.row] = True
    alone = np.flatnonzero(~mapped[events])
    own, others = own_concepts(query, np.where(mapped[events], 0, NO_CODE), shared, len(taxonomy))
    index_of = np.full(len(log.users), NO_CODE, dtype=np.int64)
    index_of[users] = np.arange(len(users))
    # A concept of its own counts once for a user, however often it was asked: it is at distance 1 of all others, and a
    # user who opens one site every day would be far from everybody.
    alone_user, alone_concept = np.unique(np.stack([user[alone], own[alone]]), axis=1)
    bags = user_concepts(
        np.concatenate([index_of[known.user], alone_user]),
        np.concatenate([known.concept, alone_concept]),
        len(users),
        taxonomy,
        others,
    )
    grouping = group_bags(bags, settings, progress)
    return Grouped(users, grouping.group, {**grouping.figures(), "queries without a concept": len(alone)})


def _as_in_paper(
    log: QueryLog,
    settings: SemanticMicroaggregation,
    random: Randomness,
    progress: Progress,
    known: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Publish what the paper does.

    A group's log has, from each member, as many concepts as its quota says (eq. 7), those nearest the centroid concept
    (eq. 6) first; each is replaced by a random query of the whole log that has this concept. Where the paper is silent:
    quotas are rounded by largest remainder; concepts at the same distance are taken by how often the user repeats them;
    a query is drawn from the distinct queries of a concept, all alike; users without a concept are left out.
    """
    users, user = np.unique(known.user, return_inverse=True)
    refuse_too_few(len(users), settings.k, "with a concept")
    bags = user_concepts(user, known.concept, len(users), taxonomy)
    grouping = group_bags(bags, settings, progress)

    progress.start("writing the groups' logs")
    quota = quotas(grouping.group, bags.weight)
    groups = Ragged.positions(grouping.group, int(grouping.group.max()) + 1)
    length = groups.sums(quota[groups.values])
    node = representatives(bags, groups, quota, row_starts(length))
    query = _draw(len(log.queries), known, bags.original[node], random)
    left_out = ~np.isin(log.user, users)
    owner = np.repeat(np.arange(len(length)), length)
    return release_groups(
        NAME,
        log,
        settings,
        random,
        GroupBags(users, grouping.group, owner, query, no_rows(query), log.queries),
        covers_not=("users none of whose queries has a concept are left out",),
        dropped={"user without a concept": int((left_out & log.event).sum())},
        figures={**grouping.figures(), "users left out, without a concept": len(np.unique(log.user[left_out]))},
    )


def _draw(queries: int, known: ConceptLog, concept: npt.NDArray[np.int32], random: Randomness) -> npt.NDArray[np.int64]:
    """Draw one of the distinct queries of each concept: codes int64[m]. Each of the concepts has one."""
    pairs = np.unique(known.concept.astype(np.int64) * queries + known.query)
    of_concept = pairs // queries
    first = np.searchsorted(of_concept, concept)
    choices = np.searchsorted(of_concept, concept, side="right") - first
    pick = np.minimum((random.child("queries").uniform(len(concept)) * choices).astype(np.int64), choices - 1)
    return np.asarray(pairs[first + pick] % queries, dtype=np.int64)
