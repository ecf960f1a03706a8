"""The set-ups of the papers: which methods, axes and measures are run, next to what the papers say."""

from __future__ import annotations

import itertools

import pytest

from querycloak.evaluation.reproduce.batet_2013 import read as read_batet
from querycloak.evaluation.reproduce.pamies_2023 import by_time
from querycloak.evaluation.reproduce.pamies_2023 import read as read_pamies
from querycloak.evaluation.reproduce.paper import Scale
from querycloak.evaluation.reproduce.papers import find_paper
from querycloak.evaluation.reproduce.run import DRAWS
from querycloak.evaluation.reproduce.sanchez_2018 import about_topics, most_units
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog


def plotted(name, figure):
    """Return where a whole run of the paper's size has values in a figure: {(panel, series, x)}."""
    paper = find_paper(name)
    cells = paper.cells(Scale(paper.users))
    return {(s.panel, s.series, s.x) for cell in cells for s in cell.spots if s.figure == figure}


def cells_of(name, figure, series):
    paper = find_paper(name)
    return [
        c for c in paper.cells(Scale(paper.users)) if any((s.figure, s.series) == (figure, series) for s in c.spots)
    ]


def test_batet_has_six_methods_with_k_2_to_7_d_to_20_and_kp_to_40() -> None:
    grouping = ["our proposal", "non-semantic", "Navarro-Arribas et al.", "Erola et al."]
    expected = set(itertools.product(["by k"], grouping, range(2, 8)))
    expected |= {("by d", "Korolova et al.", d) for d in (1, 5, 10, 15, 20)}
    expected |= {("by Kp", "Poblete et al.", kp) for kp in (2, 5, 10, 20, 30, 40)}
    assert plotted("batet-2013", "fig-2") == plotted("batet-2013", "fig-3") == expected
    (first, *_) = cells_of("batet-2013", "fig-2", "Korolova et al.")
    assert first.settings == {"choose": "korolova", "per_user": 1, "output_form": "log"}
    paper = find_paper("batet-2013")
    assert (paper.users, paper.users * paper.queries_per_user) == (1_000, 56_000)


def test_l_rl_and_what_is_removed_are_read_as_batet_has_them() -> None:
    """RL over all users, and not over those who are left; a user of whom nothing is left is emptied."""
    scores = {
        "information loss": 35.0,
        "information loss: at 80": 30.0,
        "record-linkage": 0.8,
        "record-linkage, all users": 0.2,
        "volume kept": 0.06,
        "users": 1_000.0,
        "published users": 540.0,
    }
    found = {measure: read_batet(measure, scores) for measure in ("L", "RL", "removed", "emptied")}
    assert found == pytest.approx({"L": 30, "RL": 20, "removed": 0.94, "emptied": 0.46})


def test_milani_fard_has_four_k_three_sizes_and_five_r() -> None:
    sizes = [f"|D| = {size}" for size in ("1,000", "10,000", "53,058")]
    expected = set(itertools.product(sizes, ["Clump1", "Clump2", "Partition"], (5, 7, 10, 15)))
    for figure in ("fig-3", "fig-4", "fig-5"):
        assert plotted("milani-fard-2010", figure) == expected
    assert plotted("milani-fard-2010", "fig-6") == {("", "Clump1", r) for r in (5, 10, 30, 50, 100)}
    at = (1_000, 10_000, 20_000, 30_000, 40_000, 53_058)
    assert plotted("milani-fard-2010", "fig-7") == set(itertools.product([""], ["Clump", "Partition"], at))
    assert all(cell.timed for cell in cells_of("milani-fard-2010", "fig-7", "Clump"))
    assert {c.settings.get("duplicates") for c in cells_of("milani-fard-2010", "fig-3", "Clump2")} == {"drop"}
    assert all(cell.settings["prune"] for cell in cells_of("milani-fard-2010", "fig-3", "Partition"))


def test_sanchez_has_all_criteria_in_a_b_c_and_d_as_p_with_the_weights_of_equation_3() -> None:
    criteria = ["SQC1", "SQC2", "NSQC", "HBDP"]
    series = [name + end for name in criteria for end in ("", ", D = P")]
    panels = ["ε for each query", "ε for each user (Proposition 3)"]
    expected = set(itertools.product(panels, series, (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)))
    domains = {"fig-2": ("topics", "paper"), "fig-3": ("one", "paper"), "fig-4": ("one", "paper")}
    for figure, domain in domains.items():
        assert plotted("sanchez-2018", figure) == expected
        for cell in cells_of("sanchez-2018", figure, "SQC2"):
            assert (cell.settings["shape"], cell.settings["weights"]) == ("paper", "paper")
            assert (cell.settings["domain"], cell.settings["topics"]) == domain
    assert {c.settings["topics"] for c in cells_of("sanchez-2018", "fig-2", "SQC2, D = P")} == {"paper-fine"}
    assert {c.settings["sensitivity"] for c in cells_of("sanchez-2018", "fig-2", "HBDP")} == {"paper"}
    assert DRAWS == 3
    assert find_paper("sanchez-2018").users == 1_000


def test_queries_that_are_not_about_the_four_topics_alone_are_left_out() -> None:
    log = QueryLog.of(["a", "a", "b", "b"], ["asthma", "tennis asthma", "asthma car", "zzzqqq"])
    kept = about_topics(Workbench(log))
    assert kept.queries.gather(kept.query).to_list() == ["asthma", "tennis asthma"]
    assert most_units(Workbench(kept)) == 3


def test_pamies_has_every_k_with_every_depth_for_both_proposals() -> None:
    ks, depths = (3, 5, 10, 20, 30, 50, 70, 90, 120, 150, 200), range(1, 12)
    both = ["previous proposal", "current proposal"]
    series = [f"depth {depth}" for depth in depths]
    for figure in ("fig-8", "fig-11", "fig-14"):
        assert plotted("pamies-2023", figure) == set(itertools.product(both, series, ks))
    attackers = ["de-anonymizer 1", "de-anonymizer 2"]
    assert plotted("pamies-2023", "fig-12") == set(itertools.product(attackers, series, ks))
    shares = set(itertools.product(both, [f"k = {k}" for k in ks], depths))
    assert plotted("pamies-2023", "fig-9-share") == shares


def test_times_of_pamies_are_microseconds_per_record() -> None:
    scores = {
        "rows": 1_000.0,
        "seconds": 0.002,
        "attack: stream linkage, seconds of 1": 0.003,
        "attack: stream linkage, seconds of 2": 0.005,
    }
    assert [read_pamies(m, scores) for m in ("time", "time, simple", "time, full")] == pytest.approx([2, 3, 5])


def test_a_stream_enters_by_time() -> None:
    log = QueryLog.of(["a", "b", "c"], ["x", "y", "z"], times=[9, 5, 5])
    assert by_time(Workbench(log)).time.tolist() == [5, 5, 9]
