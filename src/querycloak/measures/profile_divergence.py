"""Profile divergence: how far each user's topic profile in the release is from the one in the log.

Sánchez et al. (2018), equations 9 to 11: Jensen-Shannon divergence, base 2, between the topic profiles of each user
before and after, averaged over users. 0 = the same profiles, 1 = nothing in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.concept_topics import concept_topics
from querycloak.logs.query_log import NO_CODE
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["divergence_by_user", "profile_divergence", "topic_of_concept"]

Int32s = npt.NDArray[np.int32]
Float64s = npt.NDArray[np.float64]


def profile_divergence(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
    taxonomy: Taxonomy,
    topics: Sequence[int] | None = None,
) -> list[Score]:
    """Mean divergence over the users of the log that have a profile; needs the release's truth, else nothing is said.

    `topics` are roots of disjoint subtrees; concepts outside them have no part in a profile. Default: the
    topics of `knowledge.concept_topics`, as the measure `topics` has them. A user whose published profile is empty
    counts as 1.
    """
    if release.truth is None:
        return []
    progress.start("measure: profile divergence")
    topic = topic_of_concept(taxonomy, topics)
    counts = None if release.log.extra is None else release.log.extra.get_column("count", default=None)
    weight = np.ones(len(release_concepts)) if counts is None else counts.to_numpy()[release_concepts.row]
    before = concepts.user, _topic_of(topic, concepts.concept), np.ones(len(concepts))
    after = release.truth.user[release_concepts.user], _topic_of(topic, release_concepts.concept), weight
    each = divergence_by_user(before, after, len(log.users))
    has = ~np.isnan(each)
    value = float(each[has].mean()) if has.any() else 0.0
    return [Score(measure="profile divergence", value=value, better="lower", details={"users": float(has.sum())})]


def topic_of_concept(taxonomy: Taxonomy, topics: Sequence[int] | None = None) -> Int32s:
    """int32[concepts]: the topic that each concept is in, -1 = in none: its root, or by default its index."""
    if topics is None:
        return concept_topics(taxonomy).counted
    out = np.full(len(taxonomy), NO_CODE, dtype=np.int32)
    for root in topics:
        out[root : root + taxonomy.size[root]] = root
    return out


def divergence_by_user(
    before: tuple[Int32s, Int32s, Float64s], after: tuple[Int32s, Int32s, Float64s], users: int
) -> Float64s:
    """float64[users]: divergence of each user's profiles; NaN for users without a topic before.

    Each profile is (user, topic, weight), one entry per query unit; topic -1 is left out.
    """
    wide = 1 + max(int(topic.max(initial=0)) for _, topic, _ in (before, after))
    keys, sums = [], []
    for user, topic, weight in (before, after):
        kept = topic != NO_CODE
        key, index = np.unique(user[kept].astype(np.int64) * wide + topic[kept], return_inverse=True)
        keys.append(key)
        sums.append(np.bincount(index, weights=weight[kept], minlength=len(key)))
    both = np.union1d(*keys)
    owner = both // wide
    shares = []
    for key, total in zip(keys, sums, strict=True):
        share = np.zeros(len(both))
        share[np.searchsorted(both, key)] = total
        whole = np.bincount(owner, weights=share, minlength=users)
        shares.append((share / np.maximum(whole, 1e-300)[owner], whole > 0))
    (p, has_before), (q, has_after) = shares
    middle = (p + q) / 2
    out = np.zeros(users)
    for share in (p, q):
        term = np.zeros(len(both))
        positive = share > 0
        term[positive] = share[positive] * np.log2(share[positive] / middle[positive])
        out += np.bincount(owner, weights=term, minlength=users) / 2
    out = np.clip(out, 0.0, 1.0)
    out[has_before & ~has_after] = 1.0
    out[~has_before] = np.nan
    return out


def _topic_of(topic: Int32s, concept: Int32s) -> Int32s:
    return np.where(concept == NO_CODE, NO_CODE, topic[concept]).astype(np.int32)
