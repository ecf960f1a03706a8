"""Unchanged: the share of published queries that came out as they went in, because ε alone tells a publisher little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["share_in_common", "unchanged"]

Codes = npt.NDArray[np.int32]


def unchanged(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
) -> list[Score]:
    """Compare the published queries of each id with those of the user it stands for, as bags; by text and by concept.

    `queries unchanged`: share of the published rows whose text, case and spaces at its ends apart, is one of the
    user's own. `concepts unchanged`: the same for the concepts of the published text: "asthma" for "asthmas". Needs
    the release's truth, else nothing is said.
    """
    if release.truth is None:
        return []
    import polars as pl

    progress.start("measure: unchanged")
    owner = release.truth.user
    texts = pl.concat([log.queries, release.log.queries]).str.strip_chars().str.to_lowercase()
    code = texts.rank("dense").to_numpy().astype(np.int32)
    asked = log.user[log.event], code[: len(log.queries)][log.query[log.event]]
    shown = owner[release.log.user], code[len(log.queries) :][release.log.query]
    meant = concepts.known()
    found = release_concepts.known()
    return [
        Score(measure="queries unchanged", value=share_in_common(asked, shown), better="lower"),
        Score(
            measure="concepts unchanged",
            value=share_in_common((meant.user, meant.concept), (owner[found.user], found.concept)),
            better="lower",
        ),
    ]


def share_in_common(before: tuple[Codes, Codes], after: tuple[Codes, Codes]) -> float:
    """Return the share of the pairs (user, thing) after that are also before, as a bag intersection.

    >>> share_in_common((np.array([0, 0, 1]), np.array([5, 5, 7])), (np.array([0, 0, 1]), np.array([5, 7, 7])))
    0.6666666666666666
    """
    if not len(after[0]):
        return 0.0
    wide = 1 + max(int(before[1].max(initial=0)), int(after[1].max(initial=0)))
    (old, had), (new, has) = (
        np.unique(user.astype(np.int64) * wide + thing, return_counts=True) for user, thing in (before, after)
    )
    _, i, j = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    return float(np.minimum(had[i], has[j]).sum() / has.sum())
