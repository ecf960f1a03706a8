"""Refinement, quotas, representatives, blocks: plain loops over lists and counters."""

from __future__ import annotations

from fractions import Fraction

from reference.semantics import delta


def members_of(group) -> list[list[int]]:
    return [[u for u in range(len(group)) if group[u] == g] for g in range(max(group) + 1)]


def medoids(d, group, bit=None) -> tuple[list[int], int]:
    chosen, total = [], 0
    for g, members in enumerate(members_of(group)):
        sums = {u: sum(d[u][v] for v in members) for u in members}
        least = min(sums.values())
        ties = [u for u in members if sums[u] == least]
        chosen.append(ties[-1] if bit is not None and g >> bit & 1 else ties[0])
        total += least
    return chosen, total


def improve(d, medoid, group, k) -> int:
    """One round: every user in turn takes the move or swap that gains most; ties: see the kernel."""
    members = members_of(group)
    changes = 0
    for u in range(len(group)):
        g = group[u]
        if medoid[g] == u:
            continue
        options = []  # (gain, order, group, place or None)
        for h in range(len(members)):
            own = d[medoid[g]][u] - d[medoid[h]][u]
            if h == g or own <= 0:
                continue
            if len(members[g]) > k and len(members[h]) < 2 * k - 1:
                options.append((own, -len(options), h, None))
            for place, v in enumerate(members[h]):
                if v != medoid[h]:
                    options.append((own + d[medoid[h]][v] - d[medoid[g]][v], -len(options), h, place))
        options = [o for o in options if o[0] > 0]
        if not options:
            continue
        changes += 1
        _, _, h, place = max(options)
        at = members[g].index(u)
        group[u] = h
        if place is None:
            members[h].append(u)
            members[g][at] = members[g][-1]
            members[g].pop()
        else:
            v = members[h][place]
            members[h][place], members[g][at] = u, v
            group[v] = g
    return changes


def exchange(d, medoid, group) -> int:
    """Send users round the cycles that Bellman and Ford's method finds, until there is none."""
    groups = range(len(medoid))
    changes = 0
    while True:
        edges = {}  # (from, to) -> (cost, user)
        for u, g in enumerate(group):
            if medoid[g] != u:
                for h in groups:
                    if h != g:
                        offer = (d[medoid[h]][u] - d[medoid[g]][u], u)
                        edges[g, h] = min(edges.get((g, h), offer), offer)
        reached, before = [0] * len(medoid), [None] * len(medoid)
        cycles, lower = [], True
        while lower and not cycles:
            lower = False
            for h in groups:
                for g in groups:
                    if (g, h) in edges and reached[g] + edges[g, h][0] < reached[h]:
                        reached[h], before[h], lower = reached[g] + edges[g, h][0], g, True
            cycles = [h for h in groups if returns(before, h)]
        if not cycles:
            return changes
        for h in cycles:
            group[edges[before[h], h][1]] = h
            changes += 1


def returns(before, start) -> bool:
    at = before[start]
    for _ in before:
        if at is None or at == start:
            break
        at = before[at]
    return at == start


def refine(d, group, k) -> list[int]:
    group = list(group)
    bits = max(*group, 1).bit_length()
    idle = 0
    for turn in range(200):
        medoid, _ = medoids(d, group, turn % bits)
        changes = improve(d, medoid, group, k) + exchange(d, medoid, group)
        idle = idle + 1 if changes == 0 else 0
        if idle > bits:
            break
    return group


def quotas(group, length) -> list[int]:
    out = [0] * len(group)
    for members in members_of(group):
        exact = {u: Fraction(length[u], len(members)) for u in members}
        total = sum(exact.values())
        target = max(int(total + Fraction(1, 2)), 1)
        for u in members:
            out[u] = int(exact[u])
        by_rest = sorted(members, key=lambda u: (int(exact[u]) - exact[u], u))
        for u in by_rest[: target - sum(out[u] for u in members)]:
            out[u] += 1
    return out


def centroid_concept(parent, bags) -> int:
    """Eq. 6."""
    weight = sum(bags[1:], start=bags[0].copy())
    return min(weight, key=lambda c: (sum(w * delta(parent, c, x) for x, w in weight.items()), c))


def representative(parent, bags, quota) -> list[int]:
    """Section 4.3, step 2: concepts nearest the centroid concept first."""
    centre = centroid_concept(parent, bags)
    out = []
    for bag, most in zip(bags, quota, strict=True):
        ordered = sorted(bag, key=lambda c: (delta(parent, centre, c), -bag[c], c))
        out += [c for c in ordered for _ in range(bag[c])][:most]
    return out


def topic(parent, bag) -> int:
    """Step from the root into the heaviest child until there is none."""
    below = {}
    for concept, weight in bag.items():
        node = concept
        while node >= 0:
            below[node] = below.get(node, 0) + weight
            node = parent[node]
    at = 0
    while children := [c for c in below if parent[c] == at]:
        at = min(children, key=lambda c: (-below[c], c))
    return at
