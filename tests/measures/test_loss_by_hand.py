"""Information loss against its definitions: the index that chooses the clusters, and L in per cent."""

from __future__ import annotations

import numpy as np
import pytest
from sample_releases import release_of

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.measures.clusters import Tree
from querycloak.measures.information_loss import information_loss
from querycloak.randomness import Randomness


def calinski_harabasz(points, label) -> float:
    """(between / (c - 1)) / (within / (n - c)), from centroids in the plane."""
    n, clusters = len(points), sorted(set(label.tolist()))
    middle = points.mean(axis=0)
    within = between = 0.0
    for c in clusters:
        mine = points[label == c]
        within += ((mine - mine.mean(axis=0)) ** 2).sum()
        between += len(mine) * ((mine.mean(axis=0) - middle) ** 2).sum()
    return (between / (len(clusters) - 1)) / (within / (n - len(clusters)))


@pytest.mark.parametrize("seed", range(12))
def test_the_number_of_clusters_is_the_best_of_all_by_calinski_and_harabasz(seed) -> None:
    """Points without clear clusters, so that the penalties (c - 1) and (n - c) decide."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 1, (40, 2)) ** (1 + seed % 3)
    tree = Tree(np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2)))
    index = {c: calinski_harabasz(points, tree.cut(c)) for c in range(2, 7)}  # 2 to the root of 40
    assert tree.best_cut() == max(index, key=index.__getitem__)


def test_the_loss_of_crossed_clusters_is_100_and_of_half_of_them_known() -> None:
    """Batet et al. 2013, eq. 8 and 9. Two and two users about tea and cars.

    Published crosswise, each cluster has one of each: 2 H(A, B) - H(A) - H(B) = 2 · 2 - 1 - 1 bits of 2: L = 100.
    With one user moved: H(A, B) = 1.5, H(A) = 1, H(B) = 0.811 bits: L = 100 · 1.189 / 1.5.
    """
    taxonomy = Taxonomy.from_parents([-1, 0, 0], [["top"], ["tea"], ["cars"]])
    log = QueryLog.of(["a", "b", "c", "d"], ["tea", "tea", "cars", "cars"])
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    for published, expected in (
        (["tea", "cars", "tea", "cars"], 100.0),
        (["tea", "cars", "cars", "cars"], 100 * (3 - 1 - entropy) / 1.5),
        (["cars", "cars", "tea", "tea"], 0.0),
    ):
        release = release_of(log, [[text] for text in published], [0, 1, 2, 3])
        before, after = (_concepts(table, taxonomy) for table in (log, release.log))
        needs = {"concepts": before, "release_concepts": after, "taxonomy": taxonomy}
        (score,) = information_loss(log, release, Randomness(0), clusters=2, **needs)
        assert score.value == pytest.approx(expected)


def _concepts(log, taxonomy) -> ConceptLog:
    concept = [taxonomy.first_sense[log.queries[q]] for q in log.query.tolist()]
    return ConceptLog(np.arange(len(log)), log.user, log.query, np.array(concept, np.int32))
