"""The exponential mechanism of Sánchez et al. (2018), word by word: sets of ancestors, one pass over the domain."""

from __future__ import annotations

import math


def ancestors(taxonomy, concept, root):
    out = {concept}
    while concept != root:
        concept = int(taxonomy.parent[concept])
        out.add(concept)
    return out


def sim(taxonomy, root, a, b):
    """Equation 5."""
    s1, s2 = ancestors(taxonomy, a, root), ancestors(taxonomy, b, root)
    r = (len(s1 | s2) - len(s1 & s2)) / len(s1 | s2)
    return 1 - math.log2(1 + r)


def domain_of(taxonomy, roots, concept):
    return next((r for r in roots if taxonomy.covers(r, concept)), None)


def quality(taxonomy, root, criterion, profile, a, b):
    """Equations 5, 6 and 12."""
    if criterion == "nsqc":
        return 1.0 if a == b else 0.0
    if criterion == "sqc2" and domain_of(taxonomy, profile, a) != domain_of(taxonomy, profile, b):
        return 0.0
    return sim(taxonomy, root, a, b)


def spread(taxonomy, root, criterion):
    """max_sim - min_sim: over all pairs for sqc1, 1 for the others."""
    if criterion != "sqc1":
        return 1.0
    inside = range(root, root + int(taxonomy.size[root]))
    return 1 - min(sim(taxonomy, root, a, b) for a in inside for b in inside)


def probabilities(taxonomy, root, criterion, profile, concept, epsilon, wide=None):
    """Equations 3 and 7, in log space; `wide` = a known spread."""
    wide = (spread(taxonomy, root, criterion) if wide is None else wide) or 1.0
    inside = range(root, root + int(taxonomy.size[root]))
    score = {o: epsilon * quality(taxonomy, root, criterion, profile, concept, o) / (2 * wide) for o in inside}
    most = max(score.values())
    weight = {o: math.exp(s - most) for o, s in score.items()}
    whole = math.fsum(weight.values())
    return {o: w / whole for o, w in weight.items()}
