"""Tables that are searched in place at first have the same answers as dictionaries."""

from __future__ import annotations

import pytest

from querycloak.knowledge.look_up import LookUp, rows_of_lines
from querycloak.knowledge.vectors import load_vectors

TEXTS = ["the", "of", "tea", "té", "o"]
ROWS = {text: row for row, text in enumerate(TEXTS)}
ASKED = [*TEXTS, "", "\n", "the\nof", "th", "he", "t", "e", "\ud800"]


def table() -> LookUp[int]:
    return rows_of_lines("\n".join(TEXTS).encode())


def test_the_answers_are_those_of_the_dictionary_before_and_after_unpacking():
    for unpacked in (False, True):
        found = table()
        if unpacked:
            assert len(found) == len(ROWS)
        assert [found.get(text) for text in ASKED] == [ROWS.get(text) for text in ASKED]
        assert [found.get(text, -1) for text in ASKED] == [ROWS.get(text, -1) for text in ASKED]
        assert [text in found for text in ASKED] == [text in ROWS for text in ASKED]
        assert found["té"] == 3
        with pytest.raises(KeyError):
            found["th"]
    assert list(found) == TEXTS
    assert dict(found) == ROWS == dict(found.items())
    assert list(found.keys()) == TEXTS
    assert list(found.values()) == list(range(len(TEXTS)))


def test_many_questions_unpack_it():
    calls = []
    found = LookUp({"a": 1}.get, lambda: calls.append(1) or {"a": 1}, 3)
    assert [found.get("a") for _ in range(3)] == [1, 1, 1]
    assert not calls
    assert [found.get("a"), found.get("b", 7), "b" in found] == [1, 7, False]
    assert calls == [1]


def test_ours_is_searched_in_place_as_it_is_unpacked():
    from querycloak.knowledge import vectors

    words = vectors._ours.__wrapped__().words
    asked = [*list(load_vectors().words)[::2_500], "qzxvkjw", "th", "no such"]
    assert [words.get(word) for word in asked] == [load_vectors().words.get(word) for word in asked]
    assert words._all is None
