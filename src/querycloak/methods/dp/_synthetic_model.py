"""What invented users are drawn from: shares that add up, made of noised statistics alone.

Nothing here reads the log: negative sums, sums that are noise alone, and tables that contradict each other are put
right without a further cost (post-processing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._synthetic_domain import SIZE_EDGES
from querycloak.methods.dp._synthetic_events import AGAIN, EARLIER, FIRST_EARLIER, FIRST_NEW, NEW
from querycloak.methods.dp._synthetic_kernels import Chain

if TYPE_CHECKING:
    from querycloak.methods.dp._synthetic_domain import Topics
    from querycloak.methods.dp._synthetic_statistics import Statistics
    from querycloak.methods.dp._synthetic_sums import NoisySums

__all__ = [
    "FILL",
    "MOST_EVENTS",
    "MOST_USERS",
    "Model",
    "events_by_topic",
    "fit_margins",
    "make_model",
    "spread_rest",
    "users_by_size",
]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

MOST_USERS: Final = 1 << 20
"""More are never invented."""
MOST_EVENTS: Final = 1 << 25
"""More are never invented: with more, there are fewer users."""
_FITTING: Final = 30
FILL: Final = 2.0
"""A phrase has at most so many events for each person who has it."""
_MOVES_CUT: Final = 4.0
"""Deviations: of 60,000 moves that nobody made, 2 pass."""


class Model(NamedTuple):
    """Everything that is drawn from."""

    sizes: tuple[Int64s, Int64s, Int64s]
    """(users, fewest events, most events) of each group of users: int64[groups]"""
    clusters: Float64s
    """float64[clusters]: shares of users"""
    topics: Float64s
    """float64[topics]: shares of events with a new text"""
    chain: Chain
    hours: Float64s | None
    """float64[168], shares of events"""
    lengths: Float64s
    """float64[bins], shares of sessions"""
    gaps: Float64s | None
    """float64[bins], shares of pauses"""


def make_model(found: Statistics, topics: Topics, asked: Float64s, phrases: Float64s) -> Model:
    """Put the statistics together.

    asked, phrases: float64[topics], people who asked chosen queries of each topic, and who have its phrases; noisy.
    """
    sizes = users_by_size(found.sizes)
    kinds = np.maximum(found.kinds.value, 0.0)
    new = kinds[[FIRST_NEW, FIRST_NEW + 1, NEW, NEW + 1]]
    none = _ratio(new[1] + new[3], new.sum())
    known = spread_rest(found.topics, topics.field)[: topics.none]
    events = float((sizes[0] * (sizes[1] + sizes[2]) / 2).sum()) * _ratio(new.sum(), kinds.sum())
    by_topic = events_by_topic(_shares(known) * (1 - none) * events, asked[: topics.none], phrases[: topics.none])
    share = np.append(by_topic, none * events) if known.any() else np.append(0.0 * known, max(events, 1.0))
    share = _shares(np.maximum(share, asked))
    clusters = _shares(found.clusters.cut(), fallback=np.full(len(found.clusters.value), 1.0))
    by_cluster = _topics_by_cluster(found, topics, clusters, share)
    inside = kinds[[NEW, NEW + 1, EARLIER, AGAIN]].sum()
    repeat = np.array(
        [
            _ratio(kinds[FIRST_EARLIER], kinds[[FIRST_NEW, FIRST_NEW + 1, FIRST_EARLIER]].sum()),
            _ratio(kinds[AGAIN], inside),
            _ratio(kinds[AGAIN] + kinds[EARLIER], inside),
        ]
    )
    return Model(
        sizes=sizes,
        clusters=clusters,
        topics=share,
        chain=_chain(found.moves, topics, by_cluster, repeat),
        hours=None if found.hours is None else _shares(np.maximum(found.hours.value, 0.0)),
        lengths=_shares(found.lengths.cut(), fallback=np.eye(1, len(found.lengths.value))[0]),
        gaps=None if found.gaps is None else _shares(found.gaps.cut()),
    )


def users_by_size(sums: NoisySums) -> tuple[Int64s, Int64s, Int64s]:
    """Return (users, fewest events, most events) of groups of users: bins are joined until a group is no noise alone.

    A group of m bins counts where its sum is at least 3√m deviations; what is left over at the end is left out.
    """
    groups: list[tuple[int, int, int]] = []
    total, begin = 0.0, 0
    for i, value in enumerate(sums.value.tolist()):
        total += value
        if total >= 3 * sums.deviation * np.sqrt(i + 1 - begin):
            most = int(SIZE_EDGES[i + 1]) - 1 if i + 1 < len(SIZE_EDGES) else int(SIZE_EDGES[i])
            groups.append((round(total), int(SIZE_EDGES[begin]), most))
            total, begin = 0.0, i + 1
    users, fewest, most_events = np.array(groups, dtype=np.int64).reshape(-1, 3).T
    events = float((users * (fewest + most_events) / 2).sum())
    part = min(1.0, MOST_USERS / max(float(users.sum()), 1.0), MOST_EVENTS / max(events, 1.0))
    return (users * part).astype(np.int64), fewest, most_events


def events_by_topic(parts: Float64s, asked: Float64s, phrases: Float64s) -> Float64s:
    """float64[topics]: events of each topic, as many as `parts` in all, so that parts of texts have these shares.

    Topics were counted by parts of queries. An invented text has one, but one with a phrase two: the phrase, and the
    label after it. Events with a phrase are up to `FILL` times those counted, as texts are dealt.
    """
    events = parts.copy()
    for _ in range(_FITTING):
        with_phrase = np.minimum(FILL * phrases, np.maximum(events - asked, 0.0))
        events = parts / (1.0 + with_phrase / np.maximum(events, 1e-9))
        events *= parts.sum() / max(events.sum(), 1e-9)
    return events


def spread_rest(sums: NoisySums, group: Int64s) -> Float64s:
    """float64[bins]: sums that are no noise alone; of each group, what is left in sum is spread over its other bins.

    A bin alone may be noise where many of them together are not. group: int64[bins].
    """
    out = sums.cut()
    small = out == 0
    bins = np.bincount(group, weights=small)
    left = np.bincount(group, weights=np.where(small, sums.value, 0.0))
    left[left < 3 * sums.deviation * np.sqrt(bins)] = 0.0
    return np.where(small, (left / np.maximum(bins, 1.0))[group], out)


def _topics_by_cluster(found: Statistics, topics: Topics, clusters: Float64s, share: Float64s) -> Float64s:
    """float64[clusters, topics]: shares of topics in each cluster; over all clusters they are `share`."""
    of_field = np.bincount(topics.field, weights=share, minlength=topics.fields).astype(np.float64)
    cells = found.fields.cut().reshape(len(clusters), topics.fields)
    start = cells / max(cells.sum(), 1.0) + 1e-3 * np.outer(clusters, of_field)
    joint = fit_margins(start, clusters, of_field)
    within = share / np.where(of_field > 0, of_field, 1.0)[topics.field]
    out: Float64s = joint[:, topics.field] * within
    total = out.sum(axis=1, keepdims=True)
    return np.where(total > 0, out / np.where(total > 0, total, 1.0), share)


def _chain(moves: NoisySums, topics: Topics, by_cluster: Float64s, repeat: Float64s) -> Chain:
    """Return the chain whose topics, in the long run, have the shares of each cluster.

    With chance stay[f] a topic of field f stays. Those that move leave field f with π(f)(1 - stay[f]) of all events,
    and must enter it as often; within a field, topics are entered by their shares.
    """
    n = topics.fields
    cut = moves.cut(_MOVES_CUT)
    change, stay = cut[: n * n].reshape(n, n), moves.cut()[n * n :]
    left = np.maximum(moves.value[: n * n].reshape(n, n).sum(axis=1), change.sum(axis=1))  # all that move, also seldom
    usual = _ratio(stay.sum(), stay.sum() + np.maximum(left, 0.0).sum())
    chance = np.where(stay > 0, np.minimum(stay / np.maximum(stay + np.maximum(left, 0.0), 1.0), 0.99), usual)
    rare = max(1.0 - change.sum() / max(left.sum(), 1.0), 0.001)  # of all moves, those too seldom to be told from noise
    cumulated = np.empty((len(by_cluster), n, n))
    for c, share in enumerate(by_cluster):
        of_field = np.bincount(topics.field, weights=share, minlength=n)
        leave = of_field * (1 - chance)
        blind = np.outer(leave, leave) / max(leave.sum(), 1e-12) ** 2
        joint = fit_margins((1 - rare) * change / max(change.sum(), 1.0) + rare * blind, leave, leave)
        total = joint.sum(axis=1, keepdims=True)
        rows = np.where(total > 0, joint / np.where(total > 0, total, 1.0), leave / max(leave.sum(), 1e-12))
        cumulated[c] = np.cumsum(rows, axis=1)
    begin = np.searchsorted(topics.field, np.arange(n + 1)).astype(np.int64)
    return Chain(np.cumsum(by_cluster, axis=1), cumulated, chance, topics.field, begin, repeat)


def fit_margins(table: Float64s, rows: Float64s, columns: Float64s) -> Float64s:
    """Scale rows and columns of a table in turn, so that they add up to `rows` and `columns` (Deming and Stephan)."""
    out = table.astype(np.float64)
    for _ in range(_FITTING):
        for axis, goal in ((1, rows), (0, columns)):
            total = out.sum(axis=axis)
            factor = np.where(total > 0, goal / np.where(total > 0, total, 1.0), 0.0)
            out *= factor[:, None] if axis == 1 else factor[None, :]
    return out


def _shares(values: Float64s, fallback: Float64s | None = None) -> Float64s:
    """Return values >= 0 divided by their sum; where all are 0, those of `fallback`, or equal ones."""
    if not values.any():
        values = np.ones(len(values)) if fallback is None else fallback
    return np.asarray(values / max(values.sum(), 1e-300), dtype=np.float64)


def _ratio(part: float, whole: float) -> float:
    return float(min(max(part / whole, 0.0), 1.0)) if whole > 0 else 0.0
