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
        low = sorted((low, child) for child, (low, _) in self.by_child.items())[:2]
        high = sorted(((high, child) for child, (_, high) in self.by_child.items()), reverse=True)[:2]
        (self.low, self.low_child), (self.high, self.high_child) = low[0], high[0]
        self.other_low, self.other_high = (low[1][0], high[1][0]) if len(low) == 2 else (None, None)

    def without(self, child):
        """(smallest, largest) total, or None where nothing is left."""
        low = self.other_low if child == self.low_child else self.low
        return None if low is None else (low, self.other_high if child == self.high_child else self.high)


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
    below = {}  # ancestor → (level, how many there, how many there below each child)
    for (a, d), there in count.items():
        below.setdefault(a, []).append((d, sum(there.values()), there))

    def weights(c, a):
        """Weights of the candidates below a that share it with c as their nearest; the first is of level 0."""
        return near[level[a] + 1][level[c] - level[a] + 1 :]

    def alike(c):
        """Concepts of one parent and topic with nothing of it below them are alike."""
        return (parent[c], topic[c]) if len(below[c]) == 1 and c != topic[c] else c

    known = {}

    def total(c):
        key = alike(c)
        if key not in known:
            z = far * (size - members[topic[c]])
            for a, child in path(c):
                weight = weights(c, a)
                for d, all_there, there in below[a]:
                    z += (all_there - (there.get(child, 0) if a != c else 0)) * weight[d]
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
            weight = weights(o, a)
            for d, _, _ in below[a]:
                found = extremes[a, d].without(child if a != o else None)
                if found is not None:
                    pairs.append((weight[d], found))
        for w, (least, most) in pairs:
            if w * high[1] > high[0] * least:
                high = (w, least)
            if w * low[1] < low[0] * most:
                low = (w, most)
        ratio = Fraction(high[0] * low[1], high[1] * low[0])
        worst = max(worst, ratio)
    return worst
