"""The counts of exposure, by sets and loops."""

from __future__ import annotations

from collections import Counter

import polars as pl

from querycloak.texts.identifiers import KINDS, find_identifiers
from querycloak.texts.names import find_names
from querycloak.texts.sensitive import sensitive_topics
from reference.askers import UNKNOWN


def exposure(log, release, asked, words, taxonomy):
    """`asked`: for each text (queries, users, how, public), as in reference.askers."""
    table, weights = release.log, release.row_weights().tolist()
    rows = list(zip(table.user.tolist(), table.query.tolist(), weights, strict=True))
    texts = {q for _, q, _ in rows}
    public = {t for t in texts if asked[t][3]}
    own = {t: next(iter(asked[t][1])) for t in texts - public if len(asked[t][1]) == 1}
    people = set(log.user.tolist())
    out = {
        "rows": sum(weights),
        "texts": len(texts),
        "people": len(people),
        "own_rows": sum(w for _, q, w in rows if q in own),
        "own_texts": len(own),
        "exposed_people": len(set(own.values())),
        "public_rows": sum(w for _, q, w in rows if q in public),
        "public_texts": len(public),
        "texts_of_nobody": sum(not asked[t][1] for t in texts - public),
        "unknown_texts": sum(asked[t][2] == UNKNOWN for t in texts - public),
        "own_value_shares": {},  # of logs without further columns
        "own_moment_share": None,
        "few_people": {n: sum(1 <= len(asked[t][1]) < n for t in texts - public) for n in (2, 5, 10, 30)},
    }
    text = {t: pl.Series([table.queries[t]]) for t in texts - public}
    mask = {t: int(find_identifiers(text[t])[0]) for t in text}
    named = {t for t in text if find_names(text[t], taxonomy)[0]}
    topic = {t: int(sensitive_topics(text[t], words)[0]) for t in text}
    out["identifiers"] = {kind: sum(m >> bit & 1 for m in mask.values()) for bit, kind in enumerate(KINDS)}
    out["identifier_texts"] = sum(m > 0 for m in mask.values())
    out["identifier_rows"] = sum(w for _, q, w in rows if mask.get(q))
    out["name_texts"] = len(named)
    out["name_rows"] = sum(w for _, q, w in rows if q in named)
    out["sensitive_own_texts"] = {n: sum(topic[t] == i for t in own) for i, n in enumerate(words.topics)}
    if not release.holds_user_logs:
        return out
    bags: dict = {}
    for user in {u for u, _, _ in rows}:
        bags.setdefault(tuple(sorted(row_keys(table, user))), set()).add(user)
    risky = {t for t in text if topic[t] >= 0}
    classes = [({q for u, q, _ in rows if u in ids}, ids) for ids in bags.values()]
    owners = [Counter(own[t] for t in held if t in own) for held, _ in classes]
    out["smallest_class"] = min((len(ids) for _, ids in classes), default=None)
    out["classes"] = len(classes)
    out["most_own_in_one_log"] = max((max(o.values()) for o in owners if o), default=0)
    out["logs_with_own"] = sum(bool(o) for o in owners)
    out["classes_with_sensitive"] = sum(bool(held & risky) for held, _ in classes)
    if release.truth is not None:
        members = [{int(release.truth.user[i]) for i in ids} for _, ids in classes]
        tops = [{u for u, n in o.items() if n == max(o.values())} for o in owners]
        out["logs_naming_member"] = sum(bool(t & m) for t, m in zip(tops, members, strict=True))
        out["classes_sharing_sensitive"] = sum(
            any(m <= asked[t][1] for t in held & risky) for (held, _), m in zip(classes, members, strict=True)
        )
    return out


def row_keys(table, user):
    """What a row shows, but for its id."""
    category = [0] * len(table) if table.category is None else table.category.tolist()
    rows = zip(table.user.tolist(), table.query.tolist(), category, strict=True)
    return [(q, c) for u, q, c in rows if u == user]
