"""Category EMD: how far each user's categories have moved on the tree (Pàmies-Estrems & Garcia-Alfaro 2023, 5.4).

The earth mover's distance of a user is the total distance, in edges of the tree of full paths, of the best matching of
the user's original categories to those published under the user's id. On a tree it is the sum over edges of |flow|,
which takes linear time. As a share of the largest possible, every step leads through the root: the sum of the depths of
all original and all published categories.

The paper's share has another denominator, 18.2 edges per query over its tree, of which it does not say how it was
found. So the distance is also counted in edges per query, which can be compared as it is.

Departure: a record that was not published leaves the user with fewer records than before. The surplus is carried to
the root, so that what is lost counts as far as it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.measures._emd_kernels import tree_flows
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.row_paths import PathsOf
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["PAPER_LARGEST", "category_emd", "user_distances"]

PAPER_LARGEST: Final = 18.2
"""Edges per query: the largest possible distance of the paper (Fig. 9), the same for all k and depths."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


def user_distances(
    before: tuple[Int32s, list[tuple[str, ...]]], after: tuple[Int32s, list[tuple[str, ...]]], users: int
) -> tuple[Int64s, Int64s]:
    """Return distance and largest possible distance of each user, int64[users] twice.

    `before` and `after` are (user int32[n], path of each row); a path has no root, and () is the root itself.

    >>> ann = np.zeros(2, np.int32)
    >>> [d.tolist() for d in user_distances((ann, [("a", "x"), ("b",)]), (ann, [("a", "y"), ("b",)]), 1)]
    [[2], [6]]
    """
    number: dict[tuple[str, ...], int] = {(): 0}
    parent = [-1]

    def node_of(path: tuple[str, ...]) -> int:
        found = number.get(path)
        if found is None:
            above = node_of(path[:-1])
            found = number[path] = len(parent)
            parent.append(above)
        return found

    node = np.array([node_of(p) for _, paths in (before, after) for p in paths], dtype=np.int32)
    depth = np.array([len(p) for _, paths in (before, after) for p in paths], dtype=np.int64)
    user = np.concatenate([before[0], after[0]])
    sign = np.repeat(np.array([1, -1], dtype=np.int32), [len(before[0]), len(after[0])])
    order = np.argsort(user, kind="stable")
    moved = tree_flows(user[order], node[order], sign[order], np.array(parent, dtype=np.int32), users)
    largest = np.bincount(user, weights=depth, minlength=users).astype(np.int64)
    return moved, largest


def category_emd(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
    *,
    paths: PathsOf,
    release_paths: PathsOf,
) -> list[Score]:
    """Return the mean distance of a user, all distances as a share of the largest possible, and in edges per query.

    Needs the truth of the release, to know whose the published ids are; without it there is no score.
    """
    if release.truth is None:
        return []
    progress.start("measure: category EMD")
    separator = str(release.statement.settings.get("separator", "/"))
    old, new = paths(separator), release_paths(separator)
    published = release.truth.user[release.log.user].astype(np.int32)
    moved, largest = user_distances(
        (log.user, [old.paths[c] for c in old.code.tolist()]),
        (published, [new.paths[c] for c in new.code.tolist()]),
        len(log.users),
    )
    there = largest > 0
    mean = float(moved[there].mean()) if there.any() else 0.0
    share = float(moved.sum() / largest.sum()) if there.any() else 0.0
    edges = float(moved.sum() / max(len(log), 1))
    details = {
        "largest possible": float(largest.sum() / max(len(log), 1)),
        f"share of the paper's {PAPER_LARGEST:g} edges": edges / PAPER_LARGEST,
    }
    return [
        Score(measure="category EMD per user", value=mean, better="lower"),
        Score(measure="category EMD, edges per query", value=edges, better="lower", details=details),
        Score(measure="category EMD, share of the largest", value=share, better="lower"),
    ]
