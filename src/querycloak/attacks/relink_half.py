"""Relink half: the attacker of `relink` on a release of what he does not know, the other half of each person's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.attacks.relink import link
from querycloak.attacks.similarity import Similarity
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.halves import Halves
    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.trials import Trials
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["relink_half"]


def relink_half(
    log: QueryLog,
    release: Release,  # noqa: ARG001 - all attacks are called alike
    random: Randomness,
    progress: Progress = QUIET,
    *,
    halves: Halves,
    trials: Trials,
    concepts: ConceptLog | None = None,
    taxonomy: Taxonomy | None = None,
) -> AttackResult:
    """Find each person of the known halves in a release that is made of the other halves alone.

    Nothing that is known is published, so what links the two is a person's habits.
    """
    progress.start("attack: relink half")
    later = trials.later_half().release
    shown = None if taxonomy is None else trials.concepts_of(later)
    similarity = Similarity.of(log, later, concepts=concepts, release_concepts=shown, taxonomy=taxonomy)
    knows = f"{halves.which}; the release is of the other half"
    return link("relink-half", knows, halves.known, later, similarity, random, progress)
