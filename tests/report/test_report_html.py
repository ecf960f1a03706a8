from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from places import ROOT
from report.elements import HARMLESS, HOSTILE, Elements
from sample_reports import comparison, exposed, run, useful

from querycloak.evaluation.command_words import CommandWords
from querycloak.evaluation.comparison_files import comparison_json
from querycloak.evaluation.limits import Limits
from querycloak.evaluation.run import Run
from querycloak.evaluation.spread import Spread
from querycloak.knowledge.concept_topics import NO_TOPIC
from querycloak.measures.score import Score
from querycloak.report.curves import _end_labels
from querycloak.report.html import html_report
from querycloak.report.tradeoff import Point, _badges

FAILED = Run(name="broken", method="m", settings={}, error="too few users")
SECTIONS = [
    "Every run, and what to change",
    "Singling out",
    "Linkability",
    "Inference",
    "Usefulness, task by task",
    "What of single people is readable",
    "What was not tested, and why",
    "What each release guarantees",
    "The measures of the papers",
    "Groups of equal logs",
    "Topics before and after",
    "How long each step took",
    "To repeat it, and the results as data",
]
FOLDED = SECTIONS[5:]
EMPTY = exposed(rows=0.0, texts=0)
BY_HAND = CommandWords(log="my log.tsv", reading=("--columns", "user=a,query=b"), judging=("--max-risk", "0.3"))


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


def test_details_are_folded_and_nothing_else_is():
    page = html_report(comparison(run()))
    folded = re.findall(r"<details>\s*<summary><h2>(.*?)</h2>", page)
    assert [unescape(title) for title in folded] == FOLDED


def test_the_answer_comes_first():
    page = shown(run("naive", baseline=True), run("good"))
    assert page.text.index("May I release this? ✓ Publish good") < page.text.index(SECTIONS[0])
    assert "good may be published" in page.text


def test_publish_none_is_an_answer_with_its_reason_and_what_to_change():
    page = shown(run("naive", baseline=True), run("bad", relink=0.5), run("dull", utility=()))
    start = page.text[: page.text.index(SECTIONS[0])]
    assert "✗ Publish none of these" in start
    assert "✓ Publish" not in page.text
    assert "Each of the 2 runs fails a condition: in 1 an attack gains more than its limit or was not run; " in start
    assert "What to change" in start
    assert "→ raise --k to 10" in start
    assert start.index("1 dull") < start.index("2 bad")  # what is not useful harms nobody
    assert "naive" not in start


def test_a_trial_is_not_called_a_release_and_the_real_one_has_its_commands():
    made = run("sweep", text="sweep", settings={"min_query_users": 5, "hash_tokens": True})
    made = replace(made, statement=replace(made.statement, settings={"min_query_users": 5}))
    page = shown(made, command=BY_HAND)
    start = page.text[: page.text.index(SECTIONS[0])]
    assert "trials in memory with the seed 1: none of them is a release" in start
    assert (
        "querycloak anonymize 'my log.tsv' --columns user=a,query=b -o release.tsv --method sweep "
        "--min-query-users 5 --hash-tokens --truth truth.tsv"
    ) in start
    assert (
        "querycloak check 'my log.tsv' release.tsv --columns user=a,query=b --max-risk 0.3 --truth truth.tsv "
        "-o check.html"
    ) in start
    assert "Release it if check says RELEASE, and only then." in start
    assert "truth.tsv undoes the release: never share it" in start
    assert "--seed" not in start


def test_where_nothing_may_be_published_no_command_makes_it():
    assert "querycloak anonymize" not in shown(run(relink=0.5), command=BY_HAND).text


def test_from_python_the_calls_are_shown():
    page = shown(run("good", text="sweep", settings={"k": 5}))
    assert "release = querycloak.anonymize(log, 'sweep', k=5)" in page.text
    assert "querycloak.check(log, release, tasks=('topics',), output=\"check.html\").verdict" in page.text
    strict = shown(run("good", text="sweep", settings={"k": 5}), limits=Limits(link=0.9))
    assert "tasks=('topics',), limits=querycloak.Limits(link=0.9)," in strict.text


