"""The worst-case loss over a large domain in whole numbers: plain Python, one pass over the cells of each outcome.

`reference.semantic_dp.worst_ratio` is the definition, over all pairs; this is the same number for domains of tens of
thousands of concepts (the tests compare both on small ones). Nothing here is rounded.
"""

from __future__ import annotations

from fractions import Fraction


class Extremes:
    """The smallest and largest total at one level below one ancestor, apart from one of its children."""

    def __init__(self):
        self.by_child = {}

    def add(self, child, total):
        low, high = self.by_child.get(child, (total, total))
        self.by_child[child] = (min(low, total), max(high, total))

    def close(self):
        self.low = sorted((low, child) for child, (low, _) in self.by_child.items())[:2]
        self.high = sorted(((high, child) for child, (_, high) in self.by_child.items()), reverse=True)[:2]

    def without(self, child):
        """(smallest, largest) total, or None where nothing is left."""
        low = next((z for z, c in self.low if c != child), None)
        return None if low is None else (low, next(z for z, c in self.high if c != child))


def worst_ratio(taxonomy, root, topics, near, far):
    """The largest ratio, as a Fraction; weights of candidates are near[shared][union] within a topic, else far."""
    size = int(taxonomy.size[root])
    inside = range(root, root + size)
    depth, parent = taxonomy.depth.tolist(), taxonomy.parent.tolist()
    level = {c: depth[c] - depth[root] for c in inside}
    topic = dict.fromkeys(inside, root)
    for t in topics:
        if root < t < root + size:
            topic |= dict.fromkeys(range(t, t + int(taxonomy.size[t])), t)

    def path(c):
        """(ancestor in the same topic, its child that leads to c), from c upwards; c itself has no child: -1."""
        child, out = -1, []
        while True:
            out.append((c, child))
            if c == topic[c]:
                return out
            child, c = c, parent[c]

    members = dict.fromkeys(set(topic.values()), 0)
    count = {}
    for c in inside:
        members[topic[c]] += 1
        for a, child in path(c):
            at = count.setdefault((a, level[c]), {})
            at[child] = at.get(child, 0) + 1
    levels = {}
    for a, d in count:
        levels.setdefault(a, []).append(d)

    def weight(c, d, a):
        shared = level[a] + 1
        return near[shared][level[c] + 1 + d + 1 - shared]

    def alike(c):
        """Concepts of one parent and topic with nothing of it below them are alike."""
        return (parent[c], topic[c]) if len(levels[c]) == 1 and c != topic[c] else c

    known = {}

    def total(c):
        key = alike(c)
        if key not in known:
            z = far * (size - members[topic[c]])
            for a, child in path(c):
                for d in levels[a]:
                    there = count[a, d]
                    z += (sum(there.values()) - (there.get(child, 0) if a != c else 0)) * weight(c, d, a)
            known[key] = z
        return known[key]

    extremes, of_topic = {}, {}
    for c in inside:
        z = total(c)
        low, high = of_topic.get(topic[c], (z, z))
        of_topic[topic[c]] = (min(low, z), max(high, z))
        for a, child in path(c):
            extremes.setdefault((a, level[c]), Extremes()).add(child, z)
    for e in extremes.values():
        e.close()

    worst, seen = Fraction(1), set()
    for o in inside:
        if alike(o) in seen:
            continue
        seen.add(alike(o))
        high = low = (1, size)
        pairs = [(far, z) for t, z in of_topic.items() if t != topic[o]]
        for a, child in path(o):
            for d in levels[a]:
                found = extremes[a, d].without(child if a != o else None)
                if found is not None:
                    pairs.append((weight(o, d, a), found))
        for w, (least, most) in pairs:
            if w * high[1] > high[0] * least:
                high = (w, least)
            if w * low[1] < low[0] * most:
                low = (w, most)
        ratio = Fraction(high[0] * low[1], high[1] * low[0])
        worst = max(worst, ratio)
    return worst
