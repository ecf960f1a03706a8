"""The surveyor (Pàmies-Estrems & Garcia-Alfaro 2023, section 4.3): reads the original and the published stream.

Published rows are cut into windows of equal length, and the attackers run on each, as if it were all there is. Where a
row came from is taken from the truth that `stream --truth` writes, never found by comparing rows (ADR 157). Counts
(left, waiting, EMD so far) are over all rows that were read until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.errors import InputError
from querycloak.live.survey.flows import Flows, Moved
from querycloak.live.survey.rows import Names, RowReader
from querycloak.live.survey.truth_lines import TruthLines
from querycloak.live.survey.window import ATTACKERS, Attacker, Known, attacked, moved_in, settings_of, summed
from querycloak.methods.stream.delays import Delays

if TYPE_CHECKING:
    from querycloak.live.survey.rows import Int32s, Int64s, PathFinder, Rows
    from querycloak.logs.read_options import ReadOptions

__all__ = ["Survey", "Surveyor"]


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What was found in a window, or in all records so far."""

    window: int | None
    """number of the window from 1; None = all so far"""
    records: int
    """published rows that were looked at"""
    originals: int
    """original records read so far"""
    published: int
    """published records read so far"""
    left: float
    """share of the original records that have left"""
    waiting: int
    """original records that have not left: they wait, or were dropped"""
    waiting_per_level: list[int]
    """the same by the depth of their category; the first are those without one"""
    delays: dict[str, float]
    """in records; empty without the truth"""
    emd: Moved | None
    """how far categories have moved; None without the truth"""
    reidentified: list[Attacker]
    """empty without the truth"""
    one_in_k: float


class Surveyor:
    """Takes in three streams of bytes, and tells what it finds, window by window."""

    def __init__(
        self,
        known: Known,
        options: ReadOptions,
        finder: PathFinder,
        names: tuple[object, object, object | None],
        *,
        window: int = 10_000,
        safe_csv: bool = True,
    ) -> None:
        """`names` are those of the original, the published stream and the truth (None = there is none)."""
        settings_of(known)  # refuses at once what cannot be
        self._known, self._window = known, window
        self._people, self._ids = Names(), Names()
        self._original = RowReader(names[0], options, self._people, finder)
        self._published = RowReader(names[1], options, self._ids, finder, safe_csv=safe_csv)
        self._truth = None if names[2] is None else TruthLines(names[2], self._people)
        self._truth_name = names[2]
        self._flows = Flows()
        self._delays = Delays()
        self._levels = np.zeros(known.depth + 1, dtype=np.int64)  # original less published rows, by depth
        self._rows: Rows | None = None  # published, not in a window yet
        self._found: list[Attacker] = []
        self._windows = self._surveyed = 0

    def take_original(self, data: bytes, *, final: bool = False) -> None:
        """Take in bytes of the original stream."""
        rows = self._original.read(data, final=final)
        if rows is not None:
            node = self._flows.nodes(self._original.paths)[rows.path]
            self._flows.add(rows.user, node, 1)
            self._count(rows, self._original, 1)

    def take_published(self, data: bytes, *, final: bool = False) -> None:
        """Take in bytes of the published stream."""
        rows = self._published.read(data, final=final)
        if rows is not None:
            self._count(rows, self._published, -1)
            self._rows = rows if self._rows is None else self._rows.and_then(rows)

    def take_truth(self, data: bytes, *, final: bool = False) -> None:  # noqa: ARG002 - all are called alike
        """Take in bytes of the truth."""
        if self._truth is not None:
            self._truth.read(data)

    def _count(self, rows: Rows, reader: RowReader, sign: int) -> None:
        depth = np.array([min(len(path), self._known.depth) for path in reader.paths], dtype=np.int64)
        self._levels += sign * np.bincount(depth[rows.path], minlength=len(self._levels))

    def next_window(self, *, last: bool = False) -> Survey | None:
        """Return the next whole window, the last one however short it is; None = there is none yet."""
        rows = self._rows
        there = 0 if rows is None else len(rows)
        if self._truth is not None:
            there = min(there, len(self._truth))
        if rows is None or there == 0 or (there < self._window and not last):
            return None
        size = min(there, self._window)
        self._rows, rows = rows.cut(size, len(rows)), rows.cut(0, size)
        self._windows += 1
        self._surveyed += size
        if self._truth is None:
            return self._survey(self._windows, size, {}, None, [])
        asker, delay = self._truth.take(size)
        return self._judged(rows, asker, delay)

    def _judged(self, rows: Rows, asker: Int32s, delay: Int64s) -> Survey:
        """Run the attackers and measures on a window."""
        owner, paths = self._owners(rows), self._published.paths
        self._flows.add(owner[rows.user], self._flows.nodes(paths)[rows.path], -1)
        delays = Delays()
        for counts in (self._delays, delays):
            counts.add(delay)
        entered = round(len(rows) * max(self._original.rows / max(self._published.rows, 1), 1.0))
        told = float(self._delays.percentile(0.5)), entered
        found = attacked(rows, paths, owner, asker, told, self._known)
        self._found = [summed([*self._found, *found], name) for name in ATTACKERS]
        return self._survey(self._windows, len(rows), delays.figures(), moved_in(rows, paths, owner, asker), found)

    def _owners(self, rows: Rows) -> Int32s:
        """int32[published ids so far]: the original user of each, -1 where it is of no row here."""
        assert self._truth is not None
        owner = np.full(len(self._ids), -1, dtype=np.int32)
        for written, person in self._truth.owner.items():
            code = self._ids.find(written)
            if code >= 0:
                owner[code] = person
        if (owner[rows.user] < 0).any():
            raise InputError.at(self._truth_name, "is the truth of another stream: it does not name a published id")
        return owner

    def so_far(self) -> Survey:
        """Return what was found in all windows, with the counts of all records read."""
        if self._truth is None:
            return self._survey(None, self._surveyed, {}, None, [])
        return self._survey(None, self._surveyed, self._delays.figures(), self._flows.moved(), self._found)

    def _survey(
        self,
        window: int | None,
        records: int,
        delays: dict[str, float],
        emd: Moved | None,
        reidentified: list[Attacker],
    ) -> Survey:
        originals, published = self._original.rows, self._published.rows
        return Survey(
            window=window,
            records=records,
            originals=originals,
            published=published,
            left=published / max(originals, 1),
            waiting=max(originals - published, 0),
            waiting_per_level=[max(n, 0) for n in self._levels.tolist()],
            delays=delays,
            emd=emd,
            reidentified=reidentified,
            one_in_k=1 / self._known.k,
        )