def test_each_run_says_which_conditions_failed_and_what_to_change():
    runs = [
        FAILED,
        run("linked", relink=0.5),
        run("own", relink=0.5, exposure=exposed(own=3)),
        run("dull", utility=()),
        run("naive", baseline=True),
        run("good"),
    ]
    rows = verdicts(html_report(comparison(*runs)))
    fine, bad, unknown = "✓ holds", "✗ fails", "? not tested"
    assert [row[0] for row in rows] == [
        "1 good", "2 dull", "3 linked", "4 own", "5 naive baseline, never advised", "6 broken",
    ]  # fmt: skip
    assert [row[1] for row in rows] == [
        "✓ advised", "? of little use", "✗ do not release", "✗ do not release", "✗ do not release", "∅ failed",
    ]  # fmt: skip
    assert [row[2:6] for row in rows] == [
        [fine] * 4,
        [fine, fine, fine, unknown],
        [fine, bad, fine, fine],
        [fine, bad, bad, fine],
        [fine] * 4,
        [unknown] * 4,
    ]
    assert rows[0][6] == "nothing"
    assert "above the limit of 20%" in rows[2][6]
    assert "→ raise --k to 10" in rows[2][6]
    assert "3.0% of its rows" in rows[3][6]
    assert rows[5][6] == "failed: too few users"


def test_a_run_that_harms_people_is_never_called_of_little_use():
    rows = verdicts(html_report(comparison(run("bad", relink=0.5, utility=()))))
    assert rows[0][1] == "✗ do not release"


def test_what_published_nothing_is_said_to_have_published_nothing():
    """Counts of 0 and attacks that found nobody once read as kept limits."""
    quiet = run("quiet", exposure=EMPTY)
    page = html_report(comparison(run("loud"), quiet))
    row = verdicts(page)[1]
    assert row[0] == "2 quiet"
    assert row[1:6] == ["∅ published nothing", "✓ holds", "∅ nothing", "∅ nothing", "✗ fails"]
    assert row[6].startswith("It published nothing: there is nothing to attack, and nothing to use.")
    words = Elements(page).text
    questions = words[words.index("The three questions") : words.index("Details")]
    assert questions.count("1 run published nothing: there was nothing to test, and that is no sign of safety.") == 3
    assert "Published nothing, so there is nothing to use: 2 quiet." in questions
    assert questions.count("2 quiet") == 1  # in no picture, in no table
    assert "Published nothing, so nothing could be counted: 2 quiet." in words


def test_where_all_published_nothing_no_question_is_answered():
    words = shown(run("quiet", exposure=EMPTY)).text
    assert "✗ Publish none of these" in words
    assert "The one run fails a condition: it published nothing." in words
    assert words.count("Not known: no run published anything.") == 3
    assert "within the limits" not in words.partition("Details")[0]


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        (
            [run("good")],
            "✓ within the limits In the advised run, not beyond the limits: relink, plain: the release adds",
        ),
        ([run("a", relink=0.5)], "✗ above a limit Yes in the one run that published something: an attack is above"),
        ([run("a", relink=0.5), run("b", utility=())], "? depends on the run Yes in 1 of the 2 runs that published"),
        ([run("a", not_run={"relink": "no times"})], "? depends on the run Not known in the one run that published"),
    ],
)
def test_a_question_is_answered_in_words(runs, says):
    words = shown(*runs).text
    answer = words[words.index("Can what is known of a person be linked to the release?") :]
    assert says in answer[: answer.index("Can something new")]


def test_singling_out_counts_people_whose_texts_are_readable():
    words = shown(run("a", exposure=exposed(own=3, identifier_texts=2))).text
    assert "1 a ✗ 30% (3 of 10 people), 2 texts with an identifier" in words
    assert "1 a ✓ 0% (0 of 10 people)" in shown(run("a")).text


