from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from places import ROOT
from report.elements import HARMLESS, HOSTILE, Elements
from sample_reports import comparison, exposed, run, useful

from querycloak.evaluation.run import Run
from querycloak.evaluation.spread import Spread
from querycloak.knowledge.concept_topics import NO_TOPIC
from querycloak.measures.score import Score
from querycloak.report import charts, drawing
from querycloak.report.curves import _end_labels
from querycloak.report.html import html_report

FAILED = Run(name="broken", method="m", settings={}, error="too few users")
SECTIONS = [
    "Which conditions each run keeps",
    "Exposure: what of single people is readable",
    "Risk: what attackers get right because of the release",
    "Utility: what each release is good for",
    "Risk against utility, task by task",
    "What each release guarantees",
    "The measures of the papers",
    "Groups of equal logs",
    "Topics before and after",
    "How long each step took",
    "To repeat it",
]


def shown(*runs, **more):
    return Elements(html_report(comparison(*runs, **more)))


def verdicts(page):
    """The rows of the first table: the texts of their cells."""
    table = page[page.index('class="cards verdicts"') :]
    rows = re.findall(r"<tr.*?</tr>", table[: table.index("</table>")], re.DOTALL)[1:]
    cells = [re.findall(r"<td.*?</td>", row, re.DOTALL) for row in rows]
    return [[" ".join(unescape(re.sub("<[^>]*>", " ", cell)).split()) for cell in row] for row in cells]


def test_every_section_is_there_in_this_order():
    assert shown(run()).titles == SECTIONS
    assert shown(FAILED).titles == SECTIONS


def test_the_advice_comes_first():
    page = shown(run("naive", baseline=True), run("good"))
    assert page.text.index("✓ Publish good") < page.text.index(SECTIONS[0])
    assert "good may be published" in page.text


def test_publish_none_is_an_answer():
    page = shown(run("naive", baseline=True), run("bad", relink=0.5))
    assert "✗ Publish none of these" in page.text
    assert "✓ Publish" not in page.text


def test_each_run_says_which_conditions_failed_and_what_to_change():
    runs = [
        run("good"),
        run("linked", relink=0.5),
        run("own", exposure=exposed(own=3)),
        run("dull", utility=()),
        FAILED,
    ]
    rows = verdicts(html_report(comparison(*runs)))
    fine, bad, unknown = "✓ holds", "✗ fails", "? not tested"
    assert [row[1:5] for row in rows] == [
        [fine] * 4,
        [fine, bad, fine, fine],
        [fine, fine, bad, fine],
        [fine, fine, fine, unknown],
        [unknown] * 4,
    ]
    assert rows[0][0] == "1 good"
    assert rows[0][5] == "nothing"
    assert "above the limit of 20%" in rows[1][5]
    assert "→ raise --k to 10" in rows[1][5]
    assert "3.0% of its rows" in rows[2][5]
    assert rows[4][5] == "failed: too few users"


def test_of_many_attacks_above_a_limit_the_worst_is_named_and_the_others_are_folded():
    rows = verdicts(html_report(comparison(run("bad", relink=0.3, claim=0.9))))
    assert rows[0][5].index("Claim, plain") < rows[0][5].index("1 more") < rows[0][5].index("Relink, plain")


def test_figures_of_exposure_are_those_of_each_run():
    page = html_report(comparison(run("a", exposure=exposed(own=3)), run("b")))
    table = page[page.index('<div class="figures">') :]
    row = table[table.index("rows with an own text") :]
    assert re.findall(r">(\d[^<]*)<", row)[:4] == ["3.0%", "3 of 100", "0.0%", "0 of 100"]


def test_what_was_not_tested_is_said_once_for_all_runs_that_lacked_the_same():
    lacking = {"shape": "no times"}
    page = shown(run("a", not_run=lacking), run("b", not_run=lacking, nothing={"attribute": "no own text"}))
    assert page.text.count("no times all runs") == 1
    assert "Nothing to attack" in page.text
    assert "attribute no own text b" in page.text


def test_an_attack_without_a_result_says_why():
    bare = run("b", attacks=())
    lacking, empty = replace(bare, not_run={"relink": "no times"}), replace(bare, nothing={"relink": "nobody"})
    for missing, cell in [(bare, "does not apply"), (lacking, "? not tested"), (empty, "nothing to attack")]:
        page = shown(run("a"), missing)
        start = page.text.index("adds at most relink, plain")
        assert page.text[start:].startswith(f"adds at most relink, plain a ✓ 8% b {cell} ")


def test_tasks_are_shown_one_by_one_and_never_summed():
    page = html_report(comparison(run("a"), run("b", utility=(useful("topics", 0.2),))))
    assert "0.70 (0.60 to 0.80), better than blind" in page
    assert "0.05 (−0.05 to 0.15), no better than blind" in page  # noqa: RUF001
    assert "not tried" in page


def test_each_task_has_its_picture_of_risk_with_numbered_points():
    page = html_report(comparison(run("a"), run("b", relink=0.5), run("c", relink=0.9, utility=())))
    pictures = page[page.index('<div class="small three">') : page.index("What each release guarantees")]
    assert pictures.count("<figure>") == 3
    topics = pictures[: pictures.index("</figure>")]
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", topics)
    assert "1" in labels
    assert "2" in labels
    assert "3" not in labels


def test_points_on_one_spot_share_a_label():
    page = html_report(comparison(run("a"), run("b"), run("c")))
    assert page.count(">1-3<") == 3


