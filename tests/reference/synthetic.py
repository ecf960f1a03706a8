"""The statistics of `synthetic-dp`, user by user, in plain Python: what one user adds to each, without noise."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter

SESSION = 1800


def clipped(counts, most, unit, *, normed=False):
    """Return what a user adds to each bin, in whole numbers."""
    squares = sum(n * n for n in counts.values())
    root = math.isqrt(squares)
    root += root * root < squares
    if not normed and squares <= most * most:
        return {b: unit * n for b, n in counts.items()}
    return {b: unit * most * n // root for b, n in counts.items()}


def bin_of(value, edges):
    return min(max(bisect_right(edges, value) - 1, 0), len(edges) - 1)


def events_of(rows):
    """Return the events of one user's rows (time, query, url), in their order: (time, query), clicks joined."""
    out = []
    before = None
    for time, query, url in rows:
        joined = before is not None and before[:2] == (time, query) and url is not None and before[2] is not None
        if not (joined and time is not None):
            out.append((time, query))
        before = (time, query, url)
    return sorted(out, key=lambda event: -math.inf if event[0] is None else event[0])


def described(events, units_of, none):
    """Return (time, begins a session, kind, topic, topics of parts) of each event of one user; see KINDS."""
    out, seen, before = [], set(), None
    for time, query in events:
        first = before is None or None in (time, before[0]) or time - before[0] > SESSION
        units = [topic for topic in units_of(query) if topic != none]
        topic = units[0] if units else none
        if not first and before[1] == query:
            kind = 6
        elif query in seen:
            kind = 4 if first else 5
        else:
            kind = (0 if first else 2) + (not units)
        seen.add(query)
        out.append((time, first, kind, topic, units or [none]))
        before = (time, query)
    return out


def user_counts(found, topics, edges, cluster):
    """Return name → counts by bin, of one user; edges: (sizes, sessions, gaps)."""
    sizes, sessions, gaps = edges
    lengths = []
    moves, pauses = Counter(), Counter()
    for i, (time, first, kind, topic, _) in enumerate(found):
        if first:
            lengths.append(0)
        lengths[-1] += 1
        if first:
            continue
        pauses[bin_of(time - found[i - 1][0], gaps)] += 1
        if kind in {2, 3}:
            old, n = found[i - 1][3], topics.fields
            a, b = int(topics.field[old]), int(topics.field[topic])
            moves[n * n + b if old == topic else n * a + b] += 1
    units = [t for *_, some in found for t in some]
    return {
        "events per user": Counter([bin_of(len(found), sizes)]),
        "users by cluster": Counter([cluster]),
        "hours of the week": Counter((t - 4 * 86_400) // 3600 % 168 for t, *_ in found if t is not None),
        "topics": Counter(units),
        "fields by cluster": Counter(cluster * topics.fields + int(topics.field[t]) for t in units),
        "lengths of sessions": Counter(bin_of(n, sessions) for n in lengths),
        "pauses in sessions": pauses,
        "kinds of events": Counter(kind for _, _, kind, _, _ in found),
        "moves between topics": moves,
        "profile": Counter(int(topics.field[t]) for *_, t, _ in found),
    }


def split_sessions(sizes, lengths):
    """Return where sessions begin, as a list of truth values."""
    left, out = list(lengths), []
    for size in sizes:
        end = len(out) + size
        while len(out) < end:
            n = min(left.pop(0), end - len(out))
            out += [True] + [False] * (n - 1)
    return out


def draw_topics(sizes, cluster, first, chain, dice):
    """Return (source, topic) of each event, drawn as the kernel does, by sums of chances."""

    def pick(chances, die):
        return min(sum(1 for c in chances if c <= die), len(chances) - 1)

    source, topic = [], []
    for u, size in enumerate(sizes):
        own = []
        for _ in range(size):
            e = len(source)
            kind, a, b = dice[e]
            if own and not first[e] and kind < chain.repeat[1]:
                at = source[e - 1]
            elif own and kind < chain.repeat[0 if first[e] else 2]:
                at = own[int(a * len(own))]
            else:
                at = e
                own.append(e)
            source.append(at)
            if at != e:
                topic.append(topic[at])
            elif first[e]:
                topic.append(pick(chain.topic[cluster[u]], a))
            else:
                before = topic[e - 1]
                old = chain.field[before]
                stay = chain.stay[old]
                if b < stay:
                    topic.append(before)
                    continue
                new = pick(chain.move[cluster[u]][old], a)
                inside = [t for t in range(len(chain.field)) if chain.field[t] == new]
                sums = chain.topic[cluster[u]]
                low = sums[inside[0] - 1] if inside[0] else 0.0
                goal = low + (b - stay) / (1 - stay) * (sums[inside[-1]] - low)
                topic.append(inside[0] + pick([sums[t] for t in inside], goal))
    return source, topic
