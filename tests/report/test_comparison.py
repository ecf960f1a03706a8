from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest
from places import ROOT
from sample_attacks import found
from sample_releases import statement

from querycloak.evaluation.comparison import UTILITY, Comparison, Run, recommend
from querycloak.evaluation.comparison_files import comparison_csv, run_from_json, run_to_json
from querycloak.measures.score import Score
from querycloak.report.html import html_report, recommendation


def run(name, rate, divergence, **more):
    attack, counted = found("a", rate), found("b", 1.0, risk="count")
    score = Score(measure=UTILITY, value=divergence, better="lower")
    return Run(name=name, method="m", settings={"k": 2}, attacks=(attack, counted), scores=(score,), **more)


def comparison(*runs, max_risk=0.2):
    return Comparison(version="0", log={"rows": 1}, seed=1, max_risk=max_risk, repeat="", topics={}, runs=runs)


def test_only_attacks_that_name_users_are_the_risk():
    assert run("x", 0.1, 0).risk == 0.1


def test_the_most_useful_run_within_the_risk_is_recommended():
    runs = [run("risky", 0.9, 0.0), run("good", 0.2, 0.3), run("dull", 0.1, 0.6)]
    assert recommend(runs, 0.2).name == "good"
    assert recommend(runs, 0.15).name == "dull"
    assert recommend(runs, 0.05) is None


def test_of_runs_that_keep_as_much_the_safest_is_recommended():
    runs = [run("risky", 0.15, 0.0), run("safe", 0.02, 0.0004), run("dull", 0.01, 0.01)]
    assert recommend(runs, 0.2).name == "safe"


def test_neither_the_baseline_nor_an_empty_release_is_recommended():
    runs = [run("empty", 0.0, 1.0), run("base", 0.0, 0.0, baseline=True)]
    assert recommend(runs, 1.0) is None
    assert "do not publish" in recommendation(comparison(*runs))


def test_a_run_goes_to_json_and_back():
    made = run("x", 0.1, 0.2, group_sizes={3: 9}, seconds={"attack": 0.5})
    assert run_from_json(run_to_json(made)) == made
    assert run_from_json(b"{}") is None
    assert run_from_json(b"\xff") is None


def test_csv_has_one_line_per_number():
    text = comparison_csv(comparison(run("x", 0.1, 0.2), Run(name="y", method="m", settings={}, error="why, because")))
    assert 'y,m,error,,"why, because"' in text
    assert "x,m,attack,a,0.1" in text


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "</svg><iframe src=https://example.org>",
    '" onload="alert(1)',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}{# x #}",
    "]]><b>&amp;</b><!--",
]


class Elements(HTMLParser):
    """Collects the elements of a page, and the attributes that run something."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.handlers: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.handlers += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]

    def handle_data(self, data):
        self.texts.append(data)


def hostile_comparison(text):
    promised = dataclasses.replace(
        statement(), model=text, covers=(text,), settings={text: text}, parameters={text: 1}, dropped={text: 3}
    )
    attack = found(text, 0.1, knows=text, bound=0.5)
    scores = (
        Score(measure=UTILITY, value=0.1, better="lower"),
        Score(measure=text, value=0.5, better="higher"),
    )
    made = Run(
        name=text, method=text, settings={"k": 2}, attacks=(attack,), scores=scores, statement=promised,
        seconds={text: 1.0}, group_sizes={2: 4}, topics={text: 0.5},
    )  # fmt: skip
    failed = Run(name=text + "2", method=text, settings={}, error=text)
    return Comparison(
        version=text, log={text: 1}, seed=1, max_risk=0.2, repeat=text, topics={text: 0.4}, runs=(made, failed)
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_shown_and_never_run(text):
    page = html_report(hostile_comparison(text))
    found, plain = Elements(), Elements()
    found.feed(page)
    plain.feed(html_report(hostile_comparison("harmless")))
    assert found.names <= plain.names
    assert found.handlers == []
    assert "".join(found.texts).count(text) >= 15


def test_no_template_switches_escaping_off():
    for path in (ROOT / "src/querycloak/report/templates").iterdir():
        assert not re.search(r"\|\s*safe|autoescape|Markup", path.read_text())


def test_the_page_forbids_scripts_and_requests():
    page = html_report(comparison(run("x", 0.1, 0.2)))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "<script" not in page


def test_a_comparison_in_which_all_failed_still_has_a_page():
    page = html_report(comparison(Run(name="x", method="m", settings={}, error="too few users")))
    assert "failed: too few users" in page


def test_labels_that_would_stand_on_each_other_are_left_out():
    near = [run(f"n{i}", 0.1 + i / 1000, 0.02) for i in range(5)]
    page = html_report(comparison(run("far", 0.5, 0.9), *near))
    assert page.count(">k=2<") == 2
