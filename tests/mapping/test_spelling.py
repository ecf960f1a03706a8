"""Many misspelt words are corrected as a few are."""

from __future__ import annotations

import random
import string

from querycloak.knowledge.vectors import load_vectors
from querycloak.mapping import spelling
from querycloak.mapping.spelling import Spelling


def misspelt(count: int) -> list[str]:
    draw = random.Random(139)
    known = [
        word for word in list(load_vectors().words)[:60_000] if word.isascii() and word.isalpha() and len(word) > 4
    ]
    out = []
    for word in draw.sample(known, count):
        i = draw.randrange(1, len(word))
        letter = draw.choice(string.ascii_lowercase)
        out += [word[:i] + word[i + 1 :], word[:i] + letter + word[i:], word[:i] + letter + word[i + 1 :]]
        out += [word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :], word + letter, word]
    return [*out, "qzxvkjw", "zzzzzzzzz"]


def test_after_many_words_the_corrections_are_the_same(monkeypatch):
    words = misspelt(150)
    few = Spelling(load_vectors().words)
    monkeypatch.setattr(spelling, "_ENOUGH", 0)
    many = Spelling(load_vectors().words)
    found = [few.correct(word) for word in words[:500]]
    assert [many.correct(word) for word in words[:500]] == found
    assert "_beginnings" in vars(many)
    assert "_beginnings" not in vars(few)
    assert sum(map(bool, found)) > 100
