"""Information loss L: how far the users of a release fall into other clusters than those of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

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

__all__ = ["cuts_for", "headline_cut", "information_loss"]

MOST_USERS: Final = 2_000
"""A larger log is measured on a random sample of so many users: clustering takes n² memory and time."""
CUTS: Final = (2, 5, 10, 20, 40, 80, 160, 320)
"""Numbers of clusters at which L is computed, as far as they fit."""
PAPER_CLUSTERS: Final = 80
"""The number that the paper arrived at, with 1,000 users."""


def cuts_for(users: int) -> tuple[int, ...]:
    """Return the numbers of clusters that leave two users or more to each on average; two clusters always do."""
    return tuple(c for c in CUTS if 2 * c <= users) or CUTS[:1]


def headline_cut(users: int) -> int:
    """Return the number of clusters of the headline value: the paper's, or the largest below it that fits."""
    return max(c for c in cuts_for(users) if c <= PAPER_CLUSTERS)


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

    Both sides are clustered with the distance D (eq. 4) by Ward's criterion. L = 100 dPart. The value is L at 80
    clusters, the number that the paper arrived at, or at the largest of `CUTS` below it that leaves two users to a
    cluster on average; `clusters` sets it instead. `curve` is L at all of `CUTS` that fit. The paper's way to choose,
    Calinski and Harabasz on the original users, is a detail: on real logs it chooses 2, and L with two clusters moves
    by ten points when only the draw of the release changes (docs/adr/0129).

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

    tree = _original_tree(concepts, known, users, index_of, taxonomy)
    seen = release_concepts.known()
    published = index_of[release.truth.user[seen.user]]
    masked, present = _tree(published, seen.concept, len(users), taxonomy)

    def loss(number: int) -> float:
        after = np.full(len(users), -1, dtype=np.int64)
        after[present] = present[masked.cut(number)]
        return 100 * partition_distance(tree.cut(number), after)

    curve = {number: loss(number) for number in cuts_for(len(users))}
    number = headline_cut(len(users)) if clusters is None else clusters
    chosen = tree.best_cut()
    details |= {
        "users": len(users),
        "clusters": number,
        "users without a concept in the release": len(users) - len(present),
        "clusters by Calinski and Harabasz": chosen,
        "loss with these clusters": loss(chosen),
    }
    value = curve[number] if number in curve else loss(number)
    return [Score(measure="information loss", value=value, better="lower", details=details, curve=curve)]


class _Made(NamedTuple):
    """The tree of some users of a log."""

    users: bytes
    taxonomy: Taxonomy
    tree: Tree


_TREES: WeakKeyDictionary[ConceptLog, _Made] = WeakKeyDictionary()
"""The last tree of each log that is still in use: releases of one log are compared with the same one."""


def _original_tree(
    concepts: ConceptLog,
    known: ConceptLog,
    users: npt.NDArray[np.int32],
    index_of: npt.NDArray[np.int64],
    taxonomy: Taxonomy,
) -> Tree:
    """Cluster the original users, or take the tree that was made of them for another release."""
    made = _TREES.get(concepts)
    if made is None or made.users != users.tobytes() or made.taxonomy is not taxonomy:
        tree = _tree(index_of[known.user], known.concept, len(users), taxonomy)[0]
        made = _TREES[concepts] = _Made(users.tobytes(), taxonomy, tree)
    return made.tree


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
