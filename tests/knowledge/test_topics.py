"""Topics: found by label or path, disjoint, refused by name."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topics import find_topic, read_topics

TREE = Taxonomy.from_parents(
    [-1, 0, 0, 1, 1, 2, 2],
    [["thing"], ["fruit"], ["sport"], ["apple"], ["show"], ["tennis"], ["show"]],
)  # depth-first: thing 0, fruit 1, apple 2, show 3, sport 4, tennis 5, show 6


def read(tmp_path, text):
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    return read_topics(tmp_path / "t.txt", TREE)


def test_two_levels_comments_and_senses_below_the_topic(tmp_path):
    topics = read(tmp_path, "# mine\n\nfruit\nsport\n  show\n\ttennis\n")
    assert topics.main == (1, 4)
    assert topics.fine == (1, 5, 6)
    assert topics.common(TREE) == 0


def test_paths(tmp_path):
    assert find_topic("thing/sport/show", TREE) == 6
    assert read(tmp_path, "thing/sport/show\n").main == (6,)


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("", InputError, "found none"),
        ("  apple\n", InputError, "line 1: a finer topic"),
        ("fruit\nfruits\n", UnknownNameError, r"line 2: .*'fruits'.*'fruit'"),
        ("fruit\nsport\n  apple\n", ParameterError, "line 3: .*'apple' does not lie below 'sport'"),
        ("fruit\napple\n", ParameterError, "must not overlap, and 'apple' is inside 'fruit'"),
        ("fruit\nfruit\n", ParameterError, "must not overlap, and 'fruit' is named twice"),
        ("thing\n  fruit\n  apple\n", ParameterError, "'apple' is inside 'fruit'"),
    ],
)
def test_what_is_refused(tmp_path, text, error, match):
    with pytest.raises(error, match=match):
        read(tmp_path, text)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_topics(tmp_path / "none", TREE)
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_topics(tmp_path / "b", TREE)


def test_the_topics_of_the_paper():
    wordnet = qc.load_taxonomy()
    topics = read_topics("paper", wordnet)
    assert [wordnet.label(t) for t in topics.main] == ["science", "sport", "social event", "disease"]
    assert len(topics.fine) == 19
    assert wordnet.label(topics.common(wordnet)) == "abstraction"
    assert wordnet.paths[topics.common(wordnet)] == "entity/abstraction"