def test_every_picture_says_which_way_is_better():
    page = html_report(comparison(lossy("a", 30.0), run("b", relink=0.5)))
    for plot in re.findall(r'<svg [^>]*class="plot".*?</svg>', page, re.DOTALL):
        assert "is better" in plot
    strips = page.split('<div class="strips">')[1:]
    assert len(strips) > 10
    for drawn in strips:
        assert re.search(r'class="strip axis".*?<span class="strip-name">[^<]*(← better|better →)', drawn, re.DOTALL)


def test_the_results_are_in_the_page_as_data():
    found = comparison(run("a"), run("b", relink=0.5), FAILED)
    assert Elements(html_report(found)).data == json.loads(comparison_json(found))


@pytest.mark.parametrize("text", [*HOSTILE, "\u202e\u2066\u2028\x07\x1b[31m", "<!-- <script>"])
def test_no_value_ends_the_data_or_changes_in_it(text):
    found = comparison(run(text, text=text), text=text)
    page = html_report(found)
    block = page[page.index('<script type="application/json"') :]
    block = block[block.index(">") + 1 : block.index("</script>")]
    assert block.isascii()
    assert not set("<>&") & set(block)
    assert json.loads(block) == json.loads(comparison_json(found))


def test_of_many_attacks_above_a_limit_the_worst_is_named_and_the_others_are_folded():
    rows = verdicts(html_report(comparison(run("bad", relink=0.3, claim=0.9))))
    assert rows[0][6].index("Claim, plain") < rows[0][6].index("1 more") < rows[0][6].index("Relink, plain")


def test_figures_of_exposure_are_those_of_each_run():
    page = html_report(comparison(run("a"), run("b", exposure=exposed(own=3))))
    table = page[page.index("<h2>What of single people is readable") :]
    row = table[table.index("rows with an own text") :]
    assert re.findall(r">(\d[^<]*)<", row)[:4] == ["0.0%", "0 of 100", "3.0%", "3 of 100"]


def test_what_was_not_tested_is_said_once_for_all_runs_that_lacked_the_same():
    lacking = {"shape": "no times"}
    page = shown(run("a", not_run=lacking), run("b", not_run=lacking, nothing={"attribute": "no own text"}))
    assert page.text.count("no times all runs") == 1
    assert "Nothing to attack" in page.text
    assert "attribute no own text 2 b" in page.text


def test_an_attack_without_a_result_says_why():
    bare = run("b", attacks=())
    lacking, empty = replace(bare, not_run={"relink": "no times"}), replace(bare, nothing={"relink": "nobody"})
    for missing, cell in [(bare, "does not apply"), (lacking, "? not tested"), (empty, "nothing to attack")]:
        page = shown(run("a"), missing)
        start = page.text.index("adds at most relink, plain")
        assert f"1 a ✓ 8% 2 b {cell} " in page.text[start:][:80]


def test_tasks_are_shown_one_by_one_and_never_summed():
    page = html_report(comparison(run("a"), run("b", utility=(useful("topics", 0.2),))))
    assert "0.70 (0.60 to 0.80), better than blind" in page
    assert "0.05 (−0.05 to 0.15), no better than blind" in page  # noqa: RUF001
    assert "not tried" in page


def test_each_task_has_its_picture_of_risk_with_numbered_points():
    page = html_report(comparison(run("a"), run("b", relink=0.5), run("c", relink=0.9, utility=())))
    pictures = page[page.index("<h2>Usefulness") : page.index("What of single people")]
    assert pictures.count('<figure class="task">') == pictures.count('class="plot"') == 3
    topics = pictures[: pictures.index("</figure>")]
    badges = re.findall(r'<g class="badge (\w+)".*?<text[^>]*>([^<]*)</text>', topics)
    assert badges == [("fine", "1"), ("over", "2")]


def test_points_on_one_spot_share_a_label():
    one, other = (Point(n, 0.5, 0.5, "fine") for n in (1, 2))
    assert [(b.text, b.mark) for b in _badges([(9, 9, one), (11, 9, other)])] == [("1, 2", "fine")]


