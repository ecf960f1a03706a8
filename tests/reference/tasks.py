"""Suggestions and sessions with dictionaries, one row at a time.

A row is (id, time or None, text, asker or None). `order` is a list of all texts: equal candidates come in its order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise

HALF_AN_HOUR = 1800


def neighbours(rows):
    """Pairs of rows next to each other under one id, of different text, in one session."""
    timed = any(row[1] is not None for row in rows)
    by_id = defaultdict(list)
    for row in rows:
        by_id[row[0]].append(row)
    out = []
    for mine in by_id.values():
        if timed:
            mine = sorted(mine, key=lambda row: -math.inf if row[1] is None else row[1])  # noqa: PLW2901
        for one, two in pairwise(mine):
            if one[2] == two[2]:
                continue
            if timed and (one[1] is None or two[1] is None or two[1] - one[1] > HALF_AN_HOUR):
                continue
            out.append((one, two))
    return out


def suggested(rows, tested, given, order):
    """Return (texts that follow, texts that fill up): five together at most."""
    people = Counter(text for _, text in {(row[0], row[2]) for row in rows if row[3] not in tested})
    follow = Counter(
        two[2] for one, two in neighbours(rows) if one[2] == given and one[3] not in tested and two[3] not in tested
    )
    first = sorted(follow, key=lambda text: (-follow[text], -people[text], order.index(text)))[:5]
    popular = sorted(people, key=lambda text: (-people[text], order.index(text)))
    return first, [text for text in popular if text not in first and text != given][: 5 - len(first)]


def hits(log, release, tested, order):
    """One answer per test case, a pair of neighbours of a test person in the log, where ids are askers."""
    teachers = defaultdict(set)
    for row in log:
        if row[0] not in tested:
            teachers[row[2]].add(row[0])
    out = []
    for one, two in neighbours(log):
        if one[0] not in tested:
            continue
        follow, fill = suggested(release, tested, one[2], order)
        known = bool(teachers[one[2]] & teachers[two[2]])
        out.append(two[2] in fill or (two[2] in follow and known))
    return out


def excesses(rows, topics):
    """Return the excess of every pair of two different topics; `topics` maps a text to its set of topics."""
    together, alone, whole = Counter(), Counter(), 0.0
    for one, two in neighbours(rows):
        if not topics[one[2]] or not topics[two[2]]:
            continue
        whole += 1
        share = 1 / (len(topics[one[2]]) * len(topics[two[2]]))
        for a in topics[one[2]]:
            for b in topics[two[2]]:
                together[min(a, b), max(a, b)] += share
                alone[a] += share / 2
                alone[b] += share / 2
    every = sorted(alone)
    return {
        (a, b): together[a, b] / whole - 2 * alone[a] / whole * alone[b] / whole
        for i, a in enumerate(every)
        for b in every[i + 1 :]
    }, {pair for pair in together if pair[0] != pair[1]}


def sessions(log, release, topics):
    """Cosine of the excesses over the pairs with an excess above 0 on one side; for fewer than 1,000 pairs."""
    (before, seen), (after, shown) = excesses(log, topics), excesses(release, topics)
    pairs = {p for p in seen if before[p] > 1e-9} | {p for p in shown if after[p] > 1e-9}  # below is rounding
    dot = sum(before.get(p, 0) * after.get(p, 0) for p in pairs)
    scale = math.sqrt(sum(before.get(p, 0) ** 2 for p in pairs) * sum(after.get(p, 0) ** 2 for p in pairs))
    return max(0.0, dot / scale) if scale > 0 else 0.0
