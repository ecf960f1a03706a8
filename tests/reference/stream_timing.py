"""The attacker who watches when ids leave a stream, record by record and id by id."""

from __future__ import annotations

import math

__all__ = ["best_id"]


def best_id(i, texts, asked, users, waits, apart, trust, same):
    """Return the ids that fit record i best, all of equal score: the chance that anybody asked is the yardstick."""
    window = len(waits) - 1
    share = {u: users.count(u) / len(users) for u in set(users)}

    def ratio(at, u):
        gap = next((g for g in range(window) if at + g < len(users) and users[at + g] == u), None)
        if gap is None:
            return 1 - trust + trust * waits[window]
        s = share[u]
        chance = s * (1 - s) ** gap
        own = waits[gap] * (1 - s) ** gap - waits[gap + 1] * (1 - s) ** (gap + 1)
        return trust * own / chance + 1 - trust

    times, before = [], -apart
    for j in sorted((j for j in range(len(texts)) if texts[j] == texts[i]), key=lambda j: (asked[j], j)):
        if asked[j] - before >= apart:
            times.append(asked[j])
            before = asked[j]
    scores = {}
    for u in {u for u in users[asked[i] : asked[i] + window] if u != users[i]}:
        score = math.log(ratio(asked[i], u)) + math.log(share[u])
        score += sum(math.log(1 - same + same * ratio(at, u)) for at in times)
        score -= math.log(1 - same + same * ratio(asked[i], u))
        score += sum(math.log(1 - same) for j in range(len(texts)) if texts[j] == texts[i] and users[j] == u)
        scores[u] = score
    best = max(scores.values(), default=0.0)
    return {u for u, score in scores.items() if math.isclose(score, best, rel_tol=1e-9, abs_tol=1e-9)}
