"""Topical blocks: users cut into runs that care about the same part of a taxonomy, for logs too large for exact MDAV.

A user's topic is found by stepping from the root into the child with the most of the user's weight, again and again.
Users are put in the depth-first order of their topics and cut into runs of equal size: neighbours share ancestors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.methods.microaggregation._blocks_kernels import topics

if TYPE_CHECKING:
    from querycloak.distances.user_concepts import UserConcepts

__all__ = ["topical_blocks"]


def topical_blocks(bags: UserConcepts, users: int) -> list[npt.NDArray[np.int64]]:
    """Cut the users into blocks of about `users`, sizes equal to within one; each block ascending."""
    n = len(bags.weight)
    order = np.argsort(topics(bags), kind="stable")
    blocks = max(1, round(n / users))
    return [np.sort(part) for part in np.array_split(order, blocks)]
