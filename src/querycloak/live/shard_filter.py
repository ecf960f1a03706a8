"""The records of one shard: all others are left out right after lines are split, before anything is coded.

A record is in exactly one shard, whatever is wrong with it: what is no record, and what has no path, is of shard 0. So
each line that is skipped is counted once. Where a bad line ends the reading, every shard ends at it.

After a change of the number of shards (`live.take_over`) a category's records before the position at which its earlier
shard stopped are left out, too: that shard has taken them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.vocabulary import Vocabulary
from querycloak.live import _shard_kernels as kernels
from querycloak.live.shards import UNCLASSIFIED_LABEL, owner_of
from querycloak.logs import _records_kernels as records
from querycloak.mapping.category_tree import split_path

if TYPE_CHECKING:
    from querycloak.live.shards import Shard
    from querycloak.logs.records import RecordBatch, RecordReader

__all__ = ["ShardFilter"]

Bytes = npt.NDArray[np.uint8]
PathOf = Callable[[str], tuple[str, ...]]

BLANK: Final = 32
DELETE: Final = 127
MOST_SPELLINGS: Final = 1 << 20
"""Paths and stretches of paths that are remembered; when there are more, all are forgotten, and looked at again."""


class ShardFilter:
    """Finds the records of a shard."""

    def __init__(self, shard: Shard, separator: str, earlier: int = 0) -> None:
        """`earlier`: how many shards there were before, whose states this one has taken over; 0 = none."""
        self.shard = shard
        self._behind: frozenset[int] = frozenset()
        self._separator = separator
        self._earlier = earlier
        byte = ord(separator) if len(separator) == 1 else 0
        self._byte = byte if BLANK < byte < DELETE else 0  # 0 = every path is looked at as a whole
        self._forget()

    def _forget(self) -> None:
        """Forget the paths that were looked at."""
        self._stretches = 0
        self._known = _no_stretches(64)
        self._paths = Vocabulary()
        self._of_path = np.zeros(0, dtype=np.uint8)

    def __repr__(self) -> str:
        return f"ShardFilter({self.shard})"

    @property
    def behind(self) -> frozenset[int]:
        """Earlier shards that have taken the records that come now."""
        return self._behind

    @behind.setter
    def behind(self, behind: frozenset[int]) -> None:
        if behind != self._behind:
            self._behind = behind
            self._forget()

    def take(self, found: RecordBatch, reader: RecordReader, path: PathOf | None) -> RecordBatch:
        """Return the records of this shard; the arrays of `found` are used up."""
        n = kernels.keep_rows(self.own(found, reader, path), found.rows, found.spans, found.how)
        return found.until(n)

    def own(self, found: RecordBatch, reader: RecordReader, path: PathOf | None) -> Bytes:
        """uint8[n]: OWN for the records of this shard.

        `path` finds the path of a query; None = categories are given.
        """
        status = found.status
        bad = np.uint8(self._is_own(None))
        flags = np.where(status == records.GOOD, np.uint8(self._is_own(())), bad)
        if path is not None:
            good, queries = found.good, Vocabulary()
            code = reader.code(_copied(found), records.QUERY, queries)[good]
            made = self._owns([path(queries.text(c).decode()) for c in range(len(queries))])
            flags[good] = np.append(made, bad)[np.maximum(code, -1)]
        elif reader.layout.has_category:
            self._by_category(found, reader, flags)
        if reader.problems.stop:
            flags[(status > records.NO_QUERY) & (status <= records.BAD_TIME)] = kernels.OWN
        return flags

    def _by_category(self, found: RecordBatch, reader: RecordReader, flags: Bytes) -> None:
        """Set the flags of good records that have a category."""
        at = 0
        if not self._byte or reader.layout.form.safe_csv:
            flags[found.good] = kernels.ODD
            at = len(flags)
        while at < len(flags):
            at, length = kernels.find_own(
                found.array, found.rows, found.spans, found.how, self._byte, self._known, at, flags
            )
            if at < len(flags):
                begin = int(found.spans[at, 2 * records.CATEGORY])
                self._learn(found.data[begin : begin + length])
        odd = np.flatnonzero(flags == kernels.ODD)
        if len(odd):
            part = replace(found, rows=found.rows[odd], spans=found.spans[odd], how=found.how[odd])
            code = reader.code(part, records.CATEGORY, self._paths)
            new = [self._paths.text(c).decode() for c in range(len(self._of_path), len(self._paths))]
            made = self._owns([split_path(text, self._separator) for text in new])
            self._of_path = np.concatenate([self._of_path, made])
            flags[odd] = np.concatenate([self._of_path, self._owns([None, ()])])[code]  # BROKEN = -2, none = -1
            if len(self._paths) > MOST_SPELLINGS:
                self._forget()

    def _learn(self, stretch: bytes) -> None:
        """Find out whose the categories are that begin so."""
        if self._stretches >= MOST_SPELLINGS:
            self._forget()
        self._stretches += 1
        known = self._known
        if 2 * self._stretches > len(known.keys):
            self._known = _no_stretches(2 * len(known.keys))
            for slot in np.flatnonzero(known.keys[:, 0]):
                kernels.add_known(self._known, known.keys[slot], int(known.own[slot]))
        key = np.frombuffer(stretch.ljust(kernels.LONGEST, b"\0"), dtype="<u8").astype(np.uint64)
        kernels.add_known(self._known, key, self._is_own(split_path(stretch.decode(), self._separator)))

    def _owns(self, paths: list[tuple[str, ...] | None]) -> Bytes:
        """uint8[n]: OWN or FOREIGN, for paths; None = a path with an empty level."""
        return np.array([self._is_own(path) for path in paths], dtype=np.uint8)

    def _is_own(self, path: tuple[str, ...] | None) -> int:
        """Return OWN where records of a path are this shard's; what has no path is of shard 0."""
        owner = earlier = 0
        if path is not None:
            label = path[0] if path else UNCLASSIFIED_LABEL
            owner = owner_of(label, self.shard.count)
            earlier = owner_of(label, self._earlier) if self._earlier else 0
        return kernels.OWN if owner == self.shard.index and earlier not in self._behind else kernels.FOREIGN


def _no_stretches(slots: int) -> kernels.Known:
    return kernels.Known(np.zeros((slots, kernels.WORDS), dtype=np.uint64), np.zeros(slots, dtype=np.uint8))


def _copied(found: RecordBatch) -> RecordBatch:
    """Return a batch whose marks are not those of the original: another shard marks its own records."""
    return replace(found, rows=found.rows.copy())
