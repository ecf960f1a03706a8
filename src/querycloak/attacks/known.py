"""What an attacker can compare: features of rows that it knows, and of rows that were published, coded alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.attacks.matching import Bags, code_words, expand

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["Features", "published_users", "text_features", "topic_features"]


@dataclass(frozen=True)
class Features:
    """Features of each item of the known log (start, value), and the published users' bags of the same features."""

    start: npt.NDArray[np.int64]
    """int64[items + 1]; an item is a query code of the known log"""
    value: npt.NDArray[np.int64]
    published: Bags
    size: int

    def known(self, target: npt.NDArray[np.int64], item: npt.NDArray[np.int32], n_targets: int) -> Bags:
        """Return the bags of what the attacker knows of each target: pairs (target, item)."""
        user, feature = expand(target, item, self.start, self.value)
        return Bags.of(user, feature, n_targets)


def text_features(log: QueryLog, release: Release, *, whole: bool) -> Features:
    """Words of queries; with `whole`, each whole query too, as a feature of its own."""
    (mine, theirs), size = code_words(log.queries, release.log.queries)
    start, value = mine
    published_start, published_value = theirs
    if whole:
        ours, others = _same_texts(log, release)
        start, value = _append(start, value, ours + size)
        published_start, published_value = _append(published_start, published_value, others + size)
        size += int(max(ours.max(initial=-1), others.max(initial=-1))) + 1
    user, feature = expand(release.log.user, release.log.query, published_start, published_value)
    return Features(start, value, Bags.of(user, feature, len(release.log.users)), size)


def topic_features(log: QueryLog, concepts: ConceptLog, release: Release, taxonomy: Taxonomy) -> Features:
    """Concepts of known queries with all their ancestors, against the items of a generalized release."""
    item = _items(release, taxonomy)
    pairs = np.unique(np.stack([concepts.query, concepts.concept], axis=1)[concepts.concept >= 0], axis=0)
    query, feature = [], []
    for q, concept in pairs.tolist():
        for above in taxonomy.ancestors(concept):
            query.append(q)
            feature.append(above)
    order = np.argsort(np.array(query, dtype=np.int64), kind="stable")
    sorted_query = np.array(query, dtype=np.int64)[order]
    start = np.searchsorted(sorted_query, np.arange(len(log.queries) + 1)).astype(np.int64)
    value = np.array(feature, dtype=np.int64)[order]
    published = Bags.of(release.log.user, item[release.log.category], len(release.log.users))
    return Features(start, value, published, len(taxonomy))


def published_users(log: QueryLog, release: Release) -> npt.NDArray[np.int32]:
    """int32[users of the log]: the published user that stands for each, -1 where there is none."""
    assert release.truth is not None
    out = np.full(len(log.users), -1, dtype=np.int32)
    out[release.truth.user] = np.arange(len(release.truth.user), dtype=np.int32)
    return out


def _same_texts(log: QueryLog, release: Release) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Code the texts of both vocabularies alike."""
    import polars as pl

    code = (pl.concat([log.queries, release.log.queries]).rank("dense").cast(pl.Int64) - 1).to_numpy()
    return code[: len(log.queries)], code[len(log.queries) :]


def _append(
    start: npt.NDArray[np.int64], value: npt.NDArray[np.int64], one_more: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Add one value to the end of every row."""
    return start + np.arange(len(start)), np.insert(value, start[1:], one_more)


def _items(release: Release, taxonomy: Taxonomy) -> npt.NDArray[np.int64]:
    """int64[distinct paths of the release]: the concept of each path, -1 where the taxonomy has none."""
    assert release.log.categories is not None
    return np.array([taxonomy.concept_of_path.get(p, -1) for p in release.log.categories.to_list()], dtype=np.int64)
