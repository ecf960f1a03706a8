"""Relink: find a person in the release by what is alike in the known half and each published log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.attacks.interval import link_result
from querycloak.attacks.similarity import Similarity, chance_of_best
from querycloak.attacks.targets import HEAVY, events_of, find_targets
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.attacks.halves import Halves
    from querycloak.attacks.published_ids import PublishedIds
    from querycloak.attacks.result import AttackResult
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["link", "relink"]


def relink(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    halves: Halves,
    concepts: ConceptLog | None = None,
    release_concepts: ConceptLog | None = None,
    taxonomy: Taxonomy | None = None,
) -> AttackResult:
    """Find each person of the known halves in the release: the log with the largest sum of cosines.

    The cosines are those of TF-IDF over words, grams of four letters, whole queries, and concepts.
    """
    progress.start("attack: relink")
    similarity = Similarity.of(log, release, concepts=concepts, release_concepts=release_concepts, taxonomy=taxonomy)
    return link("relink", halves.which, halves.known, release, similarity, random, progress)


def link(
    name: str,
    knows: str,
    known: QueryLog,
    release: Release,
    similarity: Similarity,
    random: Randomness,
    progress: Progress = QUIET,
) -> AttackResult:
    """Return the result of an attacker who names the most similar published id of each person in `known`."""
    targets = find_targets(known, release, random)
    chance, group = np.zeros(len(targets)), np.zeros(len(targets))
    progress.start(f"attack: {name}, people", total=len(targets))
    for part, scores in similarity.blocks(known, targets.people):
        chance[part] = chance_of_best(scores, targets.owner[part])
        group[part] = _chance_of_group(scores, targets.owner[part], similarity.log_of)
        progress.advance(len(scores))
    details = targets.details
    if len(targets):
        details["group found"] = float(group.mean())
    heavy = events_of(known)[targets.people] >= HEAVY
    if heavy.any():
        details[f"{HEAVY}+ known events"] = float(chance[heavy].mean())
    return link_result(name, chance, release, knows, targets.owner, details=details)


def _chance_of_group(
    scores: npt.NDArray[np.float64], owner: PublishedIds, log_of: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """float64[people]: the chance that the id named has the same published log as a right one."""
    best = scores == scores.max(axis=1, keepdims=True)
    right = np.zeros((len(owner), int(log_of.max(initial=-1)) + 1), dtype=np.bool_)  # of the distinct logs
    right[owner.ids.owner, log_of[owner.ids.values]] = True
    same = right[:, log_of]
    return np.asarray((best & same).sum(axis=1) / best.sum(axis=1), dtype=np.float64)
