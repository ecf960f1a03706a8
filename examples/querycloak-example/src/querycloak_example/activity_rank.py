"""Activity rank: the attacker knows how much each user asks, and nothing else.

He orders the users of the log and those of the release by their number of queries, and takes the n-th of one for the
n-th of the other. A user of the release who shares a number with others is found with the chance that an order among
equals gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.attacks.interval import guessing, result_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak import AttackResult, Progress, QueryLog, Randomness, Release

__all__ = ["activity_rank"]


def activity_rank(log: QueryLog, release: Release, random: Randomness, progress: Progress) -> AttackResult:
    """Return how many published users are named rightly by their rank."""
    progress.start("attack: activity rank")
    assert release.truth is not None  # the workbench refuses a release without one
    asked = np.bincount(log.user[log.event], minlength=len(log.users))  # int64[users]
    published = np.bincount(release.log.user, minlength=len(release.log.users))  # int64[published users]
    known = _order(asked, random.child("known"))[: len(published)]
    seen = _order(published, random.child("seen"))
    right = known == release.truth.user[seen]
    return result_of(
        "activity-rank",
        right.astype(np.float64),
        release,
        question="linkability",
        risk="link",
        knows="how many queries each person asked",
        unit="published id",
        baseline=guessing(len(asked)),
    )


def _order(counts: npt.NDArray[np.int64], random: Randomness) -> npt.NDArray[np.int64]:
    """Return the users by falling count, equals in random order: int64[users]."""
    shuffled = random.permutation(len(counts))
    return shuffled[np.argsort(-counts[shuffled], kind="stable")]
