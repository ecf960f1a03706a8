"""The syntactic distance of users from its definition: full tables for edits, all pairs of records."""

from __future__ import annotations

from collections import Counter

SCALE = 1 << 30


def edits(a, b) -> int:
    table = [[i + j if i == 0 or j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            change = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, change)
    return table[-1][-1]


def share(part, whole) -> int:
    return (SCALE * part + whole // 2) // whole if whole else 0


def domain_distance(a, b) -> int:
    if a is None and b is None:
        return 0
    if a is None or b is None:
        return SCALE
    x, y = a.split(".")[::-1], b.split(".")[::-1]
    same = 0
    while same < min(len(x), len(y)) and x[same] == y[same]:
        same += 1
    return share(max(len(x), len(y)) - same, max(len(x), len(y)))


def query_distance(a, b, timed, clicked) -> int:
    """Mean of the parts; a and b are (text, time in 0..1, domain or None)."""
    parts = []
    if timed:
        parts.append(int(SCALE * abs(a[1] - b[1]) + 0.5))
    if clicked:
        parts.append(domain_distance(a[2], b[2]))
    words_a, words_b = a[0].split(), b[0].split()
    longest = max(len(a[0]), len(b[0]))
    parts.append(share(abs(len(a[0]) - len(b[0])), longest))
    parts.append(share(edits(a[0], b[0]), longest))
    parts.append(share(edits(words_a, words_b), max(len(words_a), len(words_b))))
    return sum(parts) // len(parts)


def user_distance(a, b, timed, clicked) -> int:
    """Each record against the nearest of the other, both ways; records are (count, (text, time, domain))."""
    total = sum(n * min(query_distance(x, y, timed, clicked) for _, y in b) for n, x in a)
    total += sum(n * min(query_distance(x, y, timed, clicked) for _, y in a) for n, x in b)
    weight = sum(n for n, _ in a) + sum(n for n, _ in b)
    return (total + weight // 2) // weight


def records(rows, span) -> list[tuple[int, tuple[str, float, str | None]]]:
    """rows: (text, time, domain) of one user; span: first and last time of the log."""
    low, width = span[0], max(span[1] - span[0], 1.0)
    out = []
    for text, n in Counter(r[0] for r in rows).items():
        times = [(r[1] - low) / width for r in rows if r[0] == text]
        domain = next((r[2] for r in rows if r[0] == text and r[2] is not None), None)
        out.append((n, (text, sum(times) / n, domain)))
    return out
