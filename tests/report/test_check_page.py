from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import msgspec
import pytest
from report.elements import HARMLESS, HOSTILE, Elements
from sample_attacks import found
from sample_reports import check, exposed, run, useful

from querycloak.evaluation.check import Light
from querycloak.evaluation.run import Run
from querycloak.evaluation.sample import Sample
from querycloak.report.check_page import check_page, write_check_page

QUESTIONS, USE, ROWS = (
    "The three questions of regulators",
    "What the release is good for",
    "A few rows, before and after",
)
OPEN, FILES = "What could not be tested", "The files against the statement"
READABLE, ATTACKS = "What of single people is readable", "Every attack, in figures"
FOLDED = [OPEN, FILES, READABLE, ATTACKS, "The results as data"]
SECTIONS = [QUESTIONS, USE, "What is guaranteed", ROWS, *FOLDED]
SIGNS = {"RELEASE": "✓", "DO NOT RELEASE": "✗", "NEEDS A HUMAN": "?"}
EMPTY = Run(name="r", method="m", settings={})


def section(page, title):
    """The words of one section."""
    found = next(s for s in re.findall(r"<section[^>]*>(.*?)</section>", page, re.DOTALL) if f"<h2>{title}</h2>" in s)
    return " ".join(unescape(re.sub("<[^>]*>", " ", found)).split())


def test_every_section_is_there_in_this_order():
    page = check_page(check())
    assert Elements(page).titles == SECTIONS
    assert re.findall(r"<details>\s*<summary><h2>(.*?)</h2>", page) == FOLDED


@pytest.mark.parametrize(
    ("verdict", "kind"), [("RELEASE", "fine"), ("DO NOT RELEASE", "over"), ("NEEDS A HUMAN", "open")]
)
def test_the_verdict_is_a_word_a_sign_and_a_colour(verdict, kind):
    page = check_page(check(verdict, reasons=("first", "second")))
    words = Elements(page).text
    start = f"May I release this? {SIGNS[verdict]} {verdict} First. Second. What to change Plain."
    assert start in words
    assert words.index(start) < words.index(SECTIONS[0])
    assert f'class="verdict {kind}"' in page
    assert f"<title>{verdict}: QueryCloak check</title>" in page


def test_it_says_that_it_is_internal():
    said = "Internal. Contains figures about people and masked rows. Do not publish."
    assert said in Elements(check_page(check())).text


def test_many_reasons_are_folded_and_none_is_lost():
    reasons = tuple(f"reason {i}" for i in range(9))
    words = Elements(check_page(check("DO NOT RELEASE", reasons=reasons))).text
    assert words.index("Reason 3.") < words.index("5 more reasons") < words.index("Reason 4.")
    assert all(f"Reason {i}." in words for i in range(9))


@pytest.mark.parametrize(
    ("colour", "word"), [("green", "within the limits"), ("amber", "not all tested"), ("red", "above a limit")]
)
def test_a_question_has_a_word_a_sign_and_a_colour(colour, word):
    light = Light(question="linkability", asks="Can it?", colour=colour, says="because")
    page = check_page(check(lights=(light,)))
    sign = {"green": "✓", "amber": "?", "red": "✗"}[colour]
    assert f"Linkability Can it? {sign} {word} Because." in section(page, QUESTIONS)
    assert re.findall(r'<div class="light (\w+)">', page) == [colour]


def test_a_question_is_answered_by_its_own_attacks():
    words = section(check_page(check()), QUESTIONS)
    singling, linking, inferring = words.split("Can ")[1:]
    assert "known, plain ✓ at most 15%, limit 20%" in singling
    assert "people with a text published that nobody else asked 0% 0 of 10 none" in singling
    assert "relink, plain ✓" in linking
    assert "known, plain" not in linking + inferring
    assert "claim, plain ✓" in inferring


def test_what_published_nothing_is_said_to_have_published_nothing():
    nothing = run(exposure=exposed(rows=0.0, texts=0))
    page = check_page(check("NEEDS A HUMAN", run=nothing))
    words = section(page, QUESTIONS)
    assert words.count("∅ published nothing") == 3
    assert "within the limits" not in words
    assert "✓" not in words
    assert "rows published none" in Elements(page).text
    assert "Nothing: the release has no rows." in section(page, USE)
    assert "Nothing was counted: the release has no rows." in section(page, READABLE)
    assert "the release has no rows" in section(page, ATTACKS)


