"""Algorithm 2 of url-microaggregation, and SRP, with counters and loops."""

from __future__ import annotations

from collections import Counter


def at_levels(taxonomy, queries, levels, similarity) -> list[Counter]:
    """C_l(u) for l = 1 .. levels, from the categories of each query: in how many queries a category is.

    `sets`: whether it is in any.
    """
    found = [Counter() for _ in range(levels)]
    for categories in queries:
        above = {a for c in categories for a in taxonomy.ancestors(c)}
        for a in above:
            if 1 <= taxonomy.depth[a] <= levels:
                found[taxonomy.depth[a] - 1][a] += 1
    return found if similarity == "bags" else [Counter(set(level)) for level in found]


def odp_sim(a: list[Counter], b: list[Counter]) -> int:
    """Eq. 1."""
    return sum((x & y).total() for x, y in zip(a, b, strict=True))


def group(records: list[list[Counter]], k: int, similarity: str) -> list[list[int]]:
    left = list(range(len(records)))
    groups = []
    while len(left) > 2 * k - 1:
        pairs = [(odp_sim(records[i], records[j]), -i, -j) for i in left for j in left if i < j]
        _, i, j = max(pairs)
        members = [-i, -j]
        while len(members) < k:
            joined = [sum((records[m][level] for m in members), Counter()) for level in range(len(records[0]))]
            if similarity == "sets":
                joined = [Counter(set(level)) for level in joined]
            rest = [u for u in left if u not in members]
            members.append(max(rest, key=lambda u: (odp_sim(joined, records[u]), -u)))
        groups.append(sorted(members))
        left = [u for u in left if u not in members]
    return [*groups, left]


def srp(taxonomy, original: list[list[int]], published: list[list[int]], level: int) -> tuple[float, float] | None:
    """Both readings: a category that is there at all; one for one. None where nobody asked for a category so deep."""

    def cut(categories) -> Counter:
        return Counter(a for c in categories for a in taxonomy.ancestors(c) if taxonomy.depth[a] == level)

    there = once = total = 0
    for mine, theirs in zip(original, published, strict=True):
        a, b = cut(mine), cut(theirs)
        total += a.total()
        there += sum(n for c, n in a.items() if c in b)
        once += (a & b).total()
    return (there / total, once / total) if total else None
