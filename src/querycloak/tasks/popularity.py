"""Popularity: whether the release shows what many people ask, and how many.

One number: the overlap of two lists. The head of the log is the 1,000 texts that most people asked, and the head of the
release the 1,000 that most ids asked. A text that n people asked weighs n - 1: a text of one person is not popular at
all, and many such texts together are not either. Over the texts of both heads, p and q are the shares of the weights in
the log and in the release. The value is the sum of min(p, q), which is 1 minus the total variation distance: 1 for the
same shares, 0 for nothing in common. A text counts as much as it is asked, so the top of the list decides, as it
should; a correlation of ranks would count rank 990 like rank 1, and would not see texts that only the release has.

People are counted, not query events: one person who asks the same every day does not make a text popular. In a release
an id counts as a person; a table without ids says itself how often a text was asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.tasks.reading import people_per_text
from querycloak.tasks.resampling import around, block_totals
from querycloak.tasks.task import TaskScore, impossible

if TYPE_CHECKING:
    from querycloak.tasks.reading import Reading

__all__ = ["HEAD", "head_of", "score_popularity"]

HEAD: Final = 1000
"""How many texts are popular at most."""
SHORT_LIST: Final = 100
SCRAMBLE: Final = np.int64(2654435761)
"""2^32 divided by the golden ratio: odd, so that products with it are distinct below 2^32"""

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


def head_of(reading: Reading) -> Int64s:
    """int64[at most HEAD]: the texts that most people asked, two at least; the first the most.

    Equal ones come in scrambled order: codes are by first appearance, where popular texts come early, and a release in
    which all texts are equally frequent must not profit from that.
    """
    people = people_per_text(reading)
    scrambled = np.arange(len(people)) * SCRAMBLE % (1 << 32)
    order = np.lexsort((scrambled, -people))[:HEAD]
    return order[people[order] > 1]


def score_popularity(head: Int64s, log: Reading, release: Reading) -> list[TaskScore]:
    """Score the release against the most asked texts of the log."""
    if not len(head):
        return [impossible("popularity", "no text of the log was asked by two people")]
    shown = head_of(release)
    union = np.union1d(head, shown)
    p, q = _shares(log, union), _shares(release, union)
    value, low, high = around(np.minimum(p, q).sum(axis=1))
    top = head[:SHORT_LIST]
    kept = len(np.intersect1d(top, shown[: len(top)]))
    note = f"of the {len(top)} most asked texts, {kept} are among the {len(top)} most asked of the release"
    return [TaskScore(task="popularity", value=value, low=low, high=high, cases=len(head), note=note)]


def _shares(reading: Reading, union: Int64s) -> Float64s:
    """float64[1 + RESAMPLES, texts of the union]: the share of each text in each resample; 0 where none was drawn."""
    feature = np.full(max(reading.texts, int(union.max()) + 1), -1, dtype=np.int64)
    feature[union] = np.arange(len(union))
    counted = np.flatnonzero(feature[reading.text] >= 0)
    weight = reading.weight[counted]
    if reading.has_users:  # each person counts once per text
        pair = reading.id[counted].astype(np.int64) * reading.texts + reading.text[counted]
        counted = counted[np.unique(pair, return_index=True)[1]]
        weight = np.ones(len(counted))
    totals = block_totals(reading.draws, reading.block[counted], feature[reading.text[counted]], weight, len(union))
    beyond_one = np.maximum(totals - 1.0, 0.0)
    shares: Float64s = beyond_one / np.maximum(beyond_one.sum(axis=1, keepdims=True), 1e-300)
    return shares
