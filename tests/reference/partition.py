"""Partition as slow and plain as can be: frozen sets of children, and the whole split for every candidate node."""

from __future__ import annotations

from reference.clump import reference_ggd


def children_present(taxonomy, node, items):
    """Children of the node that the items lie under; the node itself for an item that is the node."""
    found = set()
    for item in items:
        if taxonomy.covers(node, item):
            while item != node and int(taxonomy.parent[item]) != node:
                item = int(taxonomy.parent[item])  # noqa: PLW2901 - climbing
            found.add(item)
    return frozenset(found)


def split(taxonomy, sets, members, node, k):
    """Groups of members by the children they have, and those merged back; None where nothing can be split."""
    groups, back = {}, []
    for t in members:
        present = children_present(taxonomy, node, sets[t])
        if present == {node}:
            back.append(t)
        else:
            groups.setdefault(present, []).append(t)
    for key in [key for key, group in groups.items() if len(group) < k]:
        back += groups.pop(key)

    def gain(key):
        there = [sets[t] for t in groups[key]]
        return reference_ggd(taxonomy, there, [node]) - reference_ggd(taxonomy, there, sorted(key))

    def member_gain(key):
        return gain(key) / len(groups[key])

    missing = k - len(back) if back else 0
    if sum(len(group) - k for group in groups.values()) >= missing:
        for _ in range(missing):
            donor = min((key for key in groups if len(groups[key]) > k), key=member_gain)
            who = min(groups[donor], key=lambda t: (sum(taxonomy.covers(node, c) for c in sets[t]), t))
            groups[donor].remove(who)
            back.append(who)
    elif groups:
        back += groups.pop(min(groups, key=gain))
    return (sum(gain(key) for key in groups), groups, back) if groups else None


def reference_partition(taxonomy, sets, k):
    """Return (sorted members, published nodes) of every part, in no particular order."""
    done, waiting = [], [(list(range(len(sets))), frozenset({0}), frozenset())]
    while waiting:
        members, opened, closed = waiting.pop()
        best = None
        for node in sorted(opened):
            found = split(taxonomy, sets, sorted(members), node, k) if taxonomy.size[node] > 1 else None
            if found and (best is None or found[0] > best[1][0]):
                best = (node, found)
        if best is None:
            done.append((sorted(members), sorted(opened | closed)))
            continue
        node, (_, groups, back) = best
        for present, group in groups.items():
            waiting.append((group, (opened - {node}) | (present - {node}), closed | (present & {node})))
        if back:
            waiting.append((back, opened - {node}, closed | {node}))
    return sorted(done)
