"""Topics: how far the release's share of each topic is from the log's; topics are those of `concept_topics`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.concept_topics import concept_topics
from querycloak.logs.query_log import NO_CODE
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["divergence", "shown_shares", "topic_shares", "topics"]

Float64s = npt.NDArray[np.float64]


def topics(
    log: QueryLog,  # noqa: ARG001 - all measures are called alike
    release: Release,  # noqa: ARG001
    random: Randomness,  # noqa: ARG001
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Score:
    """Jensen-Shannon divergence (base 2, 0 = the same, 1 = nothing in common) of the topics over all users.

    In the details, how much of the log and of the release is in no topic: as one topic more it is part of the value.
    """
    progress.start("measure: topics")
    before, after = topic_shares(concepts, taxonomy), topic_shares(release_concepts, taxonomy)
    none = concept_topics(taxonomy).none
    in_none = [float(shown_shares(shares, taxonomy)[none]) for shares in (before, after)]
    details = {} if none < 0 else dict(zip(("in no topic, log", "in no topic, release"), in_none, strict=True))
    return Score(measure="topic divergence", value=divergence(before, after), better="lower", details=details)


def topic_shares(concepts: ConceptLog, taxonomy: Taxonomy) -> Float64s:
    """float64[finer topics]: share of each among what queries are about, in the order of `concept_topics`."""
    of = concept_topics(taxonomy)
    known = concepts.concept[concepts.concept != NO_CODE]
    counts = np.bincount(of.counted[known], minlength=len(of.shown)).astype(np.float64)
    shares: Float64s = counts / max(counts.sum(), 1.0)
    return shares


def shown_shares(shares: Float64s, taxonomy: Taxonomy) -> Float64s:
    """float64[names]: the shares of the topics that are shown, from those of the finer ones."""
    of = concept_topics(taxonomy)
    return np.bincount(of.shown, weights=shares, minlength=len(of.names)).astype(np.float64)


def divergence(p: Float64s, q: Float64s) -> float:
    """Jensen-Shannon divergence, base 2; 1 where one of them is empty and the other is not.

    >>> divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    if not p.any() or not q.any():
        return float(p.any() != q.any())
    middle = (p + q) / 2

    def entropy(x: Float64s) -> float:
        positive = x[x > 0]
        return float(-(positive * np.log2(positive)).sum())

    return max(0.0, entropy(middle) - (entropy(p) + entropy(q)) / 2)
