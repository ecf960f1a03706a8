"""Attacks written out plainly."""

from __future__ import annotations

import math
from itertools import combinations


def chance_of_match(known, published, owner, *, cosine):
    """known, published: a dict {feature: count} per user; owner: the right published user of each known one."""
    n = len(published)
    features = {f for bag in [*known, *published] for f in bag}
    idf = {f: math.log(1 + n / max(sum(f in bag for bag in published), 1)) for f in features}
    out = []
    for bag, right in zip(known, owner, strict=True):
        scores = []
        for other in published:
            if cosine:
                length = math.sqrt(sum((idf[f] * (1 + math.log(c))) ** 2 for f, c in other.items())) or 1
                terms = [
                    idf[f] * (1 + math.log(c)) * idf[f] * (1 + math.log(other[f])) for f, c in bag.items() if f in other
                ]
                scores.append(sum(terms) / length)
            else:
                scores.append(sum(idf[f] for f in bag if f in other))
        best = max(scores)
        ties = [i for i, s in enumerate(scores) if math.isclose(s, best, rel_tol=1e-9, abs_tol=1e-12)]
        out.append(1 / len(ties) if right in ties else 0.0)
    return out


def users_with_unique_pair(logs):
    """logs: a set of queries per user."""
    out = []
    for u, mine in enumerate(logs):
        others = [q for v, q in enumerate(logs) if v != u]
        out.append(any(not any({a, b} <= o for o in others) for a, b in combinations(sorted(mine), 2)))
    return out


def people_with_unique_pair(asked, logs):
    """Indexes of the people, given the texts that each asked, with a pair in one published log that nobody else has."""
    return {
        u
        for u, mine in enumerate(asked)
        for log in logs
        for pair in combinations(sorted(mine & log), 2)
        if not any(set(pair) <= other for v, other in enumerate(asked) if v != u)
    }