def test_generalized_releases_show_distortion_level_and_density():
    details = {"distortion, share of worst case": 0.4123, "mean level of items (root = 1)": 3.456, "density": 0.00123}
    score = Score(measure="generalization", value=0.4123, better="lower", details=details)
    page = html_report(comparison(run("general", scores=(score,)), run("texts")))
    for shown in ("distortion ↓", "41.2%", "mean level, root = 1 ↑", "3.46", "density of the log", "0.123%"):
        assert shown in page
    assert "density of the log" not in html_report(comparison(run("texts")))


def test_a_measure_that_leaves_the_scale_for_one_run_is_not_drawn_for_the_others():
    loss = [Score(measure="loss", value=v, better="lower") for v in (0.0, 83.0)]
    kept = Score(measure="kept", value=0.5, better="higher")
    page = html_report(comparison(run("a", scores=(loss[0], kept)), run("b", scores=(loss[1], kept))))
    drawn = page[page.index('aria-label="Utility by measure"') :]
    drawn = drawn[: drawn.index("</svg>")]
    assert "kept ↑" in drawn
    assert "loss" not in drawn
    assert "83.000" in page
    none = html_report(comparison(run("a", scores=(loss[1],))))
    assert "No measure has values from 0 to 1 to draw." in none


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_shown_and_never_run(text):
    def page(t):
        failed = Run(name=t + "2", method=t, settings={}, error=t)
        made = run(t, text=t, not_run={t: t}, nothing={t: t}, utility=(useful(t), useful("x", possible=False, note=t)))
        return Elements(html_report(comparison(made, failed, text=t, tasks=(t,))))

    found, plain = page(text), page(HARMLESS)
    assert found.names <= plain.names
    assert found.handlers == []
    assert "".join(found.texts).count(text) == "".join(plain.texts).count(HARMLESS) > 50


def test_no_template_switches_escaping_off():
    for path in (ROOT / "src/querycloak/report/templates").iterdir():
        assert not re.search(r"\|\s*safe|autoescape|Markup", path.read_text())


def test_the_page_forbids_scripts_and_requests():
    page = html_report(comparison(run()))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "<script" not in page


@pytest.mark.parametrize("runs", [(), (FAILED,)])
def test_no_panel_is_empty_where_there_is_nothing_to_show(runs):
    page = html_report(comparison(*runs, topics={}, repeat=""))
    for section in re.findall(r"<section>(.*?)</section>", page, re.DOTALL):
        body = re.sub(r"<h2>.*?</h2>|<p class=\"soft\">.*?</p>", "", section, flags=re.DOTALL)
        assert len(re.sub(r"<[^>]*>|\s", "", body)) > 10, section
    assert "<svg" not in page


def test_a_method_has_the_same_colour_in_every_picture():
    both = [charts.Point(1, "sweep", 2.0, 0.9), charts.Point(2, "clump", 0.5, 0.3)]
    methods = ["sweep", "clump"]
    whole, part = (str(charts.tradeoff_chart(points, methods)) for points in (both, both[1:]))
    colour = drawing.PALETTE[1]
    assert colour in whole
    assert colour in part
    assert drawing.PALETTE[0] not in part


def lossy(name, *values, method="clump", **more):
    """A run with information loss at two numbers of clusters, one draw per value."""
    scores = [
        Score(measure="information loss", value=v, better="lower", curve={2: v / 2, 5: v}, details={"clusters": 5.0})
        for v in values
    ]
    return run(name, scores=(scores[0],), draws=tuple((s,) for s in scores[1:]), **{"text": method, **more})


def test_information_loss_has_a_picture_per_method_with_its_spread():
    page = html_report(comparison(lossy("first", 30.0, 40.0), lossy("second", 20.0, 20.0), run("none")))
    assert page.count('aria-label="Information loss by the number of clusters"') == 1
    text = Elements(page).text
    assert "1 first, 2 second" in text
    assert "A line is the mean over 2 releases" in text
    assert "Not drawn, since they publish no logs of people who could be clustered: none." in text
    cells = re.findall(r"<td[^>]*>35.000<small>(.*?)</small>", page)
    assert cells == ["5 clusters; 30.000 to 40.000"]
    assert "<small>5 clusters</small>" in page  # no range where the draws agree


def test_information_loss_that_is_none_is_no_blank_panel():
    """A percentage that is 0 in all runs looked like a share from 0 to 1, and was drawn as a panel without bars."""
    runs = [lossy("first", 0.0), lossy("second", 0.0)]
    assert charts.score_chart(runs) is None
    page = html_report(comparison(*runs))
    assert "No measure has values from 0 to 1 to draw." in page
    assert "Each figure is the mean over" not in page


def test_lines_that_end_together_share_a_label():
    curves = {n: {2: Spread(v, v, v, 1)} for n, v in ((1, 50.0), (2, 51.0), (3, 52.0), (5, 80.0))}
    assert [label["label"] for label in _end_labels(curves)] == ["1-3", "5"]


def test_what_is_in_no_topic_is_explained_where_it_is_drawn():
    with_none = html_report(comparison(run("a"), topics={"Sports & Outdoors": 0.7, NO_TOPIC: 0.3}))
    assert f"{NO_TOPIC}: queries whose concept is too general, or of no topic." in with_none
    assert "Sports &amp; Outdoors" in with_none
    assert "too general" not in html_report(comparison(run("a"), topics={"Sports & Outdoors": 1.0}))
