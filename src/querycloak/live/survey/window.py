"""The attackers and measures on one window of published rows: the same code that judges whole releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.attacks.result import NothingToAttackError
from querycloak.attacks.stream_linkage import stream_linkage
from querycloak.attacks.stream_pool import stream_pool
from querycloak.attacks.stream_timing import stream_timing
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.row_paths import RowPaths
from querycloak.measures.category_emd import user_distances
from querycloak.methods.stream.engine import make_engine
from querycloak.methods.stream.stream_statement import (
    FlatSettings,
    NearestSettings,
    SelfAdjustingSettings,
    StreamSettings,
    stream_statement,
)
from querycloak.randomness import Randomness
from querycloak.releases.release import StreamRelease, Truth
from querycloak.statistics import wilson

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.live.survey.flows import Moved
    from querycloak.live.survey.rows import Path, Rows

__all__ = ["ATTACKERS", "Attacker", "Known", "attacked", "moved_in", "settings_of", "summed"]

ATTACKERS: Final = ("simple", "full", "activity", "timing", "pool")
Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Known:
    """What the attackers know of the stream: its settings."""

    k: int
    depth: int
    hold: int = 0
    seed: int = 0
    """of the attackers' random choices"""
    method: str = "self-adjusting"
    pool: int = 300
    """of `nearest`"""
    max_delay: int | None = None
    """None = what the method has where nothing is said"""
    epoch: str | None = None
    time_grain: str | None = None


@dataclass(frozen=True)
class Attacker:
    """How often one attacker was right."""

    attacker: str
    targets: int
    """records that it could be right about"""
    right: int
    rate: float
    low: float
    high: float
    """95 % interval"""

    @classmethod
    def of(cls, attacker: str, right: int, targets: int) -> Attacker:
        """Return the rate with its interval (Wilson's)."""
        rate = right / targets if targets else 0.0
        low, high = wilson(rate, targets) if targets else (0.0, 1.0)
        return cls(attacker, targets, right, rate, low, high)


def summed(parts: list[Attacker], attacker: str) -> Attacker:
    """Return what one attacker reached over several windows."""
    own = [part for part in parts if part.attacker == attacker]
    return Attacker.of(attacker, sum(part.right for part in own), sum(part.targets for part in own))


def attacked(
    rows: Rows, paths: list[Path], owner: Int32s, asker: Int32s, told: tuple[float, int], known: Known
) -> list[Attacker]:
    """Run all attackers on the published rows of a window.

    owner: int32[published ids], the original user of each; asker: int32[rows]. `told` is what the attacker by time has
    from the statement of a release: the median delay, and how many records entered for these rows.
    """
    release = _as_release(rows, owner, asker, told, known)
    random = Randomness(known.seed)
    who_asked = QueryLog(**_log_columns(asker, np.zeros(len(rows), dtype=np.int32)))
    found_paths = RowPaths(rows.path, paths)
    found: list[AttackResult] = stream_linkage(
        who_asked,
        release,
        random.child("stream-linkage"),
        release_paths=lambda _: found_paths,
        stream_engines=make_engine,
    )
    hits = [(r.rate, r.targets) for r in found]
    try:
        timing = stream_timing(who_asked, release, random.child("stream-timing"))
        hits.append((timing.rate, timing.targets))
    except NothingToAttackError:
        hits.append((0.0, 0))
    pool = stream_pool(
        who_asked,
        release,
        random.child("stream-pool"),
        release_paths=lambda _: found_paths,
        stream_engines=make_engine,
    )
    hits.append((pool.rate, pool.targets))
    named = zip(ATTACKERS, hits, strict=True)
    return [Attacker.of(name, round(rate * targets), targets) for name, (rate, targets) in named]


def _as_release(rows: Rows, owner: Int32s, asker: Int32s, told: tuple[float, int], known: Known) -> StreamRelease:
    """Return the window as what attacks take: a release, with placeholders for ids and texts."""
    users, user = np.unique(rows.user, return_inverse=True)
    _, query = np.unique(rows.text, return_inverse=True)
    statement = stream_statement(
        known.method,
        settings_of(known),
        Randomness(known.seed),
        counts_in={"rows": told[1]},
        counts_out={},
        dropped={},
        figures={"delay p50": told[0]},
    )
    log = QueryLog(**_log_columns(user.astype(np.int32), query.astype(np.int32)), time=rows.time)
    return StreamRelease(log, statement, Truth(owner[users], asker))


def settings_of(known: Known) -> StreamSettings:
    """Return what the attackers know as the settings of the stream's method."""
    given: dict[str, Any] = {"k": known.k, "max_delay": known.max_delay}
    given |= {"epoch": known.epoch, "time_grain": known.time_grain}
    if known.max_delay is None:
        del given["max_delay"]
    if known.method == "flat":
        return FlatSettings(**given)
    if known.method == "nearest":
        return NearestSettings(**given, depth=known.depth, pool=known.pool)
    if known.method == "self-adjusting":
        return SelfAdjustingSettings(**given, depth=known.depth, hold=known.hold)
    return StreamSettings(**given, depth=known.depth)


def _log_columns(user: Int32s, query: Int32s) -> dict[str, Any]:
    import polars as pl

    names = [pl.Series(map(str, range(int(codes.max(initial=-1)) + 1)), dtype=pl.String) for codes in (user, query)]
    return {"user": user, "users": names[0], "query": query, "queries": names[1]}


def moved_in(rows: Rows, paths: list[Path], owner: Int32s, asker: Int32s) -> Moved:
    """Return how far the categories of a window moved: from who asked each row to under whom it was published."""
    from querycloak.live.survey.flows import Moved

    used, code = np.unique(rows.path, return_inverse=True)
    path = [paths[p] for p in used.tolist()]
    each = [path[c] for c in code.tolist()]
    under = owner[rows.user]
    users = int(max(asker.max(initial=-1), under.max(initial=-1))) + 1
    moved, largest = user_distances((asker, each), (under, each), users)
    return Moved(int(moved.sum()) / max(int(largest.sum()), 1), int(moved.sum()) / max(len(rows), 1))
