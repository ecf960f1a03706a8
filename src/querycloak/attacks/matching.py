"""The attacker that looks for the published log nearest to what it knows, both as counted features.

Features are integers: words, whole queries, or concepts. Rare features weigh more (inverse document frequency over the
published users), since they tell more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.attacks._matching_kernels import Weighted, best_matches
from querycloak.texts.compared import code_sorted

if TYPE_CHECKING:
    import polars as pl

    from querycloak.attacks.published_ids import PublishedIds

__all__ = ["chance_of_match", "code_words", "count_features", "expand"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]


def count_features(user: Ints, feature: Ints, n_users: int) -> CountedRows:
    """Count the features of each user; features of -1 are left out."""
    keep = feature >= 0
    return CountedRows.of(user[keep], feature[keep], n_users)


def chance_of_match(
    known: CountedRows, published: CountedRows, owner: PublishedIds, n_features: int, *, cosine: bool
) -> Float64s:
    """Match each row of known features to the published ones: float64[targets], the chance of naming a right one.

    owner: the right published ids of each target. With `cosine`, counts are damped by 1 + log and published rows have
    length 1; without, a published row scores by which of the known features it has.
    """
    if published.rows == 0 or len(owner) == 0:
        return np.zeros(len(owner))
    spread = np.bincount(published.values, minlength=n_features)
    idf = np.log(1.0 + published.rows / np.maximum(spread, 1))
    weight = idf[published.values]
    known_weight = idf[known.values]
    if cosine:
        weight = weight * (1.0 + np.log(published.counts))
        length = np.sqrt(published.uncounted.sums(weight**2))
        weight /= length[published.owner]
        known_weight = known_weight * (1.0 + np.log(known.counts))
    else:
        weight = np.ones(len(published.values))
    by_feature = Ragged.positions(published.values, n_features)
    holders = published.owner[by_feature.values].astype(np.int32)
    return best_matches(
        Weighted(known.start, known.values, known_weight),
        Weighted(by_feature.start, holders, weight[by_feature.values]),
        published.rows,
        owner.ids,
    )


def expand(user: Ints, item: Ints, features: Ragged) -> tuple[Int64s, Int64s]:
    """Replace each (user, item) by (user, f) for every feature f of the item: users int64[m], features int64[m]."""
    taken = features.take(item)
    return np.repeat(user.astype(np.int64), taken.lengths), taken.values.astype(np.int64)


def code_words(*vocabularies: pl.Series) -> tuple[list[Ragged], int]:
    """Cut texts into words, with the same codes in all vocabularies: the words of each text, and how many codes."""
    import polars as pl

    known = pl.concat([v.cast(pl.String) for v in vocabularies])
    frame = pl.DataFrame({"text": known}).with_row_index("row")
    words = (
        frame.with_columns(word=pl.col("text").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+"))
        .explode("word")
        .filter(pl.col("word").is_not_null())
    )
    code = code_sorted(words["word"])
    rows = Ragged.of(words["row"].to_numpy().astype(np.int64), code, len(known))
    out: list[Ragged] = []
    first = 0
    for vocabulary in vocabularies:
        out.append(rows.take(np.arange(first, first + len(vocabulary))))
        first += len(vocabulary)
    return out, int(code.max(initial=-1)) + 1
