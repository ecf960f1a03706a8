"""Semantic microaggregation: users with like interests in groups of k, all published with the same synthetic log.

Batet, Erola, Sánchez and Castellà-Roca 2013, "Utility preserving query log anonymization via semantic
microaggregation".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.distances.user_concepts import user_concepts
from querycloak.logs.query_log import NO_CODE
from querycloak.methods.microaggregation._group_release import GroupBags, labels_instead, release_groups, with_labels
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags, refuse_too_few
from querycloak.methods.microaggregation._quotas import quotas
from querycloak.methods.microaggregation._representative_kernels import representatives
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["SemanticMicroaggregation", "semantic_microaggregation"]


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

    Users are bags of concepts (C_u, section 4.1), grouped by MDAV (Algorithm 1) with D (eq. 4). A group's log has, from
    each member, as many concepts as its quota says (eq. 7), those nearest the centroid concept (eq. 6) first; each is
    replaced by a random query of the whole log that has this concept. Where the paper is silent: quotas are rounded by
    largest remainder; concepts at the same distance are taken by how often the user repeats them; a query is drawn from
    the distinct queries of a concept, all alike; users without a concept are left out.

    `min_query_users` departs from the paper: only queries that so many users asked are drawn, and the concept's label
    is published where there is none.
    """
    known = concepts.known()
    users, user = np.unique(known.user, return_inverse=True)
    refuse_too_few(len(users), settings.k, "with a concept")
    bags = user_concepts(user, known.concept, len(users), taxonomy)
    grouping = group_bags(bags, settings, progress)

    progress.start("writing the groups' logs")
    quota = quotas(grouping.group, bags.weight)
    groups = Ragged.positions(grouping.group, int(grouping.group.max()) + 1)
    length = groups.sums(quota[groups.values])
    node = representatives(bags, groups, quota, row_starts(length))
    query, queries, labels = _draw(log, known, bags.original[node], taxonomy, settings.min_query_users, random)
    left_out = ~np.isin(log.user, users)
    keep = query >= 0  # all but concepts for which no label may be published
    bags_out = GroupBags(users, grouping.group, np.repeat(np.arange(len(length)), length)[keep], query[keep], queries)
    return release_groups(
        "semantic-microaggregation",
        log,
        settings,
        random,
        bags_out,
        covers_not=("users none of whose queries has a concept are left out",),
        dropped={"user without a concept": int((left_out & log.event).sum())},
        figures={
            **grouping.figures(),
            "users left out, without a concept": len(np.unique(log.user[left_out])),
            "published concept labels": labels,
        },
        public=taxonomy.all_labels,
    )


def _draw(
    log: QueryLog,
    known: ConceptLog,
    concept: npt.NDArray[np.int32],
    taxonomy: Taxonomy,
    min_query_users: int,
    random: Randomness,
) -> tuple[npt.NDArray[np.int64], pl.Series, int]:
    """Draw a query for each concept: codes int64[m], their vocabulary, and how many are labels of concepts."""
    enough = log.users_per_query() >= min_query_users
    pairs = np.unique(known.concept.astype(np.int64) * len(log.queries) + known.query)
    pairs = pairs[enough[pairs % len(log.queries)]]
    of_concept = pairs // len(log.queries)
    first = np.searchsorted(of_concept, concept)
    choices = np.searchsorted(of_concept, concept, side="right") - first
    pick = np.minimum((random.child("queries").uniform(len(concept)) * choices).astype(np.int64), choices - 1)
    none = choices == 0
    query = np.full(len(concept), -1, dtype=np.int64)
    query[~none] = pairs[(first + pick)[~none]] % len(log.queries)
    unnamed, which = np.unique(concept[none], return_inverse=True)
    labels = labels_instead(log, unnamed, taxonomy, min_query_users)
    words, code = with_labels(log.queries, labels)
    code[np.array([label == "" for label in labels], dtype=np.bool_)] = NO_CODE
    query[none] = code[which]
    return query, words, int((query[none] >= 0).sum())
