"""Stream pool: the asker's own id waits where the query was asked, and leaves with a query from nearby.

A query leaves a stream under another user; the id of its asker stays in the pool, in the very category of the query,
until it is drawn for another query of a set around it. So an id that is published soon after the query was asked, in a
category near to it, is likely to be the asker's. Two attackers use that. Both know the method, its settings and the
categories.

**From outside** (`stream_pool`, the attack `stream-pool`): he sees the published stream. To learn how near and how
soon, he rehearses: he lets the published stream pass through the same anonymizer, where he knows who asked what. With g
the published rows of the category between the asking and a row, c the sets that both categories have in common, and s
the id's share of the rows of the top-level category, he counts the ratio R(c, g) = rows of the asker / (rows · s). For
a record of the release he takes rows of an id as a Poisson process of intensity s R(c, g) for the asker, s for others,
and names the id with the greatest

    log s + Σ over its rows log R(c, g) - s Σ over all rows (R(c, g) - 1),

never the one under which the record was published. Ids that are published often in a category are prior to others (the
number of a user's records in a top-level category is not changed by any method), so he knows what `activity` knows.
When a record was asked he learns as `stream-timing` does, and his rehearsal has epochs where the release has them.

**From inside** (`inside_guess`): he sees the pool itself at the moment before the record leaves: which ids wait in
which category. No outsider knows that; what he gets right is about what an attacker could come to who guesses the pool
from the stream, and the worst that one look into memory does.

**What is proven** (`methods/stream/nearest.py`): with `nearest`, the id under which a record is published changes the
odds of two possible askers by a factor between k / (k + 1) and (k + 1) / k. Neither attacker learns more from it; what
they use is where *other* ids wait and leave. No stream method here bounds that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.attacks._stream_pool_kernels import count_rows, name_by_pool
from querycloak.attacks.interval import guessing, result_of
from querycloak.attacks.result import NothingToAttackError
from querycloak.attacks.stream_epochs import (
    WINDOW as FINE,
)
from querycloak.attacks.stream_epochs import (
    epochs_of,
    first_rows,
    rows_of_epochs_when_asked,
    rows_when_asked,
    usual_delay,
)
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.stream_linkage import Engines
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.row_paths import PathsOf
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["inside_guess", "rehearsed_ratios", "stream_pool"]

Float64s = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

TARGETS: Final = 20_000
"""Records that are attacked, and that are looked at in the rehearsal: drawn among all."""
WINDOW: Final = 4096
"""Rows of the category that are looked at."""
BINS: Final = np.frexp(np.arange(WINDOW).astype(np.float64))[1].astype(np.int64)
"""int64[WINDOW]: gaps of 0, 1, 2 to 3, 4 to 7, … rows"""
ENGINE_SETTINGS: Final = ("hold", "pool", "max_delay")


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a stream, top-level category by category, each in the order of publication."""

    order: Int64s
    """int64[rows]: the row of the stream"""
    position: Int64s
    """int64[rows]: the inverse of `order`"""
    user: Int32s
    chain: Int32s
    """int32[rows, width]: sets, the widest first"""
    share: Float64s
    """float64[rows]: share of the row's id of all rows of its category"""
    end: Int64s
    """int64[rows]: where its category ends"""
    moment: Int64s
    """int64[rows]: the row itself, or the first one of its category in its epoch"""

    @classmethod
    def of(cls, user: Int32s, node: Int32s, chains: Int32s, epoch: Int64s | None) -> _Rows:
        top = chains[node, 0]
        order = np.argsort(top, kind="stable")
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        key = top[order].astype(np.int64) << 31 | user[order]
        _, pair, times = np.unique(key, return_inverse=True, return_counts=True)
        size = np.bincount(top, minlength=1)
        share = times[pair] / size[top[order]]
        end = np.cumsum(size)[top[order]]
        moment = np.arange(len(order), dtype=np.int64)
        if epoch is not None:
            moment = first_rows(end * (int(epoch[-1]) + 1) + epoch[order])
        return cls(order, position, user[order], chains[node][order], share, end, moment)

    def when(self, row: Int64s, asked: Int64s) -> Int64s:
        """int64[n]: of targets `row`, asked when row `asked` was published, the first position of their category."""
        end = self.end[self.position[row]]
        key = self.end * (len(self.order) + 1) + self.order  # sorted: categories in their order, then rows
        return np.minimum(np.searchsorted(key, end * (len(self.order) + 1) + asked), end)


