"""How far a release of concepts is generalized: distortion, length, level, density (Milani Fard and Wang 2010).

The cost itself is in `knowledge.generalization`, which methods use too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.errors import InputError
from querycloak.knowledge.generalization import generalization as cost
from querycloak.knowledge.generalization import transactions_by_owner
from querycloak.knowledge.pruning import cost_tree
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.measures._generalization_kernels import standing_kernel
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["generalization"]


def generalization(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Score:
    """Score a release whose rows are concepts of the taxonomy: the sum of GGD as a share of its worst case.

    A transaction is the set of a user's concepts, or the bag where the release says so (setting `transactions`), and
    costs are those of the tree that it names (setting `prune`). With the truth, each published item must stand for a
    distinct item of its user, as Definition 1 has it; those that do not are counted (`false items, share`) and stand
    for nothing. Without it they are taken at their word.
    """
    progress.start("measure: generalization")
    unknown = int((release_concepts.concept < 0).sum())
    if unknown:
        raise InputError(
            f"{unknown:,} of {len(release_concepts):,} published rows have a concept that is not in {taxonomy.name}: "
            "give the taxonomy that the release was made with."
        )
    original = transactions_by_owner(concepts.user, concepts.concept, owners=len(log.users))
    if release.statement.settings.get("transactions", "sets") == "sets":
        original = original.distinct()
    published = transactions_by_owner(release_concepts.user, release_concepts.concept, owners=len(release.log.users))
    costs = cost_tree(taxonomy, concepts.concept, release.statement.settings)
    if len(published.values) and int(costs.node[published.values].min()) < 0:
        raise InputError(
            f"published rows have concepts that are above none of the log: {release.statement.method} does not publish "
            "such. Give the log and the taxonomy that the release was made with."
        )
    standing = len(published.values)
    details: dict[str, float] = {}
    if release.truth is not None:
        asked = original.take(release.truth.user)
        standing = _standing(asked, published, taxonomy, has_keys=getattr(release, "has_keys", False))
        details["false items, share"] = 1 - standing / max(len(published.values), 1)
    with_items = original.take(np.flatnonzero(original.lengths > 0))
    found = cost(costs.tree, costs.nodes(with_items), costs.nodes(published), standing)
    details |= found.figures()
    return Score(measure="generalization", value=found.share, better="lower", details=details)


def _standing(original: Ragged, published: Ragged, taxonomy: Taxonomy, *, has_keys: bool) -> int:
    """Count published items that stand for a distinct item of their user, by the largest matching.

    A release without keys names concepts by path, and siblings may share a label: WordNet has three rivers Avon. Such
    concepts count as one, here only.
    """
    if has_keys:
        return standing_kernel(taxonomy.parent, taxonomy.size, taxonomy.height, original, published)
    first = np.array([taxonomy.concept_of_path[path] for path in taxonomy.paths], dtype=np.int64)
    kept = np.flatnonzero(first == np.arange(len(taxonomy)))
    number = np.full(len(taxonomy), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    above = taxonomy.parent[kept]
    parents = np.where(above < 0, -1, number[first[above]])
    merged, order = Taxonomy.from_parents_with_order(parents.tolist(), [[""]] * len(kept))
    new = np.empty(len(kept), dtype=np.int32)
    new[order] = np.arange(len(kept), dtype=np.int32)

    def renumbered(rows: Ragged) -> Ragged:
        return Ragged(rows.start, new[number[first[rows.values]]]).ascending()

    asked, claimed = renumbered(original), renumbered(published)
    return standing_kernel(merged.parent, merged.size, merged.height, asked, claimed)
