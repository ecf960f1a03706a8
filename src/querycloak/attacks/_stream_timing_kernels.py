"""Who asked a text that is published again and again: the id that leaves soon after its times.

The memory, made and owned by one call. Arrays over ids are never emptied; stamps say of which text or time a value is:

    weight     float64[ids], how well the id fits all times of the text, less what an id fits that is never near
    text_stamp int64[ids], the text that `weight` is of; of another text: no weight yet
    time_stamp int64[ids], the last time (a running number) that has counted the id already

Both passes look at the rows from a time on: the first row of each id counts, later ones of the same id do not.

`name_by_epochs` has `weight` and `text_stamp` alone. All records of a text in one epoch have the same ids before them,
but for the one under which each is published: so the BEST few are found once, and each record takes the first that is
not its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

Float64s = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

BEST = 3  # one may be the published id, one is named, one is the next


@kernel
def _ratio(gap: int, share: float, waits: Float64s, trust: float) -> float:
    """Return how much likelier it is that an id comes after `gap` rows if its user asked than if anybody did."""
    none_before = (1 - share) ** gap
    chance = none_before * share
    own = waits[gap] * none_before - waits[gap + 1] * none_before * (1 - share)
    return float((trust * own + (1 - trust) * chance) / chance)


@kernel
def name_askers(
    row: Int64s, start: Int64s, asked: Int64s, user: Int32s, share: Float64s, waits: Float64s, apart: int, trust: float,
    same: float,
) -> tuple[Int32s, Float64s]:  # fmt: skip
    """Return for each entry of `row` the id named, int32[n], -1 where none is, and its lead over the next, float64[n].

    `row` int64[n] = rows of the release text by text, each text in the order of `asked`; `start` int64[texts + 1].
    `asked` int64[rows] = the row at which a row had been asked; `user` int32[rows]; `share` float64[ids] = of all rows.
    `waits` float64[window + 1] = chance that a user waits longer than so many rows; see `stream_timing` for the rest.
    """
    window, rows = len(waits) - 1, len(user)
    weight = np.zeros(len(share))
    text_stamp, time_stamp = np.full(len(share), -1, np.int64), np.full(len(share), -1, np.int64)
    named, lead = np.full(len(row), -1, np.int32), np.zeros(len(row))
    never = 1 - trust * (1 - waits[window])  # the ratio of an id that is not there within the window
    missed = np.log(1 - same + same * never)
    stamp = 0
    for text in range(len(start) - 1):
        before = -apart
        for i in range(start[text], start[text + 1]):
            published, at = user[row[i]], asked[row[i]]
            if text_stamp[published] != text:
                text_stamp[published], weight[published] = text, 0.0
            weight[published] += np.log(1 - same)  # this record is surely not of the id it is published under
            if at - before < apart:  # of one sitting: the same rows would count twice
                continue
            before = at
            stamp += 1
            for p in range(at, min(at + window, rows)):
                u = user[p]
                if time_stamp[u] == stamp:
                    continue
                time_stamp[u] = stamp
                if text_stamp[u] != text:
                    text_stamp[u], weight[u] = text, 0.0
                ratio = _ratio(p - at, share[u], waits, trust)
                weight[u] += np.log(1 - same + same * ratio) - missed
        for i in range(start[text], start[text + 1]):
            at = asked[row[i]]
            stamp += 1
            best = second = -np.inf
            for p in range(at, min(at + window, rows)):
                u = user[p]
                if time_stamp[u] == stamp or u == user[row[i]]:
                    continue
                time_stamp[u] = stamp
                ratio = _ratio(p - at, share[u], waits, trust)
                of_others = (weight[u] if text_stamp[u] == text else 0.0) - np.log(1 - same + same * ratio) + missed
                value = of_others + np.log(ratio / never) + np.log(share[u])
                if value > best:
                    second, best, named[i] = best, value, u
                elif value > second:
                    second = value
            lead[i] = best - second if second > -np.inf else 0.0
    return named, lead


@kernel
def name_by_epochs(
    row: Int64s, start: Int64s, epoch: Int64s, user: Int32s, share: Float64s, ids: Int32s, seen: Float64s,
    first: Int64s, trust: float, same: float,
) -> tuple[Int32s, Float64s]:  # fmt: skip
    """Like `name_askers`, where rows of an epoch are shuffled: an id counts by its rows in and near the epoch.

    `row` int64[n] = rows of the release text by text, each text in the order of epochs; `epoch` int64[rows].
    `ids` int32[m], `seen` float64[m] = the ids in and near each epoch, and the share of the rows there that is theirs,
    weighed by how near it is; from first[epoch] on.
    """
    weight, text_stamp = np.zeros(len(share)), np.full(len(share), -1, np.int64)
    named, lead = np.full(len(row), -1, np.int32), np.zeros(len(row))
    never = 1 - trust
    missed = np.log(1 - same + same * never)
    best, value = np.full(BEST, -1, np.int32), np.full(BEST, -np.inf)
    for text in range(len(start) - 1):
        for i in range(start[text], start[text + 1]):
            published, e = user[row[i]], epoch[row[i]]
            if text_stamp[published] != text:
                text_stamp[published], weight[published] = text, 0.0
            weight[published] += np.log(1 - same)
            if i > start[text] and epoch[row[i - 1]] == e:
                continue
            for j in range(first[e], first[e + 1]):
                u = ids[j]
                if text_stamp[u] != text:
                    text_stamp[u], weight[u] = text, 0.0
                ratio = trust * seen[j] / share[u] + never
                weight[u] += np.log(1 - same + same * ratio) - missed
        for i in range(start[text], start[text + 1]):
            e = epoch[row[i]]
            if i == start[text] or epoch[row[i - 1]] != e:
                best[:], value[:] = -1, -np.inf
                for j in range(first[e], first[e + 1]):
                    u = ids[j]
                    ratio = trust * seen[j] / share[u] + never
                    fits = weight[u] - np.log(1 - same + same * ratio) + missed + np.log(ratio / never)
                    fits += np.log(share[u])
                    at = BEST
                    while at > 0 and fits > value[at - 1]:
                        at -= 1
                    if at < BEST:
                        for later in range(BEST - 1, at, -1):
                            best[later], value[later] = best[later - 1], value[later - 1]
                        best[at], value[at] = u, fits
            left = 0
            while left < BEST and best[left] == user[row[i]]:
                left += 1
            if left < BEST and best[left] >= 0:
                named[i] = best[left]
                other = left + 1
                while other < BEST and best[other] == user[row[i]]:
                    other += 1
                if other < BEST and best[other] >= 0:
                    lead[i] = value[left] - value[other]
    return named, lead