def rehearsed_ratios(
    engine: Any,
    user: Int32s,
    node: Int32s,
    random: Randomness,
    *,
    delay: int | None = None,
    epoch: float | None = None,
) -> Float64s:
    """Let a stream pass through an engine; return R: float64[width + 1, bins], 1 where nothing was seen.

    With `delay` the attacker does not know when a record was asked, and goes back so far; `epoch` = records of an
    epoch.
    """
    out = engine.push_codes(user, node)
    chains, _ = engine.tree.chains()
    step = out.record + out.delay  # when each left; departures are in this order
    of = None if epoch is None or not len(step) else (step / epoch).astype(np.int64)
    rows = _Rows.of(out.user.astype(np.int32), node[out.record], chains, of)
    target = _some(len(out.record), random)
    asker = user[out.record[target]]
    if of is not None:
        asked = rows_of_epochs_when_asked(of, delay or 0)[target]
    elif delay is not None:
        asked = np.maximum(target - delay, 0)
    else:
        asked = np.searchsorted(step, out.record[target])
    asked = rows.when(target, asked)
    top = chains[node[out.record[target]], 0]
    pairs, times = np.unique(chains[node, 0].astype(np.int64) << 31 | user, return_counts=True)
    times_of = times[np.searchsorted(pairs, top.astype(np.int64) << 31 | asker)]
    share = times_of / np.bincount(chains[node, 0])[top]
    own = rows.position[target]
    found, expected = count_rows(own, asked, rows.end[own], asker, share, rows.user, rows.chain, rows.moment, BINS)
    return np.asarray((found + 1) / (expected + 1))


def stream_pool(
    log: QueryLog,  # noqa: ARG001 - he sees the release alone
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    release_paths: PathsOf,
    stream_engines: Engines,
) -> AttackResult:
    """Name an asker for some of the published records, drawn among all: see above, from outside.

    Details: the greatest ratio R, how much likelier the asker's id comes than by chance; and 1/k.
    """
    truth = release.truth
    assert truth is not None
    assert truth.asker is not None
    if len(release.log) == 0:
        raise NothingToAttackError("no record is published")
    progress.start("attack: stream pool", total=2)
    settings = release.statement.settings
    k, depth = int(settings["k"]), int(settings.get("depth", 1))
    given = {name: settings[name] for name in ENGINE_SETTINGS if settings.get(name)}
    user, paths = release.log.user, release_paths(str(settings.get("separator", "/")))
    engine = stream_engines(release.statement.method, k, depth, random=random.child("engine"), **given)
    epoch, delay = epochs_of(release), usual_delay(release)
    if epoch is None:
        asked, size = rows_when_asked(release.log, delay), None
    else:
        asked, size = rows_of_epochs_when_asked(epoch, delay), len(user) / (int(epoch[-1]) + 1)
    back = delay if epoch is not None or not _has_fine_times(release.log) else None
    ratio = rehearsed_ratios(engine, user, paths.nodes(engine.tree), random.child("rehearsal"), delay=back, epoch=size)
    progress.advance()
    tree = engine.tree  # where records leave from their own category alone, each is a world of its own
    rows = _Rows.of(user, paths.nodes(tree), tree.chains()[0], epoch)
    target = _some(len(user), random.child("targets"))
    own, when = rows.position[target], rows.when(target, asked[target])
    ids = len(release.log.users)
    named = name_by_pool(own, when, rows.end[own], rows.user, rows.share, rows.chain, rows.moment, BINS, ratio, ids)
    right = np.where(named >= 0, truth.user[named] == truth.asker[target], False).astype(np.float64)
    progress.advance()
    return result_of(
        "stream-pool",
        right,
        release,
        question="linkability",
        risk="link",
        knows="the published stream, the method, the settings and the categories",
        unit="record",
        baseline=guessing(ids),
        details={"greatest ratio": float(ratio.max()), "1/k": 1 / k},
    )


def inside_guess(node: Int32s, holder: Int32s, chains: Int32s, of: int, published: int, random: Randomness) -> int:
    """Name the asker of a record of node `of` from the ids that wait: int32[waiting] their nodes, and who they are.

    He takes the nearest id other than the published one; of several that which waits most often there, then any. -1
    where none waits in the top-level category.
    """
    same = (chains[node] == chains[of]) & (chains[of] >= 0)
    common = np.cumprod(same, axis=1).sum(axis=1)
    common = np.where(holder == published, 0, common)
    if common.max(initial=0) == 0:
        return -1
    ids, times = np.unique(holder[common == common.max()], return_counts=True)
    best = ids[times == times.max()]
    return int(best[int(random.words(1)[0]) % len(best)])


def _has_fine_times(table: QueryLog) -> bool:
    """Tell whether times tell when most rows were asked."""
    if table.time is None:
        return False
    _, which, alike = np.unique(table.time, return_inverse=True, return_counts=True)
    return bool((alike[which] <= FINE).mean() > 1 / 2)


def _some(rows: int, random: Randomness) -> Int64s:
    """int64: up to TARGETS rows, drawn without repetition, sorted."""
    if rows <= TARGETS:
        return np.arange(rows, dtype=np.int64)
    return np.sort(np.argsort(random.words(rows), kind="stable")[:TARGETS]).astype(np.int64)
