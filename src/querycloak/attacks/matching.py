"""Bags of features per user, and the attacker that looks for the published bag nearest to what it knows.

Features are integers: words, whole queries, or concepts. Rare features weigh more (inverse document frequency over the
published users), since they tell more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.attacks._matching_kernels import best_matches

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Bags", "chance_of_match", "code_words", "expand"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bags:
    """Features of users with their counts; user u has the entries start[u] .. start[u + 1] - 1, by feature."""

    start: Int64s
    feature: Int32s
    count: Float64s

    @property
    def owner(self) -> Int64s:
        """int64[entries]: the user of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @classmethod
    def of(cls, user: npt.NDArray[np.integer[Any]], feature: npt.NDArray[np.integer[Any]], n_users: int) -> Bags:
        """Count (user, feature) pairs; features of -1 are passed over."""
        keep = feature >= 0
        width = int(feature.max(initial=0)) + 1
        pairs, count = np.unique(user[keep].astype(np.int64) * width + feature[keep], return_counts=True)
        start = np.searchsorted(pairs, np.arange(n_users + 1, dtype=np.int64) * width)
        return cls(start.astype(np.int64), (pairs % width).astype(np.int32), count.astype(np.float64))


def chance_of_match(known: Bags, published: Bags, owner: Int32s, n_features: int, *, cosine: bool) -> Float64s:
    """Match each known bag to the published ones: float64[targets], the chance of naming the right one.

    owner: int32[targets], the right published user. With `cosine`, counts are damped by 1 + log and published bags have
    length 1; without, a published bag scores by which of the known features it has.
    """
    n_published = len(published.start) - 1
    if n_published == 0 or len(owner) == 0:
        return np.zeros(len(owner))
    spread = np.bincount(published.feature, minlength=n_features)
    idf = np.log(1.0 + n_published / np.maximum(spread, 1))
    weight = idf[published.feature]
    known_weight = idf[known.feature]
    if cosine:
        weight = weight * (1.0 + np.log(published.count))
        length = np.sqrt(np.add.reduceat(np.append(weight**2, 0.0), published.start[:-1]))
        length[np.diff(published.start) == 0] = 1.0
        weight /= length[published.owner]
        known_weight = known_weight * (1.0 + np.log(known.count))
    else:
        weight = np.ones(len(published.feature))
    order = np.argsort(published.feature, kind="stable")
    post_start = np.searchsorted(published.feature[order], np.arange(n_features + 1)).astype(np.int64)
    post_user = published.owner[order].astype(np.int32)
    return best_matches(
        known.start, known.feature, known_weight, post_start, post_user, weight[order], n_published, owner
    )


def expand(
    user: npt.NDArray[np.integer[Any]],
    item: npt.NDArray[np.integer[Any]],
    start: Int64s,
    value: npt.NDArray[np.integer[Any]],
) -> tuple[Int64s, Int64s]:
    """Replace each (user, item) by (user, v) for all v in value[start[item]] .. value[start[item + 1] - 1]."""
    length = (start[1:] - start[:-1])[item]
    ends = np.cumsum(length)
    inside = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - length, length)
    return np.repeat(user.astype(np.int64), length), value[np.repeat(start[item], length) + inside].astype(np.int64)


def code_words(*vocabularies: pl.Series) -> tuple[list[tuple[Int64s, Int64s]], int]:
    """Cut texts into words and code them alike over all vocabularies: (start, word) for each, and how many words."""
    import polars as pl

    known = pl.concat([v.cast(pl.String) for v in vocabularies])
    frame = pl.DataFrame({"text": known}).with_row_index("row")
    words = (
        frame.with_columns(word=pl.col("text").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+"))
        .explode("word")
        .filter(pl.col("word").is_not_null())
    )
    code = (words["word"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    row = words["row"].to_numpy().astype(np.int64)
    out: list[tuple[Int64s, Int64s]] = []
    first = 0
    for vocabulary in vocabularies:
        start = np.searchsorted(row, np.arange(first, first + len(vocabulary) + 1))
        out.append((start.astype(np.int64) - start[0], code[start[0] : start[-1]]))
        first += len(vocabulary)
    return out, int(code.max(initial=-1)) + 1
