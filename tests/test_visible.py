"""What reaches a terminal or a page hides nothing, and means what it meant."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from querycloak.display import card, html_table, text_table
from querycloak.report.pages import _templates
from querycloak.visible import visible, visible_json, visible_lines, visible_on_page

OBEYED = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2060, 0x2070)),
    *"\ufeff\ufff9\ufffa\ufffb",
    "\ud800",
    "\udfff",
    "\U000e0001",
    "\U000e0041",
]
"""What a terminal or a page obeys, or shows nothing of: written out one by one, apart from the ranges of the code."""


@pytest.mark.parametrize("character", OBEYED, ids=lambda c: f"{ord(c):04x}")
def test_every_character_that_is_obeyed_is_shown(character):
    shown = visible(f"a{character}b")
    assert character not in shown
    assert shown.isascii()
    assert shown.startswith("a\\")
    assert shown.endswith("b")


@given(st.text())
def test_nothing_else_is_changed(text):
    kept = "".join(c for c in text if c not in OBEYED and unicodedata.category(c) not in {"Cc", "Cs", "Cf", "Zl", "Zp"})
    assert visible(kept) == kept == visible_lines(kept) == visible_json(kept)


@given(st.text(st.characters() | st.sampled_from(OBEYED)))
def test_nothing_is_left_that_is_obeyed(text):
    assert not set(visible(text)) & set(OBEYED)
    assert set(visible_lines(text)) & set(OBEYED) <= {"\n", "\t"}


@given(st.text(st.characters() | st.sampled_from(OBEYED)))
def test_json_means_what_it_meant(text):
    shown = visible_json(json.dumps({"name": text}, ensure_ascii=False, indent=2))
    assert json.loads(shown) == {"name": text}
    assert set(shown) & set(OBEYED) <= {"\n"}


def test_markup_stays_markup_and_text_is_escaped_once():
    assert visible_on_page(Markup("<b>\u202e</b>")) == Markup("<b>\\u202e</b>")
    assert isinstance(visible_on_page(Markup("<b>")), Markup)
    assert visible_on_page(None) is None


def test_pages_show_what_is_hidden():
    page = _templates().from_string("<p title='{{ a }}'>{{ a }}</p>{{ b }}{{ n }}")
    made = page.render(a="\u202e<x>\x1b[2J", b=Markup("<i>\u200b</i>"), n=3)
    assert made == "<p title='\\u202e&lt;x&gt;\\x1b[2J'>\\u202e&lt;x&gt;\\x1b[2J</p><i>\\u200b</i>3"


def test_cards_and_tables_of_a_notebook_show_what_is_hidden():
    shown = html_table(["name"], [["\u202e<x>\x1b[2J"]]) + text_table(["name"], [["\u202e\x1b\n"]]) + card("\x9b")
    assert not set(shown) & set(OBEYED) - {"\n"}
    assert "\\u202e&lt;x&gt;\\x1b[2J" in shown
    assert "\\u202e\\x1b\\n" in shown