def test_points_that_are_judged_otherwise_keep_their_own_label_and_do_not_cover_each_other():
    one, other = Point(1, 0.5, 0.5, "fine"), Point(2, 0.5, 0.5, "over")
    above, below = sorted(_badges([(9, 9, one), (9, 9, other)]), key=lambda badge: badge.y)
    assert {above.text, below.text} == {"1", "2"}
    assert below.y - above.y >= 18


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
    table = page[page.index("<h2>The measures of the papers") : page.index("<h2>Groups of equal logs")]
    drawn = {name: bars.count('class="bar"') for name, bars in re.findall(r">(\w+) [↑↓]<(.*?)</tr>", table, re.DOTALL)}
    assert drawn == {"loss": 0, "kept": 2}
    assert "83.000" in table


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
    assert page.count("<script") == 1
    assert not re.search(r"(src|href)=(?!\"data:)", page)


@pytest.mark.parametrize("runs", [(), (FAILED,)])
def test_no_panel_is_empty_where_there_is_nothing_to_show(runs):
    page = html_report(comparison(*runs, topics={}, repeat=""))
    sections = re.findall(r"<section[^>]*>(.*?)</section>", page, re.DOTALL)
    assert len(sections) == len(SECTIONS)
    for section in sections:
        body = re.sub(r"<h2>.*?</h2>|<p class=\"(soft|asks)\">.*?</p>", "", section, flags=re.DOTALL)
        assert len(re.sub(r"<[^>]*>|\s", "", body)) > 10, section
    assert "<svg" not in page


def lossy(name, *values, method="clump", **more):
    """A run with information loss at two numbers of clusters, one draw per value."""
    scores = [
        Score(measure="information loss", value=v, better="lower", curve={2: v / 2, 5: v}, details={"clusters": 5.0})
        for v in values
    ]
    return run(name, scores=(scores[0],), draws=tuple((s,) for s in scores[1:]), **{"text": method, **more})


def test_information_loss_has_a_picture_per_method_with_its_spread():
    page = html_report(comparison(lossy("first", 30.0, 40.0), lossy("second", 20.0, 20.0), run("none", relink=0.5)))
    assert page.count('aria-label="Information loss by the number of clusters.') == 1
    text = Elements(page).text
    assert "1 first, 2 second" in text
    assert "A line is the mean over 2 releases" in text
    assert "Not drawn, since they publish no logs of people who could be clustered: 3 none." in text
    cells = re.findall(r"<td[^>]*>35.000<small>(.*?)</small>", page)
    assert cells == ["5 clusters; 30.000 to 40.000"]
    assert "<small>5 clusters</small>" in page  # no range where the draws agree


def test_information_loss_that_is_none_is_drawn_as_a_line_and_never_as_a_share():
    """A percentage that is 0 in all runs looked like a share from 0 to 1, and was drawn as a panel without bars."""
    page = html_report(comparison(lossy("first", 0.0), lossy("second", 0.0)))
    measures = page[page.index("<h2>The measures of the papers") : page.index("<h2>Groups of equal logs")]
    assert measures.count('class="line s') == 2
    assert 'class="bar"' not in measures
    assert "Each figure is the mean over" not in page


def test_lines_that_end_together_share_a_label():
    curves = {n: {2: Spread(v, v, v, 1)} for n, v in ((1, 50.0), (2, 51.0), (3, 52.0), (5, 80.0))}
    assert [label for _, _, label in _end_labels(curves)] == ["1-3", "5"]


def test_what_is_in_no_topic_is_explained_where_it_is_drawn():
    with_none = html_report(comparison(run("a"), topics={"Sports & Outdoors": 0.7, NO_TOPIC: 0.3}))
    assert f"{NO_TOPIC}: queries whose concept is too general, or of no topic." in with_none
    assert "Sports &amp; Outdoors" in with_none
    assert "too general" not in html_report(comparison(run("a"), topics={"Sports & Outdoors": 1.0}))