def test_the_results_are_in_the_page_as_data():
    found = check("DO NOT RELEASE")
    assert Elements(check_page(found)).data == json.loads(msgspec.json.encode(found))


def test_the_figures_of_attacks_are_those_of_the_run():
    attack = found(
        "relink, x",
        0.3,
        low=0.2,
        high=0.5,
        lift=0.25,
        lift_low=0.1,
        lift_high=0.4,
        bound=0.35,
        knows="half",
        unit="query",
    )
    page = check_page(check(run=run(attacks=(attack,))))
    assert "relink, x ✗ at most 35% (proved), limit 20%" in section(page, QUESTIONS)
    words = section(page, ATTACKS)
    row = "relink, x knows half; compared with guessing 30% of 9 0% 25% 10% to 40% ✗ 35% 20% 35% query"
    assert row in words


def test_a_lift_is_drawn_where_it_is():
    attack = found("a", 0.3, lift=0.3, lift_low=0.1, lift_high=1.0, bound=0.5)
    page = check_page(check(run=run(attacks=(attack,), utility=())))
    drawn = dict(re.findall(r'<line class="(limit|bound|range|beyond)" x1="([\d.]+)"', page))
    ends = dict(re.findall(r'<line class="(range|beyond)" x1="[\d.]+" x2="([\d.]+)"', page))
    # 0 is at 3 percent of the width and 100 % at 97
    assert {k: float(v) for k, v in drawn.items()} == {"limit": 21.8, "bound": 50.0, "range": 12.4, "beyond": 50.0}
    assert {k: float(v) for k, v in ends.items()} == {"range": 50.0, "beyond": 97.0}


def test_the_tasks_that_were_named_are_marked():
    words = section(check_page(check(run=run(utility=(useful("topics"), useful("sessions", 0.05))))), USE)
    assert "topics named by you ✓ 0.70 (0.60 to 0.80), better than blind" in words
    assert "sessions ✗ 0.05" in words
    assert "sessions named by you" not in words


def test_a_task_that_is_not_possible_says_why():
    tasks = (useful("sessions", possible=False, note="no users"), useful("topics", scaled=0.5))
    none = replace(useful("volume"), scaled=None, scaled_low=None, scaled_high=None)
    words = section(check_page(check(run=run(utility=(*tasks, none)))), USE)
    assert "sessions ? not possible: no users" in words
    assert "volume ? the log itself does no better than a blind one" in words


def test_findings_say_what_holds():
    words = section(check_page(check(text="seen it")), FILES)
    assert "seen it ✓ holds seen it seen it ✗ broken seen it seen it ? the files cannot tell seen it" in words


def test_exposure_is_counted():
    words = section(check_page(check(run=run(exposure=exposed(own=3)))), READABLE)
    assert re.search(r"rows with an own text .* 3\.0% 3 of 100 own texts", words)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_and_never_run(text):
    page, plain = (Elements(check_page(check(text=t))) for t in (text, HARMLESS))
    assert page.names <= plain.names
    assert page.handlers == []
    assert "".join(page.texts).count(text) == "".join(plain.texts).count(HARMLESS) > 40


def test_no_panel_is_empty_where_there_is_nothing_to_show():
    nothing = Sample(before=(), after=())
    page = check_page(
        check("NEEDS A HUMAN", changes=(), not_tested=(), lights=(), findings=(), run=EMPTY, sample=nothing)
    )
    assert Elements(page).titles == SECTIONS
    for panel in re.findall(r"<section[^>]*>(.*?)</section>", page, re.DOTALL):
        body = re.sub(r"<h2>.*?</h2>|<p class=\"soft\">.*?</p>", "", panel, flags=re.DOTALL)
        assert len(re.sub(r"<[^>]*>|\s", "", body)) > 20, panel
    assert "What to change No setting helps with what is open: somebody has to decide." in Elements(page).text


def test_the_page_forbids_scripts_and_requests(tmp_path):
    write_check_page(check(), tmp_path / "check.html")
    page = (tmp_path / "check.html").read_text()
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert page.count("<script") == 1
