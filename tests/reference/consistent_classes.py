"""Agreement of classes with known concepts, written out plainly; and the features of a generalized release."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.optimize import linear_sum_assignment


def ranges(tree, items, *, exact):
    """What each published item may stand for: a set of concepts; with `exact` itself alone where others are below."""
    out = []
    for item in items:
        below = {c for c in range(len(tree)) if tree.covers(item, c)}
        if exact and any(other in below and other != item for other in items):
            below = {item}
        out.append(below)
    return out


def agreement(known, items, worths, *, explained, covered, matched, missed):
    """Faults and score of a class; items: sets of what each may stand for.

    Items get known concepts of their own, so that the worth of those with one is as high as can be.
    """
    fits = np.array([[(w + 1e-3 if x in item else 0.0) for x in known] for item, w in zip(items, worths, strict=True)])
    met = set()
    if fits.size:
        chosen = zip(*linear_sum_assignment(fits, maximize=True), strict=True)
        met = {int(i) for i, j in chosen if known[j] in items[i]}
    faults = (len(items) - len(met)) * explained
    faults += sum(not any(x in item for item in items) for x in known) * covered
    score = sum(matched * w if i in met else -missed * w for i, w in enumerate(worths))
    return faults, score


def name_classes(known, classes, worths, ids, owner, **rule):
    """(candidates, right, classes without a fault) of each person; `classes` as `ranges` returns them."""
    out = []
    for mine, right in zip(known, owner, strict=True):
        found = [agreement(mine, c, w, **rule) for c, w in zip(classes, worths, strict=True)]
        fewest = min(f for f, _ in found)
        best = max(s for f, s in found if f == fewest)
        named = [c for c, (f, s) in enumerate(found) if (f, s) == (fewest, best)]
        out.append((sum(ids[c] for c in named), right in named, sum(f == 0 for f, _ in found)))
    return out


def above(tree, concept):
    """The paths of a concept and of its ancestors, as texts."""
    return [tree.path(c) for c in tree.ancestors(concept)]


def topic_features(queries, concepts, tree):
    """Counted paths of each query: those of its distinct concepts and of their ancestors."""
    out = [Counter() for _ in range(queries)]
    for query, concept in sorted({(q, c) for q, c in concepts if c >= 0}):
        out[query].update(above(tree, concept))
    return out
