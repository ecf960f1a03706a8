from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.mapping.words import address_words, clauses, fold, label_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   ", []),
        ("Hotel Paris", [["hotel", "paris"]]),
        ("hotels, paris (cheap)", [["hotels"], ["paris"], ["cheap"]]),
        ("+md foods +proteins", [["md", "foods", "proteins"]]),
        ("bed & breakfast", [["bed", "and", "breakfast"]]),
        ("alzheimer's disease", [["alzheimer", "disease"]]),
        ("women\u2019s shoes", [["women", "shoes"]]),
        ("u.s. history", [["u.s", "history"]]),
        ("st. john", [["st", "john"]]),
        ("sunny day. night", [["sunny", "day", "night"]]),  # a short word may be an abbreviation
        ("a sunny week. night", [["a", "sunny", "week"], ["night"]]),
        ("caf\u00e9 \u00c5ngstr\u00f6m", [["cafe", "angstrom"]]),
        ("jaguar -car", [["jaguar"]]),
        ("pow-wow", [["pow", "wow"]]),
        ("cars - trucks", [["cars", "trucks"]]),
        ("10,000 maniacs", [["10,000", "maniacs"]]),
        ("\U0001f600 \u4e2d\u6587", [["\u4e2d\u6587"]]),
    ],
)
def test_clauses(text, expected):
    assert clauses(text) == expected


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("www.animals.com", ["animals"]),
        ("http://www.wild-animals.co.uk/cats/index.html", ["wild", "animals", "cats"]),
        ("animals.com", ["animals"]),
        ("animals.txt", None),
        ("u.s.", None),
        ("someone@example.com", None),
        ("a" * 3_000 + ".com", None),
    ],
)
def test_addresses(piece, expected):
    assert address_words(piece) == expected


def test_an_address_is_a_clause_of_its_own():
    assert clauses("cats www.dogs.com birds") == [["cats"], ["dogs"], ["birds"]]


def test_labels_keep_inner_words():
    assert label_text("Bed_and_breakfast") == "bed and breakfast"
    assert label_text("TCP/IP") == "tcp ip"
    assert label_text("Booker T. Washington") == "booker t washington"


@given(st.text(max_size=200))
def test_any_text_gives_plain_words(text):
    for clause in clauses(text):
        assert clause
        for word in clause:
            assert word
            assert not any(character.isspace() for character in word)


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=100))
def test_case_does_not_matter(text):
    assert clauses(text.upper()) == clauses(text.lower())


@given(st.text(max_size=50))
def test_folding_twice_is_folding_once(text):
    assert fold(fold(text)) == fold(text)
