"""Clump as slow and plain as can be: the whole tree for every generalization, all members at once, fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction


def subtree(taxonomy, node):
    return range(node, node + int(taxonomy.size[node]))


def reference_lcg(taxonomy, bags, form="least"):
    """Algorithm 2 over the whole tree, with one count per member; `form` least carries remainders upwards."""
    left = {v: [Counter(bag)[v] for bag in bags] for v in range(len(taxonomy))}
    out = []
    for v in range(len(taxonomy) - 1, 0, -1):  # depth-first numbers: children come before their parent
        copies = min(left[v])
        out += [v] * copies
        if form == "printed" and copies:
            continue
        above = int(taxonomy.parent[v])
        left[above] = [a + r - copies for a, r in zip(left[above], left[v], strict=True)]
    if form == "least":
        out += [0] * min(left[0])
    else:
        out += [0] * (min(map(len, bags)) - len(out))
    return sorted(out)


def reference_loss(taxonomy, node):
    leaves = sum(1 for v in subtree(taxonomy, node) if taxonomy.size[v] == 1)
    every = sum(1 for v in range(len(taxonomy)) if taxonomy.size[v] == 1)
    return Fraction(leaves - 1, every - 1) if every > 1 else Fraction(0)


def reference_ggd(taxonomy, bags, published):
    """Definition 3."""
    suppressed = sum(len(bag) - len(published) for bag in bags)
    return len(bags) * sum(reference_loss(taxonomy, p) for p in published) + suppressed


def reference_clump(
    taxonomy, bags, k, *, search=10, order="decreasing", form="least", choose="rise", leftovers="all", shuffled=None
):
    """Algorithm 1, by the book: lists of members and their generalizations, merged one by one."""
    places = list(range(len(bags)))
    if order == "random":
        places = list(shuffled)
    else:
        places.sort(key=lambda t: (-len(bags[t]) if order == "decreasing" else len(bags[t]), sorted(bags[t])))
    count = len(bags) // k
    members = [[places[c * k]] for c in range(count)]
    shared = [sorted(bags[m[0]]) for m in members]

    def merged(c, t):
        return reference_lcg(taxonomy, [shared[c], bags[t]], form)

    def price(c, t):
        there = [bags[m] for m in members[c]]
        now = reference_ggd(taxonomy, there, shared[c]) if choose == "rise" else 0
        return reference_ggd(taxonomy, [*there, bags[t]], merged(c, t)) - now

    for at, t in enumerate(places):
        if at < count * k and at % k == 0:
            continue
        tried = [c for c in range(count) if len(members[c]) < k][:search]
        if not tried:
            tried = list(range(count)) if leftovers == "all" else list(range(count))[-search:]
        best = min(tried, key=lambda c: price(c, t))
        shared[best] = merged(best, t)
        members[best].append(t)
    return members, shared


def reference_refine(taxonomy, bags, of, k, search, passes):
    """Every pair of clusters up to `search` apart, every pass: the best swap or move, from scratch."""
    count = max(of) + 1
    members = [[t for t in range(len(of)) if of[t] == c] for c in range(count)]

    def cost(group):
        chosen = [bags[t] for t in group]
        return reference_ggd(taxonomy, chosen, reference_lcg(taxonomy, chosen))

    for _ in range(passes):
        changed = False
        for a in range(count):
            for b in range(a + 1, min(a + 1 + search, count)):
                best, found = cost(members[a]) + cost(members[b]), None
                for i in range(-1, len(members[a])):
                    for j in range(-1, len(members[b])):
                        new_a, new_b = _exchanged(members[a], members[b], i, j)
                        sizes = sorted([len(new_a), len(new_b)])
                        if (i, j) == (-1, -1) or sizes[0] < k or sizes[1] >= 2 * k:
                            continue
                        now = cost(new_a) + cost(new_b)
                        if now < best:
                            best, found = now, (new_a, new_b)
                if found:
                    members[a], members[b] = found
                    changed = True
        if not changed:
            break
    return members


def _exchanged(in_a, in_b, i, j):
    """What both hold after a's i-th went to b and b's j-th to a; -1 = none goes."""
    new_a, new_b = list(in_a), list(in_b)
    if i >= 0 and j >= 0:
        new_a[i], new_b[j] = in_b[j], in_a[i]
    elif i >= 0:
        new_b.append(in_a[i])
        new_a[i] = new_a[-1]
        new_a.pop()
    elif j >= 0:
        new_a.append(in_b[j])
        new_b[j] = new_b[-1]
        new_b.pop()
    return new_a, new_b


def largest_matching(taxonomy, published, bag):
    """Size of the largest matching of published items to distinct items below them, by augmenting paths."""
    holder = {}

    def place(p, seen):
        for i, item in enumerate(bag):
            if item in subtree(taxonomy, published[p]) and i not in seen:
                seen.add(i)
                if i not in holder or place(holder[i], seen):
                    holder[i] = p
                    return True
        return False

    return sum(place(p, set()) for p in range(len(published)))
