"""Algorithm 2 of url-microaggregation, and SRP, with sets and loops."""

from __future__ import annotations

from collections import Counter


def at_levels(taxonomy, categories, levels) -> list[set[int]]:
    """C_l(u) for l = 1 .. levels."""
    above = [taxonomy.ancestors(c) for c in categories]
    return [{a for path in above for a in path if taxonomy.depth[a] == level} for level in range(1, levels + 1)]


def odp_sim(a: list[set[int]], b: list[set[int]]) -> int:
    """Eq. 1."""
    return sum(len(x & y) for x, y in zip(a, b, strict=True))


def group(records: list[list[set[int]]], k: int) -> list[list[int]]:
    left = list(range(len(records)))
    groups = []
    while len(left) > 2 * k - 1:
        pairs = [(odp_sim(records[i], records[j]), -i, -j) for i in left for j in left if i < j]
        _, i, j = max(pairs)
        members = [-i, -j]
        while len(members) < k:
            joined = [set().union(*(records[m][level] for m in members)) for level in range(len(records[0]))]
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
