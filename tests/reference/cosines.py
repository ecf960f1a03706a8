"""TF-IDF and cosines with dictionaries, one pair at a time."""

from __future__ import annotations

import math
import re
from collections import Counter


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def grams(text: str) -> list[str]:
    plain = f" {' '.join(text.lower().split())} "
    return [plain[i : i + 4] for i in range(len(plain) - 3)]


def whole(text: str) -> list[str]:
    return [text]


def idf(published: list[list[str]], cut) -> dict[str, float]:
    spread = Counter(f for log in published for f in {f for text in log for f in cut(text)})
    return {f: math.log(1 + len(published) / n) for f, n in spread.items()}


def vector(log: list[str], cut, weights: dict[str, float], n: int) -> dict[str, float]:
    counts = Counter(f for text in log for f in cut(text))
    raw = {f: weights.get(f, math.log(1 + n)) * (1 + math.log(c)) for f, c in counts.items()}
    length = math.sqrt(sum(w * w for w in raw.values()))
    return {f: w / length for f, w in raw.items()}


def cosine_sum(known: list[str], published: list[list[str]]) -> list[float]:
    """The sum of the cosines of what is known and each published log."""
    out = [0.0] * len(published)
    for cut in (words, grams, whole):
        weights = idf(published, cut)
        mine = vector(known, cut, weights, len(published))
        for i, log in enumerate(published):
            other = vector(log, cut, weights, len(published))
            out[i] += sum(w * other.get(f, 0.0) for f, w in mine.items())
    return out
