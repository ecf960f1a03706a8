"""Record linkage: link each published user to the original users with most queries in common, knowing the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.attacks._linkage_kernels import link
from querycloak.attacks.interval import guessing, result_of
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import polars as pl

    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["record_linkage"]


def record_linkage(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all attacks are called alike
    progress: Progress = QUIET,
) -> AttackResult:
    """Link every published user to original users by the number of queries in common (Batet et al. 2013, eq. 10).

    G is the set of original users at the maximum, all of them where nothing is in common; the chance of a right link is
    1 / |G| if the right user is in G, else 0. Queries are compared as texts, with multiplicity; further clicks of a
    query event are not counted.

    In a release where groups of at least k users share their bag, all members of a group have the same G, so their
    chances add up to at most 1: the rate cannot pass 1 / k.
    """
    assert release.truth is not None
    progress.start("attack: record linkage")
    events = np.flatnonzero(log.event)
    code = _codes_in(release.log.queries, log.queries)
    published = CountedRows.of(release.log.user, release.log.query, len(release.log.users))
    common = published.keep(code[published.values] >= 0)
    common = common._replace(values=code[common.values])
    askers = CountedRows.of(log.user[events], log.query[events], len(log.users)).inverted(len(log.queries))
    most, linked, right = link(common, askers, release.truth.user, len(log.users))
    chance = np.where(right, 1.0 / np.maximum(linked, 1), 0.0)
    details = {
        "mean queries in common with the linked": float(most.mean()) if len(most) else 0.0,
        "mean users linked": float(linked.mean()) if len(linked) else 0.0,
    }
    return result_of(
        "record-linkage",
        chance,
        release,
        question="linkability",
        risk="link",
        knows="the whole log in clear",
        unit="published id",
        baseline=guessing(len(log.users)),
        bounded=True,
        details=details,
    )


def _codes_in(words: pl.Series, vocabulary: pl.Series) -> npt.NDArray[np.int32]:
    """Find texts in another vocabulary: int32[len(words)], -1 where it is not there."""
    import polars as pl

    there = pl.DataFrame({"text": vocabulary}).with_row_index("code").unique("text", keep="first")
    found = pl.DataFrame({"text": words}).join(there, on="text", how="left", maintain_order="left")
    return found["code"].cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int32)
