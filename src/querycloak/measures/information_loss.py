"""Information loss L: how far the users of a release fall into other clusters than those of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.distances.distance import SCALE, distances_of
from querycloak.distances.user_concepts import user_concepts
from querycloak.measures.clusters import Tree, partition_distance
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["information_loss"]

MOST_USERS: Final = 2_000
"""A larger log is measured on a random sample of so many users: clustering takes n² memory and time."""

PAPER_CLUSTERS: Final = 80


def information_loss(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
    taxonomy: Taxonomy,
    clusters: int | None = None,
    most_users: int = MOST_USERS,
) -> list[Score]:
    """Compare the clusters of the original users with those of the published ones (Batet et al. 2013, eq. 8, 9).

    Both sides are clustered with the distance D (eq. 4) by Ward's criterion. The number of clusters is chosen by
    Calinski and Harabasz on the original users and used for both; `clusters` sets it instead. The detail "with 80
    clusters" is L at the number that the paper arrived at, where there are enough users. L = 100 dPart.

    Left open by the paper: the linkage; and users who are not in the release, or have no concept there. These are one
    cluster of their own on the published side: nothing is known of them. Users without a concept in the log are passed
    over. Without the release's truth there is no score.
    """
    if release.truth is None:
        return []
    progress.start("measuring information loss")
    known = concepts.known()
    users = np.unique(known.user)
    details: dict[str, float] = {}
    if len(users) > most_users:
        details["users of whom these are a sample"] = float(len(users))
        users = np.sort(users[random.permutation(len(users))[:most_users]])
    index_of = np.full(len(log.users), -1, dtype=np.int64)
    index_of[users] = np.arange(len(users))

    tree = _tree(index_of[known.user], known.concept, len(users), taxonomy)[0]
    clusters = clusters or tree.best_cut()
    seen = release_concepts.known()
    published = index_of[release.truth.user[seen.user]]
    masked, present = _tree(published, seen.concept, len(users), taxonomy)

    def loss(number: int) -> float:
        after = np.full(len(users), -1, dtype=np.int64)
        after[present] = present[masked.cut(number)]
        return 100 * partition_distance(tree.cut(number), after)

    value = loss(clusters)
    details |= {
        "users": len(users),
        "clusters": clusters,
        "users without a concept in the release": len(users) - len(present),
    }
    if len(users) >= 2 * PAPER_CLUSTERS:
        details[f"with {PAPER_CLUSTERS} clusters"] = loss(PAPER_CLUSTERS)
    return [Score(measure="information loss", value=value, better="lower", details=details)]


def _tree(
    user: npt.NDArray[np.int64], concept: npt.NDArray[np.int32], n: int, taxonomy: Taxonomy
) -> tuple[Tree, npt.NDArray[np.int64]]:
    """Cluster the users that have a concept; also return who they are. Entries of user -1 are passed over."""
    keep = user >= 0
    present, code = np.unique(user[keep], return_inverse=True)
    bags = user_concepts(code, concept[keep], len(present), taxonomy)
    distances = distances_of(bags, most_kept=n)
    rows = [distances.row(u) for u in range(len(present))]
    return Tree(np.array(rows, dtype=np.float64).reshape(len(present), len(present)) / SCALE), present
