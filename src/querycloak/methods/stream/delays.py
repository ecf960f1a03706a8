"""How long records waited: a table of counts of fixed size, for streams that never end.

A delay below 64 records is counted as it is; above, every power of two is cut into 32 buckets, and a percentile is the
upper end of its bucket: never below the true one, and at most a thirty-second above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import require
from querycloak.methods.stream._delays_kernels import count_delays

__all__ = ["BUCKETS", "Delays"]

Int64s = npt.NDArray[np.int64]

_EXACT_BITS: Final = 6
"""Delays of so many bits are counted as they are."""
_PARTS: Final = 32
"""Buckets of each power of two above."""
_MOST_BITS: Final = 52
"""No stream has more records: a year of a million a second has 45."""
BUCKETS: Final = (1 << _EXACT_BITS) + (_MOST_BITS - _EXACT_BITS) * _PARTS
SHARES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(eq=False)
class Delays:
    """Counts of delays."""

    counts: Int64s = field(default_factory=lambda: np.zeros(BUCKETS, dtype=np.int64))
    """int64[BUCKETS]: records by their delay"""
    total: int = 0
    longest: int = 0

    @classmethod
    def from_state(cls, counts: Int64s, total: int, longest: int) -> Delays:
        """Return what was saved; BadStateError where it contradicts itself."""
        used = np.flatnonzero(counts)
        last = int(used[-1]) if len(used) else 0
        require(
            int(_bucket(np.array([min(longest, (1 << _MOST_BITS) - 1)]))[0]) == last, "the longest delay is counted"
        )
        require(longest <= total, "all delays together are no less than the longest")
        return cls(counts.copy(), total, longest)

    def add(self, delay: Int64s) -> None:
        """Count the delays of records that left: int64[n]."""
        total, longest = count_delays(delay, _SHORT, _PARTS, self.counts)
        self.total += total
        self.longest = max(self.longest, longest)

    @property
    def records(self) -> int:
        """How many records were counted."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean delay; 0 where nothing has left."""
        return self.total / max(self.records, 1)

    def percentile(self, share: float) -> int:
        """Return the delay that this share of the records did not exceed; 0 where nothing has left."""
        if self.records == 0:
            return 0
        at = int(np.searchsorted(np.cumsum(self.counts), math.ceil(share * self.records)))
        return min(_upper_end(at), self.longest)

    def figures(self) -> dict[str, float]:
        """Return the figures of a statement, in records."""
        percentiles = {f"delay {name}": float(self.percentile(share)) for name, share in SHARES.items()}
        return {"mean delay": self.mean, **percentiles, "longest delay": float(self.longest)}


def _bucket(delay: Int64s) -> Int64s:
    """int64[n]: the bucket of each delay, by its bits."""
    bits = np.frexp(delay.astype(np.float64))[1].astype(np.int64)  # exact below 2 ** 53
    above = np.maximum(bits - _EXACT_BITS, 0)
    inside = np.where(above > 0, (delay >> above) - _PARTS, 0)
    return np.where(above > 0, (1 << _EXACT_BITS) + (above - 1) * _PARTS + inside, delay)


_SHORT: Final = _bucket(np.arange(1 << 12)).astype(np.int16)
"""int16[4096]: buckets of short delays"""


def _upper_end(bucket: int) -> int:
    """Return the longest delay of a bucket."""
    if bucket < 1 << _EXACT_BITS:
        return bucket
    above, inside = divmod(bucket - (1 << _EXACT_BITS), _PARTS)
    return ((_PARTS + inside + 1) << (above + 1)) - 1
