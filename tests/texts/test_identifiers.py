from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.texts.identifiers import find_identifiers, names_of


def kinds(text):
    return names_of(int(find_identifiers(pl.Series([text]))[0]))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ann.lee@example.com", "mail"),
        ("mail Ann_Lee@Example.co.uk now", "mail"),
        ("ann at example dot com", "mail"),
        ("555-010-0199", "phone"),
        ("(555) 010-0199", "phone"),
        ("call 5550100199 reverse", "phone"),
        ("555.010.0199", "phone"),
        ("1 555 010 0199", "phone"),
        ("who called from 010-0199", "phone"),
        ("+44 20 7946 0018", "phone"),
        ("4111111111111111", "card"),
        ("visa 4111-1111-1111-1111 stolen", "card"),
        ("378282246310005", "card"),
        ("219-09-9999", "social security"),
        ("ssn 219099999", "social security"),
        ("12 main street springfield", "address"),
        ("1600 N. Elm Ave", "address"),
        ("221b baker st", "address"),
        ("p.o. box 118", "address"),
    ],
)
def test_finds(text, kind):
    assert kind in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "green tea",
        "windows 98",
        "50 first dates",
        "boeing 747-400",
        "1984 movie",
        "main street",
        "@",
        "9 11",
        "2006",
    ],
)
def test_leaves_alone(text):
    assert kinds(text) == []


def test_an_address_inside_what_is_refused():
    assert "address" not in kinds("plaza hotel mayor 5")
    assert "address" in kinds("plaza hotel calle mayor 5")


def test_a_long_number_without_the_checksum_is_no_card():
    assert "card" not in kinds("4111 1111 1111 1112")


def test_digits_of_other_scripts_do_not_disturb():
    assert "card" in kinds("\uff14" + "\uff11" * 15)


@given(st.lists(st.text(), max_size=8))
def test_any_text_is_answered(texts):
    assert len(find_identifiers(pl.Series(texts, dtype=pl.String))) == len(texts)


@given(st.integers(100, 999), st.integers(10, 99), st.integers(1000, 9999), st.sampled_from("- "))
def test_every_social_security_number_is_found(a, b, c, gap):
    assert "social security" in kinds(f"my {a}{gap}{b}{gap}{c}")
