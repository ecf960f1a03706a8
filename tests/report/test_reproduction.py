"""The page and the pictures of a reproduction."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from querycloak.evaluation.reproduce.paper import Absent, Axis, Figure, Finding, Outcome, Paper, Reported
from querycloak.evaluation.reproduce.results import Place, Results
from querycloak.evaluation.reproduce.run import Reproduction
from querycloak.report.plots import draw
from querycloak.report.reproduction import reproduction_page, write_reproduction
from querycloak.report.reproduction_charts import panel_plot

PAPER = Paper(
    name="toy",
    cite="A <toy> & more",
    figures=(
        Figure(
            "fig-1", "Fig. 1", "lines", Axis("k"), Axis("rate", percent=True), ("one", "two"),
            reported=(Reported("one", 3, 0.5, "a"),),
        ),
        Figure("fig-2", "Fig. 2", "bars", Axis("k"), Axis("loss"), ("one",), kind="bars"),
        Figure("fig-3", "Fig. 3", "logs", Axis("k", scale="log"), Axis("loss", scale="log"), ("one", "two")),
        Figure("table-1", "Table 1", "a table", Axis("k"), Axis("users"), ("one",), kind="table"),
        Figure("fig-4", "Fig. 4", "nothing", Axis("k"), Axis("y"), ("one",)),
    ),
    findings=(Finding("It <falls>.", "Fig. 1"), Finding("It rises.", "Fig. 2")),
    cells=lambda _: [],
    read=lambda *_: None,
    users=10,
    least_users=1,
    quick_users=5,
    queries_per_user=1,
    absent=(Absent("Fig. 9", "it needs a search engine"),),
)  # fmt: skip


def found(draws=2):
    results = Results(reasons={("fig-4", "one"): "the log has no clicks"})
    for number in range(1, draws + 1):
        for x in (3, 10, 3000):
            for panel in ("a", "b"):
                results.add(Place("fig-1", panel, "one", x), number, 1 / x + number / 100)
            results.add(Place("fig-1", "b", "two", x), number, 2 / x)
            results.add(Place("fig-2", "", "one", x), number, x + number)
            results.add(Place("fig-3", "", "one", x), number, x * 1.0)
            results.add(Place("fig-3", "", "two", x), number, 0.0)  # not to be drawn on this scale
            results.add(Place("table-1", "", "one", x), number, x)
    return Reproduction(
        paper=PAPER, version="1", log="a log", users=10, seeds=tuple(range(1, draws + 1)), quick=True, results=results,
        outcomes=(Outcome("found", "3 % < 5 %"), Outcome("not testable here", "no clicks")),
        not_run={"clump": "too small"}, seconds=1.0, repeat="querycloak reproduce toy -o x",
    )  # fmt: skip


def test_the_page_says_what_was_found_and_that_it_is_internal():
    page = reproduction_page(found())
    for part in (
        "Internal",
        "Neither this page nor anything behind it is for release.",
        "1 found, 0 not found, 1 not testable here",
        "A &lt;toy&gt; &amp; more",
        "It &lt;falls&gt;.",
        "3 % &lt; 5 %",
        "it needs a search engine",
        "Not testable here: one: the log has no clicks.",
        "too small",
        "querycloak reproduce toy -o x",
        "Seeds: 1, 2",
        "Quick run",
        "95 % interval",
        "paper: 50 %",
    ):
        assert part in page
    assert "<script" not in page
    assert "interval" not in reproduction_page(found(draws=1)).split("How to read it")[1]


def test_every_picture_is_a_file_too(tmp_path):
    names = [path.name for path in write_reproduction(found(), tmp_path)]
    assert names == ["reproduction.html", "fig-1-1.svg", "fig-1-2.svg", "fig-2.svg", "fig-3.svg"]
    for name in names[1:]:
        drawn = ET.fromstring((tmp_path / name).read_text())
        assert drawn.tag.endswith("svg")
        assert "#fff" in drawn.attrib["style"]
        assert float(drawn.attrib["width"]) > 100
        texts = {e.text for e in drawn.iter() if e.tag.endswith("text")}
        assert "k" in texts


def test_a_picture_names_the_series_it_has():
    some = found()
    one = str(draw(panel_plot(PAPER.figures[0], some.results, "a")))
    both = str(draw(panel_plot(PAPER.figures[0], some.results, "b")))
    assert ">two<" not in one
    assert ">two<" in both
    assert panel_plot(PAPER.figures[4], some.results, "") is None
    assert len(set(re.findall(r'class="line (s\d)"', both))) == 2
    assert re.findall(r'class="line (s\d)"', one) == ["s0"]  # the same colour in both
    empty = replace(some, results=Results())
    assert "Fig. 1" in reproduction_page(empty)


def test_a_value_is_drawn_where_it_is():
    """Fig. 1 of the panel a: three values of k on a linear axis, the lowest mean at the bottom, the highest on top."""
    plot = panel_plot(PAPER.figures[0], found().results, "a")
    line = next(mark for mark in plot.marks if type(mark).__name__ == "Line" and mark.kind == "line")
    xs, ys = zip(*line.points, strict=True)
    assert xs[0] < xs[1] < xs[2]
    assert ys[0] < ys[1] < ys[2] <= plot.bottom  # 1 / k falls, and y goes down
    assert next(text for _, text in plot.y_ticks) == "0%"
    near, far = xs[1] - xs[0], xs[2] - xs[1]
    assert abs(far / near - (3000 - 10) / (10 - 3)) < 0.2 * far / near  # rounded to a tenth of a pixel
    logs = panel_plot(PAPER.figures[2], found().results, "")
    xs, _ = zip(*next(m for m in logs.marks if type(m).__name__ == "Line" and m.kind == "line").points, strict=True)
    assert abs((xs[2] - xs[1]) / (xs[1] - xs[0]) - math.log(300) / math.log(10 / 3)) < 0.05


def test_a_hollow_diamond_is_the_value_of_the_paper():
    plot = panel_plot(PAPER.figures[0], found().results, "a")
    hollow = [mark for mark in plot.marks if type(mark).__name__ == "Dot" and mark.hollow]
    assert [(mark.x, mark.y) for mark in hollow] == [(plot.x.at(3), plot.y.at(0.5))]
