"""Paper divergence: the utility loss of Sánchez et al. (2018), over the 19 topics of their user profiles.

Equations 9 to 11 with the profile of settings A and B (section 4): 19 topics below disease, scientific discipline,
sport and social event. `profile divergence` is the same formula over the topics of a whole taxonomy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.knowledge.topics import PAPER, read_topics
from querycloak.measures.profile_divergence import profile_divergence
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.measures.score import Score
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["paper_divergence"]

FOUR: Final = "over the four topics"


def paper_divergence(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> list[Score]:
    """Mean divergence over the users who asked about one of the 19 topics; in the details, over the four (setting C).

    Nothing is said where the taxonomy does not have the topics, or nobody asked about one.
    """
    try:
        topics = read_topics(PAPER, taxonomy)
    except (ParameterError, UnknownNameError):
        return []
    fine, main = (
        profile_divergence(
            log,
            release,
            random,
            progress,
            concepts=concepts,
            release_concepts=release_concepts,
            taxonomy=taxonomy,
            topics=roots,
        )
        for roots in (topics.fine, topics.main)
    )
    return [
        replace(score, measure="paper divergence", details={**score.details, FOUR: coarse.value})
        for score, coarse in zip(fine, main, strict=True)
        if score.details["users"]
    ]
