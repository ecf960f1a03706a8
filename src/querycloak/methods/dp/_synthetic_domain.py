"""The public bins of `synthetic-dp`: topics in two levels, events per user, lengths of sessions, gaps within them.

Nothing here depends on a log. A topic is a concept of the taxonomy at depth 4; a field is the concept above it at
depth 3. What has no concept has a bin of its own, the last one, in both levels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.topics import TOPIC_DEPTH
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["GAP_EDGES", "HOURS", "SESSION_EDGES", "SESSION_SECONDS", "SIZE_EDGES", "Topics", "bin_of", "topic_bins"]

Int64s = npt.NDArray[np.int64]

HOURS: Final = 168
"""Hours of a week, from Monday 00:00 UTC."""
SESSION_SECONDS: Final = 1800
"""A longer pause begins a new session."""


def _growing(first: int, last: int, ratio: float) -> Int64s:
    """Return whole numbers from 1, from `first` on each larger by the ratio than the one before, up to `last`."""
    edges = list(range(1, first + 1))
    while edges[-1] < last:
        edges.append(min(int(edges[-1] * ratio) + 1, last))
    return np.array(edges, dtype=np.int64)


SIZE_EDGES: Final = _growing(8, 20_000, 1.25)
"""Bin i holds users with SIZE_EDGES[i] to SIZE_EDGES[i + 1] - 1 events; the last all who have more."""
SESSION_EDGES: Final = _growing(10, 100, 1.4)
"""The same for the events of a session."""
GAP_EDGES: Final = np.array([0, 1, 4, 9, 16, 30, 60, 120, 300, 600, 1200], dtype=np.int64)
"""The same for the seconds between two events of a session; the last bin ends at SESSION_SECONDS."""


def bin_of(values: Int64s, edges: Int64s) -> Int64s:
    """int64[n]: the bin of each value; what is below the first edge is in the first bin.

    >>> bin_of(np.array([0, 1, 8, 9, 10**9]), SIZE_EDGES).tolist()[:3]
    [0, 0, 7]
    """
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 1).astype(np.int64)


class Topics(NamedTuple):
    """Bins of topics; `none` is the bin of what has no concept."""

    concept: Int64s
    """int64[topics]: the concept of each topic; `none` has no concept"""
    bin_of: Int64s
    """int64[concepts of the taxonomy + 1]: the topic of each concept; the last is `none`, for -1"""
    field: Int64s
    """int64[topics + 1], ascending: the field of each topic"""
    fields: int
    """how many fields there are, `none` included"""

    @property
    def none(self) -> int:
        """The bin of what has no concept."""
        return len(self.concept)

    @property
    def total(self) -> int:
        """How many topics there are, `none` included."""
        return len(self.concept) + 1


@lru_cache(maxsize=4)
def topic_bins(taxonomy: Taxonomy) -> Topics:
    """Return the topics of a taxonomy."""
    topic_of, field_of = (taxonomy.ancestor_at_depth(depth) for depth in (TOPIC_DEPTH, TOPIC_DEPTH - 1))
    fields, field = np.unique(field_of, return_inverse=True)
    concept = np.unique(topic_of)
    concept = concept[np.argsort(field[concept], kind="stable")]  # topics of a field are next to each other
    index = np.empty(len(taxonomy) + 1, dtype=np.int64)
    index[concept] = np.arange(len(concept))
    index[:-1] = index[topic_of]
    index[NO_CODE] = len(concept)
    of_topic = np.append(field[concept], len(fields)).astype(np.int64)
    return Topics(concept.astype(np.int64), index, of_topic, len(fields) + 1)
