"""Claims and attributions, one person and one text at a time, with sets and lists."""

from __future__ import annotations

from collections import defaultdict

import numpy as np


def likenesses(spaces, known, people):
    """dense[people, texts]: the sum of cosines."""
    total = 0.0
    for space in spaces:
        texts = space.text_rows(np.arange(space.shown.rows)).dense().astype(np.float64)
        total = total + space.known_rows(known, people).dense().astype(np.float64) @ texts.T
    return total


def asked_by(half):
    out = defaultdict(set)
    for user, query in zip(half.user.tolist(), half.query.tolist(), strict=True):
        out[user].add(query)
    return out


def shares(values, most):
    """{index: expected share} of the first `most` by value, averaged over the orders of equal values."""
    groups = defaultdict(list)
    for i, value in enumerate(values):
        groups[value].append(i)
    most = min(most, len(values))
    left, out = most, {}
    for value in sorted(groups, reverse=True):
        taken = min(left, len(groups[value]))
        for i in groups[value]:
            out[i] = taken / len(groups[value]) / most
        left -= taken
    return out


def claims(halves, release, askers, scores, likeness, people, most):
    """(right, right of another) of each person."""
    known, other = asked_by(halves.known), asked_by(halves.other)
    behind = [set(row) for row in askers.queries.to_lists()]
    texts_of = asked_by(release.log)
    everybody = sorted(set(halves.other.user.tolist()))
    out = []
    for p, person in enumerate(people.tolist()):
        best = np.flatnonzero(scores[p] == scores[p].max())
        right = another = 0.0
        for published_id in best.tolist():
            new = [t for t in sorted(texts_of[published_id]) if not behind[t] & known[person]]
            for i, share in shares([likeness[p, t] for t in new], most).items():
                others = [bool(behind[new[i]] & other[u]) for u in everybody if u != person]
                right += share * bool(behind[new[i]] & other[person]) / len(best)
                another += share * np.mean(others) / len(best)
        out.append((right, another))
    return np.array(out)


def attributions(halves, log, release, askers, likeness):
    """{text: right} for each own text that is published under its asker, and new."""
    known, asked = asked_by(halves.known), asked_by(log)
    behind = [set(row) for row in askers.queries.to_lists()]
    held = defaultdict(list)
    for user, query in zip(release.log.user.tolist(), release.log.query.tolist(), strict=True):
        held[user].append(query)
    truth = release.truth.user.tolist()
    out = {}
    for published_id, texts in held.items():
        members = [truth[i] for i in held if sorted(held[i]) == sorted(texts)]
        person = truth[published_id]
        for t in set(texts):
            whose = [u for u in asked if behind[t] & asked[u]]
            if whose != [person] or askers.public[t] or behind[t] & known[person]:
                continue
            values = [likeness[u, t] for u in members]
            best = [u for u, value in zip(members, values, strict=True) if value == max(values)]
            out[t] = (person in best) / len(best)
    return out
