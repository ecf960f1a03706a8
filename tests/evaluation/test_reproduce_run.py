"""Running the cells of a paper: each is run once, plotted where it belongs, and kept after an interruption."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from samples import sample_log

import querycloak as qc
from querycloak.errors import OutputError, ParameterError, UserError
from querycloak.evaluation.reproduce import run as running
from querycloak.evaluation.reproduce.judging import falls, found_if
from querycloak.evaluation.reproduce.paper import Axis, Cell, Figure, Finding, Paper, Spot
from querycloak.evaluation.reproduce.run import reproduce
from querycloak.evaluation.reproduce.source import sampled
from querycloak.evaluation.workbench import Workbench
from querycloak.generator.draws import generated_logs
from querycloak.knowledge.taxonomy import Taxonomy


def cells(scale):
    kept = {"measures": ("kept",)}
    out = [
        Cell(
            "sweep",
            {"as_in_paper": False, "min_query_users": m},
            (Spot("fig-1", "sweep", m, "kept"),),
            users=scale.users // 2,
            **kept,
        )
        for m in (1, 3, 9)
    ]
    out.append(
        Cell(
            "sweep",
            {"as_in_paper": False, "min_query_users": 3},
            (Spot("fig-2", "sweep", 3, "kept"),),
            users=scale.users // 2,
            **kept,
        )
    )
    out.append(Cell("click-graph-removal", {}, (Spot("fig-2", "clicks", 1, "kept"),), clicks=True, **kept))
    out.append(
        Cell(
            "sweep",
            {"as_in_paper": False, "famous": lambda bench: len(bench.log)},
            (Spot("fig-2", "half", 1, "kept"),),
            part="half",
            **kept,
        )
    )
    return out


def half(bench):
    return bench.log.take(np.arange(len(bench.log) // 2))


TOY = Paper(
    name="toy",
    cite="A toy",
    figures=(
        Figure("fig-1", "Fig. 1", "kept", Axis("m"), Axis("kept", percent=True), ("sweep",)),
        Figure("fig-2", "Fig. 2", "more", Axis("x"), Axis("kept"), ("sweep", "clicks", "half"), kind="bars"),
    ),
    findings=(
        Finding("Less is kept.", "Fig. 1", lambda r: found_if(falls(r.line("fig-1", "sweep")), "it falls")),
        Finding("Clicks.", "Fig. 2", lambda r: found_if(r.line("fig-2", "clicks")[1].mean > 0, "some")),
    ),
    cells=cells,
    read=lambda measure, scores: scores.get({"kept": "volume kept"}[measure]),
    users=1_000,
    least_users=10,
    quick_users=12,
    queries_per_user=5,
    parts={"half": half},
)


def source(log=None, users=None):
    return sampled(Workbench(sample_log() if log is None else log), TOY, users)


def count_runs(monkeypatch, stop_after=None):
    """Count the cells that are run; after so many, interrupt."""
    ran = []

    def run_cell(bench, cell, seed, *, warm):
        if stop_after is not None and len(ran) == stop_after:
            raise KeyboardInterrupt
        ran.append((cell.name, seed))
        return before(bench, cell, seed, warm=warm)

    before = running.run_cell
    monkeypatch.setattr(running, "run_cell", run_cell)
    return ran


def test_the_same_run_is_done_once_and_plotted_in_every_figure(tmp_path, monkeypatch):
    ran = count_runs(monkeypatch)
    found = reproduce(TOY, source(), tmp_path, draws=2)
    assert len(ran) == 2 * 5  # six cells, two of them the same run
    assert found.seeds == (1, 2)
    kept = found.results.line("fig-1", "sweep")
    assert kept[3].mean == found.results.line("fig-2", "sweep")[3].mean
    assert [o.verdict for o in found.outcomes] == ["found", "found"]
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    of_three = [r for r in rows if (r["figure"], r["x"]) == ("Fig. 1", "3")]
    assert [r["draw"] for r in of_three] == ["1", "2", "mean"]
    mean = sum(float(r["value"]) for r in of_three[:2]) / 2
    assert float(of_three[2]["value"]) == pytest.approx(mean)
    assert float(of_three[2]["low"]) <= mean <= float(of_three[2]["high"])


def test_after_an_interruption_the_same_call_goes_on(tmp_path, monkeypatch):
    whole = reproduce(TOY, source(), tmp_path / "whole", draws=2)
    with monkeypatch.context() as patch:
        first = count_runs(patch, stop_after=4)
        with pytest.raises(KeyboardInterrupt):
            reproduce(TOY, source(), tmp_path / "cut", draws=2)
        assert len(first) == 4
    assert not (tmp_path / "cut" / "results.csv").exists()
    then = count_runs(monkeypatch)
    found = reproduce(TOY, source(), tmp_path / "cut", draws=2)
    assert len(then) == 6
    assert not set(first) & set(then)
    assert found.results.draws == whole.results.draws
    assert (tmp_path / "cut" / "results.csv").read_bytes() == (tmp_path / "whole" / "results.csv").read_bytes()
    assert len(list((tmp_path / "cut" / "cells").iterdir())) == 10


def test_another_seed_log_or_setting_is_another_run_and_a_damaged_file_is_run_again(tmp_path, monkeypatch):
    reproduce(TOY, source(), tmp_path, draws=1)
    ran = count_runs(monkeypatch)
    reproduce(TOY, source(), tmp_path, draws=1)
    assert ran == []
    next((tmp_path / "cells").iterdir()).write_text("{")
    reproduce(TOY, source(), tmp_path, draws=1)
    assert len(ran) == 1
    reproduce(TOY, source(sample_log(users=25)), tmp_path, draws=1)
    assert len(ran) == 6
    reproduce(TOY, source(), tmp_path, draws=1, seed=2)
    assert len(ran) == 11
    reproduce(TOY, source(users=20), tmp_path, draws=1)
    assert len(ran) == 16


def test_draws_of_a_sample_have_other_users_and_those_of_a_whole_log_all(tmp_path):
    few = source(users=12)
    one, two = (set(few.make(seed).log.user.tolist()) for seed in (1, 2))
    assert len(one) == len(two) == 12
    assert one != two
    assert set(few.make(1).log.user.tolist()) == one
    everybody = source()
    assert everybody.make(1) is everybody.make(2)
    assert "24 users" in everybody.says


def test_a_log_without_clicks_leaves_out_what_needs_them(tmp_path):
    log = replace(sample_log(), url=None, urls=None)
    found = reproduce(TOY, source(log), tmp_path, draws=1)
    assert [o.verdict for o in found.outcomes] == ["found", "not testable here"]
    assert found.outcomes[1].figures == "the log has no clicks"
    assert list(found.not_run.values()) == ["the log has no clicks"]


def test_a_method_that_refuses_the_log_is_told(tmp_path):
    paper = replace(TOY, cells=lambda _: [Cell("clump", {"k": 99}, (Spot("fig-1", "sweep", 1, "kept"),))])
    found = reproduce(paper, source(), tmp_path, draws=1)
    assert "99" in found.outcomes[0].figures
    assert found.outcomes[0].verdict == "not testable here"


def test_a_log_that_is_too_small_and_wrong_numbers_are_refused(tmp_path):
    with pytest.raises(UserError, match="toy needs 10 users or more for its largest k; there are 4"):
        source(sample_log(users=4))
    with pytest.raises(UserError, match="the log has 24 users"):
        source(users=25)
    with pytest.raises(UserError, match="needs 10 users"):
        generated_logs(TOY, Workbench(sample_log()).taxonomy, 5)
    with pytest.raises(ParameterError, match="--draws must be an integer >= 1, got 0"):
        reproduce(TOY, source(), tmp_path, draws=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is not a directory"):
        reproduce(TOY, source(), tmp_path / "file", draws=1)


def test_a_generated_log_is_another_one_in_each_draw(tmp_path):
    food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
    logs = generated_logs(replace(TOY, generated_users=12), food, None)
    one, two = logs.make(1).log, logs.make(2).log
    assert len(one.users) == len(two.users) == 12
    assert one.queries.to_list() != two.queries.to_list()
    assert "no real person" in logs.says


def test_queries_are_read_as_the_papers_do_unless_told_otherwise(monkeypatch, tmp_path):
    """Runs of one mapping are not taken for those of the other."""
    seen = []

    class StoppedError(Exception):
        pass

    def stop(paper, source, *args, **kwargs):
        seen.append((source.make(1).mapping, source.mark, source.says.rsplit(" ", 1)[1]))
        raise StoppedError

    monkeypatch.setattr("querycloak.evaluation.reproduce.run.reproduce", stop)
    for log in (None, sample_log(users=60)):
        for paper, given in (("sanchez-2018", {}), ("sanchez-2018", {"mapping": "segments"})):
            with pytest.raises(StoppedError):
                qc.reproduce(paper, log, output=tmp_path, users=60 if log is None else None, **given)
    assert [(mapping, says) for mapping, _, says in seen] == [(m, m) for m in ("phrases", "segments")] * 2
    assert len({mark for _, mark, _ in seen}) == 4
    with pytest.raises(StoppedError):
        qc.reproduce("milani-fard-2010", output=tmp_path, users=200)
    assert seen[-1][0] == "segments"  # its items are all nouns


def test_progress_says_how_long_it_will_take(tmp_path):
    notes = []

    class Told:
        def start(self, step, total=None):
            notes.append(f"{step} {total}")

        def advance(self, units=1):
            pass

        def note(self, text):
            notes.append(text)

    reproduce(TOY, source(), tmp_path, draws=2, progress=Told())
    assert notes[0] == "toy: 10 runs 10"
    assert "[1/10] sweep" in notes[1]
    assert "s left" in notes[1]
    assert "left" not in notes[-1]
    notes.clear()
    reproduce(TOY, source(), tmp_path, draws=2, progress=Told())
    assert notes[0] == "10 of 10 runs were done before"
