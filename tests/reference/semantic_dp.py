"""The exponential mechanism of Sánchez et al. (2018), word by word: sets of ancestors, one pass over the domain."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction


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


def spread(taxonomy, root, criterion, profile=()):
    """max_sim - min_sim over all pairs of the domain; max_sim is 1."""
    inside = range(root, root + int(taxonomy.size[root]))
    return 1 - min(quality(taxonomy, root, criterion, profile, a, b) for a in inside for b in inside)


def probabilities(taxonomy, root, criterion, profile, concept, rate, wide=None):
    """Equations 3 and 7, in log space, with a rate for ε / 2; `wide` = a known spread."""
    wide = (spread(taxonomy, root, criterion, profile) if wide is None else wide) or 1.0
    inside = range(root, root + int(taxonomy.size[root]))
    score = {o: rate * quality(taxonomy, root, criterion, profile, concept, o) / wide for o in inside}
    most = max(score.values())
    weight = {o: math.exp(s - most) for o, s in score.items()}
    whole = math.fsum(weight.values())
    return {o: w / whole for o, w in weight.items()}


def worst_ratio(table, size):
    """The largest ratio of two probabilities of one outcome, over all pairs of inputs: the definition, as fractions.

    `table` is input → outcome → Fraction. The input without a concept, uniform over the domain, is among the inputs.
    """
    inputs = [*table.values(), dict.fromkeys(range(min(table), min(table) + size), Fraction(1, size))]
    return max(max(row[o] for row in inputs) / min(row[o] for row in inputs) for o in inputs[-1])


def loss_of(ratio):
    """ln of a fraction, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
