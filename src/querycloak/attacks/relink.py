"""Half-split relink: find a user in a release of the second half of the log, knowing the first half in clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.attacks.interval import guessing, result_of
from querycloak.attacks.known import published_users, text_features, topic_features
from querycloak.attacks.matching import chance_of_match
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.attacks.result import AttackResult
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["relink"]


def relink(
    known: QueryLog,
    release: Release,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog | None = None,
    taxonomy: Taxonomy | None = None,
    min_events: int = 1,
) -> AttackResult:
    """Find each user of `known` in the release by the nearest neighbour in TF-IDF over words (cosine).

    In a generalized release the features are its items, compared with the concepts of the known queries and their
    ancestors. Users with fewer than `min_events` known query events are not attacked.
    """
    progress.start("attack: relink")
    if release.holds_concepts:
        assert concepts is not None
        assert taxonomy is not None
        features = topic_features(known, concepts, release, taxonomy)
    else:
        features = text_features(known, release, whole=False)
    owner = published_users(known, release)
    rows = np.flatnonzero(known.event)
    events = np.bincount(known.user[rows], minlength=len(known.users))
    is_target: npt.NDArray[np.bool_] = (owner >= 0) & (events >= max(min_events, 1))
    rows = rows[is_target[known.user[rows]]]
    targets, target = np.unique(known.user[rows], return_inverse=True)
    bags = features.known(target.astype(np.int64), known.query[rows], len(targets))
    chance = chance_of_match(bags, features.published, owner[targets], features.size, cosine=True)
    return result_of(
        "relink-half",
        chance,
        release,
        question="linkability",
        risk="link",
        knows="the earlier half of a person's log",
        unit="published id",
        baseline=guessing(len(release.log.users)),
        bounded=True,
    )
