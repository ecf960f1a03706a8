"""Partition: top-down generalization of sets, the baseline that `clump` is measured against.

Paper: He and Naughton, Anonymization of Set-Valued Data via Top-Down, Local Generalization, VLDB 2009; as told in
Milani Fard and Wang 2010, Section I.A. All users begin in one part that publishes the root. A step replaces one
published node by those of its children that a user has, and so splits the part by subsets of children; subsets with
fewer than k users are merged back and keep the node. It ends when no part can be split.

Where fewer than k users are merged back, only as many as are missing join them: from sub-parts of more than k users,
those first whose users gain least by the split, and of these the users with the fewest concepts under the node, who
have the least to lose. Only where all sub-parts together have too few to spare, one joins as a whole. Milani Fard and
Wang are silent on this case (in their example three users are merged back at k = 2); He and Naughton balance parts in
the same spirit (`docs/adr/0124-partition-moves-users.md`).

Where the papers leave room: the node with the greatest fall in GGD is taken first; a concept that a user has at an
inner node counts as a child of its own node, and is published as that node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.knowledge.generalization import leaf_loss
from querycloak.knowledge.pruning import cost_tree
from querycloak.methods.generalization import _partition_kernels as kernels
from querycloak.methods.generalization._generalized_release import (
    GeneralizationSettings,
    release_generalized,
    transactions_of,
)
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["LENGTH_IS", "Partition", "partition", "parts_of", "top_down"]


LENGTH_IS: Final = "the published nodes hold all concepts of a user: that there is none elsewhere is visible"


@dataclass(frozen=True)
class Partition(GeneralizationSettings):
    """Settings of `partition`."""


def partition(
    log: QueryLog,
    settings: Partition,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Part the users of a log from the root down and publish each as the nodes its part shares."""
    users, sets = transactions_of(log, concepts, settings.k, "partition", distinct=True)
    order = np.argsort(log.users.gather(users).rank("ordinal").to_numpy(), kind="stable")
    users, sets = users[order], sets.take(order)  # of users who would do as well, the one with the lowest id is taken
    progress.start("partitioning")
    costs = cost_tree(taxonomy, concepts.concept, settings.to_json())
    of, shared = parts_of(costs.nodes(sets), costs.tree, settings.k)
    progress.start("publishing")
    return release_generalized(
        log,
        concepts,
        taxonomy,
        random,
        settings,
        method="partition",
        users=users,
        transactions=sets,
        of=of,
        shared=costs.concepts(shared),
        length_is=LENGTH_IS,
    )


def parts_of(sets: Ragged, taxonomy: Taxonomy, k: int) -> tuple[npt.NDArray[np.int32], Ragged]:
    """Part sets of concepts: the part of each (int32[n]), and the nodes that each part publishes.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
    >>> sets = Ragged.of_lists([[2, 4], [3, 4]], np.int32)  # apple, meat; pear, meat
    >>> of, shared = parts_of(sets, food, k=2)
    >>> of.tolist(), [food.label(c) for c in shared.values]
    ([0, 0], ['fruit', 'meat'])
    """
    of, start, items = kernels.partition_kernel(top_down(taxonomy), sets, k, np.zeros(1, np.int64))
    return of, Ragged(start, items)


def top_down(taxonomy: Taxonomy) -> kernels.TopDown:
    """Return what the kernel needs of a taxonomy."""
    ancestor = np.stack([taxonomy.ancestor_at_depth(d) for d in range(taxonomy.height + 1)], axis=1)
    loss, divisor = leaf_loss(taxonomy)
    return kernels.TopDown(taxonomy.size, taxonomy.depth, divisor - loss, ancestor)
