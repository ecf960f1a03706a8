"""The experiments of Erola and Castellà-Roca: findings on made-up values, the parts of a log, and a quick run."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import querycloak as qc
from querycloak.evaluation.reproduce.cell_result import run_cell
from querycloak.evaluation.reproduce.erola_castella import PAPER, RUNS, SERIES, most_alike, with_site
from querycloak.evaluation.reproduce.erola_castella_findings import LENGTH, NEW, NEW_BAGS, OLD, OLD_BAGS, RANDOM
from querycloak.evaluation.reproduce.paper import Cell, Scale
from querycloak.evaluation.reproduce.results import Place, Results
from querycloak.evaluation.reproduce.run import judge
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.directory import SiteDirectory
from querycloak.logs.query_log import QueryLog

LEVELS, KS = (1, 3, 5), (2, 5, 10)
OURS = "In our reading: "
TOPICS = ["tea", "car", "dog", "music", "bread", "garden"]


def made_up(gain=0.08, more_when_alike=0.12, by_level=-0.05, by_k=-0.01, over_control=0.1, alike=0.05, smallest=0):
    """Values as the paper has them; arguments change what its sentences are about."""
    results = Results()
    for figure, panel, k in itertools.product(("fig-2", "fig-2-strict", "fig-3", "fig-3-strict"), LEVELS, KS):
        old = 0.7 + by_level * panel + by_k * k + (alike if "3" in figure else 0)
        new = old + gain + (more_when_alike if "3" in figure else 0)
        values = {
            NEW: new,
            OLD: old,
            NEW_BAGS: new,
            OLD_BAGS: old,
            RANDOM: new - over_control,
            LENGTH: new - over_control,
        }
        for series, value in values.items():
            results.add(Place(figure, f"L = {panel}", series, k), 1, value)
    for series, k in itertools.product((NEW, OLD), KS):
        results.add(Place("groups", "", f"smallest group, {series}", k), 1, k + smallest)
        results.add(Place("groups", "", f"largest group, {series}", k), 1, 2 * k - 1)
        results.add(Place("linkage", "", series, k), 1, 1 / k)
    return results


def verdict(says: str, results: Results) -> str:
    finding = next(f for f in PAPER.findings if f.says.startswith(says))
    return judge(finding, results).verdict


def test_what_the_paper_found_is_found() -> None:
    judged = [judge(finding, made_up()).verdict for finding in PAPER.findings if finding.judge is not None]
    assert judged == ["found"] * 17


@pytest.mark.parametrize("reading", ["", OURS])
@pytest.mark.parametrize(
    ("says", "changed"),
    [
        ("The new method gets about 10 %", {"gain": 0.01}),
        ("The new method gets about 10 %", {"gain": 0.3}),
        ("It is better at every depth and every k", {"gain": -0.01}),
        ("It is better at every depth and every k", {"gain": 0.0}),
        ("SRP is higher at the upper levels", {"by_level": 0.01}),
        ("The larger k", {"by_k": 0.0}),
        ("For the 100 most similar users", {"more_when_alike": -0.04}),
        ("The more alike users are, the better", {"more_when_alike": 0.0, "alike": -0.01}),
        ("The more alike users are, the more", {"more_when_alike": 0.01}),
        ("The more alike users are, the more", {"gain": -0.2, "more_when_alike": 0.1}),
        ("The more alike users are, the more", {"gain": 0.001, "more_when_alike": 0.005}),
        ("Groups of users who share most", {"over_control": 0.0}),
    ],
)
def test_what_is_not_there_is_not_found(reading, says, changed) -> None:
    assert verdict(reading + says, made_up()) == "found"
    assert verdict(reading + says, made_up(**changed)) == "not found"


def test_our_reading_looks_at_its_own_series() -> None:
    results = made_up()
    for place in [p for p in results.draws if p.series in {NEW, OLD} or not p.figure.endswith("-strict")]:
        if place.figure.startswith("fig"):
            del results.draws[place]
    assert verdict("It is better", results) == "not testable here"
    assert verdict(OURS + "It is better", results) == "found"


def test_a_group_that_is_too_small_and_a_link_that_is_too_sure_are_noticed() -> None:
    hidden = "Every user is hidden"
    assert verdict(hidden, made_up(smallest=-1)) == "not found"
    results = made_up()
    results.add(Place("linkage", "", OLD, 5), 2, 0.21)
    assert verdict(hidden, results) == "not found"


def test_every_series_has_a_value_at_each_depth_and_k() -> None:
    cells = PAPER.cells(Scale(840))
    for figure in ("fig-2", "fig-2-strict", "fig-3", "fig-3-strict"):
        plotted = [(s.series, s.panel, s.x) for c in cells for s in c.spots if s.figure == figure]
        assert sorted(plotted) == sorted(
            itertools.product(SERIES, [f"L = {level}" for level in range(1, 6)], (2, 3, 5, 10))
        )
    assert all(
        c.settings["similarity"] == RUNS[s.series][1]["similarity"] for c in cells for s in c.spots if s.series in RUNS
    )


def crowd(users=100, queries=12, seed=1) -> tuple[QueryLog, SiteDirectory]:
    """Two kinds of people who take turns in the log; everybody asks for everything, but one half of it more often."""
    rng = np.random.default_rng(seed)
    sites = [f"{topic}{i}.example" for topic in TOPICS for i in range(4)]
    paths = [f"Top/{topic[0]}/{topic}/{topic} {i}/more/most" for topic in TOPICS for i in range(4)]
    who, asked, clicked = [], [], []
    for user in range(users):
        weight = np.repeat([9.0, 1.0] if user % 2 else [1.0, 9.0], 12)
        for site in rng.choice(24, size=queries, p=weight / weight.sum()):
            who.append(f"u{user}")
            asked.append(f"{TOPICS[site // 4]} shop {site}")
            clicked.append(f"http://{sites[site]}/")
    clicked[0] = None
    return QueryLog.of(who, asked, urls=clicked), SiteDirectory.of(sites, paths)


def test_queries_without_a_site_are_left_out() -> None:
    log, sites = crowd()
    found = with_site(Workbench(log, directory=sites))
    assert len(found) == len(log) - 1
    assert with_site(Workbench(log)) is log  # without a directory nothing is known, and the runs say so


def test_the_most_similar_users_are_those_who_share_most_categories() -> None:
    log, sites = crowd(queries=2)
    rich, _ = crowd(users=20, queries=40)
    both = QueryLog.of(
        [*log.users.gather(log.user), *("rich" + rich.users.gather(rich.user))],
        [*log.queries.gather(log.query), *rich.queries.gather(rich.query)],
        urls=[*log.urls.gather(np.maximum(log.url, 0)), *rich.urls.gather(np.maximum(rich.url, 0))],
    )
    found = most_alike(Workbench(both, directory=sites))
    assert set(found.users.gather(np.unique(found.user))) == set("rich" + rich.users)


def test_a_blind_method_groups_in_the_order_of_the_log() -> None:
    """The control: without categories all users are alike, and the two kinds, which take turns, are mixed."""
    log, sites = crowd(users=40, queries=40)
    bench = Workbench(with_site(Workbench(log, directory=sites)), directory=sites)
    srp = {}
    for blind in (False, True):
        cell = Cell("url-microaggregation", {"k": 2, "similarity": "bags"}, (), measures=("srp",), blind=blind)
        found = run_cell(bench, cell, 1, warm=True)
        assert found.error is None
        assert found.values["statement: smallest group"] == 2
        srp[blind] = found.values["semantics that remain, one for one: level 2"]
    assert srp[False] > srp[True] + 0.2


@pytest.mark.slow
def test_a_quick_run(tmp_path) -> None:
    log, sites = crowd()
    found = qc.reproduce("erola-castella", log, output=tmp_path, quick=True, draws=1, directory=sites)
    assert not found.not_run
    judged = {finding.says: outcome for finding, outcome in found.judged}
    assert judged["Every user is hidden among k - 1 others; groups have k to 2k - 1 users."].verdict == "found"
    above = next(o for says, o in judged.items() if says.startswith(OURS + "Groups of users who share most"))
    assert above.verdict == "found", above.figures
    page = (tmp_path / "reproduction.html").read_text()
    assert "Fig. 3, one for one" in page
    assert (tmp_path / "fig-2-1.svg").exists()
    without = qc.reproduce("erola-castella", log, output=tmp_path / "none", quick=True, draws=1)
    assert {o.verdict for o in without.outcomes} == {"not testable here"}
