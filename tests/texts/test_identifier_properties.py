"""Any identifier of each kind is found, whatever surrounds it; no plain words are."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.texts.identifiers import KINDS, find_identifiers, find_spans, names_of
from querycloak.texts.identifiers._cards import luhn
from querycloak.texts.identifiers._checksums import is_french, is_spanish
from querycloak.texts.plain import plain_text

WORDS = ["green", "tea", "who", "is", "cheap", "hotels", "Paris", "für", "de", "lookup", "my", "weather", "ﬁnd", "été"]
words = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
digits = st.integers(0, 9).map(str)


def number(n):
    return st.lists(digits, min_size=n, max_size=n).map("".join)


def grouped(text, sizes, gap):
    out, at = [], 0
    for size in sizes:
        out.append(text[at : at + size])
        at += size
    return gap.join(out)


@st.composite
def cards(draw):
    size, first = draw(st.sampled_from([(16, "4"), (15, "37"), (16, "51"), (16, "6011"), (13, "4"), (19, "4")]))
    body = first + draw(number(size - len(first) - 1))
    whole = next(body + str(d) for d in range(10) if luhn(body + str(d)))
    return grouped(whole, [4, 4, 4, 4, 3], draw(st.sampled_from(["", " ", "-", "."]))).rstrip(" -.")


@st.composite
def ibans(draw):
    body = draw(number(18))
    check = 98 - int(body + "131400") % 97  # d = 13, e = 14
    return grouped(f"DE{check:02}{body}", [4, 4, 4, 4, 4, 2], draw(st.sampled_from(["", " "])))


@st.composite
def national(draw):
    form = draw(st.sampled_from(["us", "spain", "france", "britain"]))
    if form == "us":
        area = draw(st.integers(1, 899).filter(lambda n: n != 666))
        gap = draw(st.sampled_from(["-", " ", ""]))
        return f"{area:03}{gap}{draw(st.integers(1, 99)):02}{gap}{draw(st.integers(1, 9999)):04}"
    if form == "spain":
        body = draw(number(8))
        return next(body + letter.upper() for letter in "trwagmyfpdxbnjzsqvhlcke" if is_spanish(body + letter))
    if form == "france":
        body = "1" + draw(number(12))
        return next(f"{body} {key:02}" for key in range(1, 98) if is_french(f"{body}{key:02}"))
    return f"ab {draw(st.integers(100000, 999999))} {draw(st.sampled_from('abcd'))}"


octets = st.integers(1, 254)
texts_of = {
    "mail": st.tuples(
        st.from_regex(r"[A-Za-z][A-Za-z0-9._+]{0,8}[a-z]", fullmatch=True),
        st.sampled_from(["example.com", "Example.co.uk"]),
    ).map("@".join),
    "phone": st.tuples(
        st.integers(200, 999), st.integers(100, 199), st.sampled_from([("", "-"), ("(", ") "), ("+1 ", "."), ("", "")])
    ).map(lambda t: f"{t[2][0]}{t[0]}{t[2][1]}555{'-' if t[2][1] else ''}0{t[1]}"),
    "card": cards(),
    "social security": national(),
    "address": st.tuples(
        st.integers(1, 9999),
        st.sampled_from(["{} Allen Ave", "{} w 5th street", "{} rue de la paix", "via roma {}", "HAUPTSTRASSE {}"]),
    ).map(lambda t: t[1].format(t[0] if "via" not in t[1] else t[0] % 999 + 1)),
    "iban": ibans(),
    "ip": st.one_of(
        st.tuples(st.sampled_from(["192.0.2", "198.51.100", "203.0.113"]), octets).map(lambda t: f"{t[0]}.{t[1]}"),
        st.tuples(octets, octets).map(lambda t: f"2001:DB8:1::{t[0]:x}:{t[1]:x}"),
    ),
    "coordinates": st.tuples(st.floats(-89.9, 89.9), st.floats(-179.9, 179.9), st.sampled_from([", ", " ", ","])).map(
        lambda t: f"{t[0]:.4f}{t[2]}{t[1]:.4f}"
    ),
    "plate": st.one_of(
        st.tuples(number(3), st.sampled_from(["AB-{}-CD", "license plate abc {}", "b-xy {}", "plate 7abc{}"])).map(
            lambda t: t[1].format(t[0])
        ),
        st.integers(10, 29).map("LB{} xyw".format),
    ),
}


def kinds(text):
    return set(names_of(int(find_identifiers(pl.Series([text]))[0])))


def test_every_kind_is_generated():
    assert tuple(texts_of) == KINDS


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_an_identifier_is_found_between_any_words(kind, data):
    before, identifier, after = data.draw(words), data.draw(texts_of[kind]), data.draw(words)
    text = f"{before} {identifier} {after}"
    assert kind in kinds(text)
    spans = [(begin, end) for found, begin, end in find_spans(text) if found == kind]
    begin, end = len(before) + 1, len(before) + 1 + len(identifier)
    assert any(a < end and begin < b for a, b in spans)  # where it is


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_case_changes_nothing(kind, data):
    text = f"{data.draw(words)} {data.draw(texts_of[kind])} {data.draw(words)}".replace("ﬁ", "fi")
    assert kinds(text) == kinds(text.upper()) == kinds(text.lower())


@given(
    st.lists(st.sampled_from([*texts_of.values()]).flatmap(lambda s: s) | words | st.text(max_size=12), max_size=5).map(
        " ".join
    )
)
def test_a_column_and_a_single_text_are_answered_alike(text):
    assert {kind for kind, _, _ in find_spans(text)} == kinds(text)
    for _, begin, end in find_spans(text):
        assert 0 <= begin < end <= len(text)


@given(st.data())
def test_nothing_is_found_in_words_of_a_dictionary(data):
    labels = data.draw(st.lists(st.sampled_from(DICTIONARY), max_size=5))
    assert kinds(" ".join(labels)) == set()


def _dictionary():
    return [label for labels in load_wordnet().labels[::50] for label in labels if label.replace(" ", "").isalpha()]


DICTIONARY = _dictionary()


def test_names_are_spans_as_well_where_a_taxonomy_is_given():
    text = "Karen Hartwell 555-010-1234"
    assert find_spans(text, load_wordnet()) == [("name", 0, 14), ("phone", 15, 27)]
    assert find_spans(text) == [("phone", 15, 27)]


def test_a_number_is_not_called_a_phone_where_it_is_part_of_something_else():
    assert kinds("4111 1111 1111 1111") == {"card"}
    assert kinds("40.7128123 -74.0060123") == {"coordinates"}
    assert kinds("gb82 west 1234 5698 7654 32") == {"iban"}
    assert kinds("4111 1111 1111 1111 call 555-010-1234") == {"card", "phone"}


@pytest.mark.parametrize(
    "text",
    [
        "5550\u200b10\uff10199",
        "555\u2011010\u20110199",
        "\u0665\u0665\u0665-\u0660\u0661\u0660-\u0661\u0662\u0663\u0664",
        "ann\uff20example.com",
        "192\u3002",
    ],
)
def test_other_characters_for_the_same_letters(text):
    assert bool(kinds(text)) == (text != "192\u3002")


@given(st.text())
def test_plain_letters_know_where_they_come_from(text):
    plain = plain_text(text)
    assert len(plain.at) == len(plain.text)
    assert all(0 <= i < len(text) for i in plain.at)
    assert list(plain.at) == sorted(plain.at)
