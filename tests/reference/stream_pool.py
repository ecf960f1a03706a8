"""The attackers who look at where ids are published next, row by row and id by id."""

from __future__ import annotations

import math

__all__ = ["best_by_epochs", "best_by_pool", "counted"]


def common(a, b):
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] >= 0 and a[shared] == b[shared]:
        shared += 1
    return shared


def near_rows(own, asked, end, moment, bins):
    """Rows from `asked` on whose gap has a bin, but `own`."""
    return [p for p in range(asked, end) if p != own and moment[p] - asked < len(bins)]


def counted(targets, askers, shares, users, chains, moment, bins):
    """Return by (common sets, bin) how many rows are of the askers, and how many would be by their share."""
    found: dict[tuple[int, int], float] = {}
    expected: dict[tuple[int, int], float] = {}
    for (own, asked, end), asker, share in zip(targets, askers, shares, strict=True):
        for p in near_rows(own, asked, end, moment, bins):
            cell = common(chains[own], chains[p]), bins[moment[p] - asked]
            found[cell] = found.get(cell, 0) + (users[p] == asker)
            expected[cell] = expected.get(cell, 0) + share
    return found, expected


def best_by_pool(target, users, shares, chains, moment, bins, ratio):
    """Return the ids that fit a target best, all of equal score."""
    own, asked, end = target
    rows = near_rows(own, asked, end, moment, bins)
    cell = {p: ratio[common(chains[own], chains[p])][bins[moment[p] - asked]] for p in rows}
    more = sum(r - 1 for r in cell.values())
    scores: dict[int, float] = {}
    for p in rows:
        if users[p] != users[own]:
            of = sum(math.log(cell[q]) for q in rows if users[q] == users[p])
            score = math.log(shares[p]) + of - shares[p] * more
            scores[users[p]] = max(score, scores.get(users[p], -math.inf))
    return best(scores)


def best_by_epochs(i, texts, epochs, users, chance, trust, same):
    """Return the ids that fit record i best, where rows of an epoch are shuffled."""
    share = {u: users.count(u) / len(users) for u in set(users)}
    near = len(chance) // 2

    def ratio(epoch, u):
        found = 0.0
        for away in range(-near, near + 1):
            rows = [p for p in range(len(users)) if epochs[p] == epoch + away]
            if rows:
                found += chance[away + near] * sum(users[p] == u for p in rows) / len(rows)
        return trust * found / share[u] + 1 - trust

    alike = [j for j in range(len(texts)) if texts[j] == texts[i]]
    scores = {}
    for u in {users[p] for p in range(len(users)) if abs(epochs[p] - epochs[i]) <= near} - {users[i]}:
        score = math.log(share[u]) + math.log(ratio(epochs[i], u))
        score += sum(math.log(1 - same + same * ratio(e, u)) for e in {epochs[j] for j in alike} - {epochs[i]})
        score += sum(math.log(1 - same) for j in alike if users[j] == u)
        scores[u] = score
    return best(scores)


def best(scores):
    top = max(scores.values(), default=0.0)
    return {u for u, score in scores.items() if math.isclose(score, top, rel_tol=1e-9, abs_tol=1e-9)}
