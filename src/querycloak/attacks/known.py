"""What an attacker can compare: features of known rows and of published rows, with the same codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.attacks.matching import code_words, count_features, expand
from querycloak.attacks.path_nodes import release_nodes
from querycloak.attacks.published_ids import published_ids

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["Features", "longest_logs", "text_features", "topic_features"]


@dataclass(frozen=True)
class Features:
    """Features of each item of the known log, and the published users' features in the same codes."""

    of_item: Ragged
    """the features of each item; an item is a query code of the known log"""
    published: CountedRows
    """the counted features of each published user"""
    size: int
    """how many codes there are"""

    def known(self, target: npt.NDArray[np.int64], item: npt.NDArray[np.int32], n_targets: int) -> CountedRows:
        """Return the counted features of what the attacker knows of each target: pairs (target, item)."""
        user, feature = expand(target, item, self.of_item)
        return count_features(user, feature, n_targets)


def text_features(log: QueryLog, release: Release, *, whole: bool) -> Features:
    """Return the words of queries as features; with `whole`, each whole query is a feature too."""
    (known, published), size = code_words(log.queries, release.log.queries)
    if whole:
        ours, others = _same_texts(log, release)
        known, published = _append(known, ours + size), _append(published, others + size)
        size += int(max(ours.max(initial=-1), others.max(initial=-1))) + 1
    user, feature = expand(release.log.user, release.log.query, published)
    return Features(known, count_features(user, feature, len(release.log.users)), size)


def topic_features(log: QueryLog, concepts: ConceptLog, release: Release, taxonomy: Taxonomy) -> Features:
    """Return the concepts of known queries with all their ancestors, against the items of a generalized release.

    Features are nodes of `release_nodes`: all that a reader of the release can tell apart.
    """
    nodes = release_nodes(release, taxonomy)
    query, concept = concepts.query[concepts.concept >= 0], concepts.concept[concepts.concept >= 0]
    pairs = np.unique(query.astype(np.int64) * len(taxonomy) + concept)  # each concept once per query
    above = nodes.above(nodes.of[pairs % len(taxonomy)])
    of_item = Ragged.of(np.repeat(pairs // len(taxonomy), above.lengths), above.values, len(log.queries))
    published = count_features(release.log.user, nodes.published(release, taxonomy), len(release.log.users))
    return Features(of_item, published, len(nodes.tree))


def longest_logs(log: QueryLog, release: Release) -> npt.NDArray[np.int32]:
    """int32[users of the log]: the published id of each that has most rows, -1 where there is none."""
    own = published_ids(log, release).ids
    rows = np.bincount(release.log.user, minlength=len(release.log.users))
    order = np.lexsort((rows[own.values], own.owner))  # the last one of each user has most
    out = np.full(len(log.users), -1, dtype=np.int32)
    out[own.owner[order]] = own.values[order]
    return out


def _same_texts(log: QueryLog, release: Release) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Code the texts of both vocabularies: equal texts have equal codes."""
    import polars as pl

    code = (pl.concat([log.queries, release.log.queries]).rank("dense").cast(pl.Int64) - 1).to_numpy()
    return code[: len(log.queries)], code[len(log.queries) :]


def _append(rows: Ragged, one_more: npt.NDArray[np.int64]) -> Ragged:
    """Add one value to the end of every row."""
    return Ragged(rows.start + np.arange(len(rows.start)), np.insert(rows.values, rows.start[1:], one_more))
