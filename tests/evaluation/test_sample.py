"""The sample of rows on the page of a check: nothing in it names anybody."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sample_releases import release_of

from querycloak.evaluation.sample import SHARED, sample_rows
from querycloak.logs.query_log import QueryLog

PEOPLE = [f"u{i}" for i in range(SHARED)]


def shown(text, log=None):
    """What the sample shows of a text in the release, where "how", "to" and "leave Bob" are asked by enough people."""
    asked = ["how", "to", "to", "leave bob", "to leave"]
    rows = [(u, q) for u in PEOPLE for q in asked]
    log = QueryLog.of([u for u, _ in rows], [q for _, q in rows])
    sample = sample_rows(log, release_of(log, [[text]], [0]), seed=1)
    assert [who for who, _ in sample.after] == ["id 1"]
    return sample.after[0][1]


def test_texts_and_words_that_enough_people_asked_are_shown():
    assert shown("to") == "to"
    assert shown("Leave  BOB") == "Leave  BOB"


def test_a_text_of_common_words_that_few_asked_shows_its_most_common_word_alone():
    assert shown("how to leave bob") == "••• to ••••• •••"


@pytest.mark.parametrize("text", ["o'brien", "b0b_s", "мария", "संगीता", "b́ob", "🙂🙂", "5551234", "bob@mail.com"])
def test_of_a_rare_word_no_letter_is_shown(text):
    seen = shown(f"to {text}")
    assert seen.startswith("to ")
    assert not re.search(r"[^ -/:-@\[-`{-~•]", seen.removeprefix("to "))
    assert len(seen) == len(f"to {text}")


def test_one_asker_too_few_is_masked():
    log = QueryLog.of([*PEOPLE[1:], "x"], ["tea"] * (SHARED - 1) + ["milk"])
    assert sample_rows(log, release_of(log, [["tea"]], [0]), seed=1).after == (("id 1", "•••"),)


def test_rows_without_a_query_are_empty():
    log = QueryLog.of(["a"], ["tea"])
    bare = log.take(np.array([0, 0]))
    bare.query[:] = -1
    assert {text for _, text in sample_rows(bare, release_of(log, [["tea"]], [0]), seed=1).before} == {""}
