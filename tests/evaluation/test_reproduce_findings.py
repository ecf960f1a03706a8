"""Findings of the papers on made-up results: each is found where the paper is right, and not where it is wrong."""

from __future__ import annotations

import pytest
from made_up_results import MADE_UP, judged

from querycloak.errors import UnknownNameError
from querycloak.evaluation.reproduce.judging import all_below, falls, found_if, ordered, rises
from querycloak.evaluation.reproduce.paper import Finding, Outcome, Scale
from querycloak.evaluation.reproduce.papers import PAPERS, find_paper
from querycloak.evaluation.reproduce.results import MissingError, Place, Results, summary_of
from querycloak.evaluation.reproduce.run import judge

ALWAYS = {
    "No record leaves under the user that asked it.",  # the gate refuses any other release
    "At depth 1 the rates agree with 1/k by the test of Kolmogorov and Smirnov.",  # three k are too few to tell
}


def lines(values):
    return {float(x): summary_of([v]) for x, v in enumerate(values)}


@pytest.mark.parametrize("name", MADE_UP)
def test_every_finding_is_found_where_the_paper_is_right(name):
    verdicts = judged(name, MADE_UP[name][0])
    assert {says for says, verdict in verdicts.items() if verdict == "not found"} == set()
    assert "found" in verdicts.values()


@pytest.mark.parametrize("name", MADE_UP)
def test_no_finding_is_found_where_the_opposite_holds(name):
    verdicts = judged(name, MADE_UP[name][1])
    assert {says for says, verdict in verdicts.items() if verdict == "found"} <= ALWAYS


def test_rates_that_are_far_from_the_bound_do_not_agree_with_it():
    paper = find_paper("pamies-2023")
    results = Results()
    for k in (3, 5, 10, 20, 30, 50, 70, 90, 120, 150, 200):
        results.add(Place("fig-6", "current proposal, de-anonymizer 2", "depth 1", k), 1, 0.0001 / k)
    finding = next(f for f in paper.findings if "Kolmogorov" in f.says)
    assert judge(finding, results).verdict == "not found"


def test_what_was_not_run_cannot_be_tested():
    results = Results(reasons={("fig-3", "Clump1"): "the log has no nouns"})
    results.add(Place("fig-3", "", "Partition", 5), 1, 2.0)
    finding = Finding("x", "y", lambda found: all_below(found, "fig-3", "Clump1", "Partition"))
    assert judge(finding, results) == Outcome("not testable here", "the log has no nouns")
    assert judge(Finding("x", "y", why_not="no search engine"), results).figures == "no search engine"


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_says_what_it_could_not_repeat(name):
    paper = find_paper(name)
    assert paper.name == name
    keys = {figure.key for figure in paper.figures}
    for quick in (True, False):
        for cell in paper.cells(Scale(paper.users, quick=quick)):
            assert cell.spots
            for spot in cell.spots:
                assert spot.figure in keys
                assert spot.series in paper.figure(spot.figure).series, spot
    for finding in paper.findings:
        assert finding.judge is not None or finding.why_not
        assert finding.says.endswith(".")
    for figure in paper.figures:
        assert {r.series for r in figure.reported} <= set(figure.series)


def test_an_unknown_paper_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'batet-2013'"):
        find_paper("batet-2014")


def test_falls_and_rises_bear_one_value_out_of_order_among_ten():
    assert falls(lines([9, 8, 7, 6, 5, 4, 2, 3, 1, 0]))
    assert not falls(lines([3, 1, 2]))
    assert rises(lines([1, 2, 3]))
    assert not rises(lines([1, 1, 1]))
    assert not rises(lines([1]))


def test_ordered_compares_means_over_all_panels():
    results = Results()
    for panel in ("a", "b"):
        for x, (low, high) in enumerate([(1, 5), (4, 3)]):
            results.add(Place("f", panel, "low", x), 1, low)
            results.add(Place("f", panel, "high", x), 1, high)
    assert ordered(results, "f", ("low", "high")).verdict == "found"
    assert ordered(results, "f", ("high", "low")).verdict == "not found"
    assert all_below(results, "f", "low", "high").verdict == "not found"
    assert "2 of 4" in all_below(results, "f", "low", "high").figures
    assert found_if(True, "x") == Outcome("found", "x")


def test_one_draw_has_no_interval_and_three_have_students():
    assert summary_of([2.0]).low is None
    # t(0.975, 2) = 4.3027; deviation 1, n = 3
    assert summary_of([1.0, 2.0, 3.0]).high == pytest.approx(2 + 4.3027 / 3**0.5, abs=1e-4)
    with pytest.raises(MissingError):
        Results().line("f", "s")
