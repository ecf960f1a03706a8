"""Several draws of a run: the spread of the papers' measures when only the seed changes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from evaluation.test_mapping_choice import LOG, TREE
from sample_reports import comparison
from sample_reports import run as sample_run

from querycloak.errors import ParameterError
from querycloak.evaluation import plans
from querycloak.evaluation.assess import Assessor
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.comparison_files import comparison_csv, run_from_json, run_to_json
from querycloak.evaluation.spread import curve_of, spread_of
from querycloak.evaluation.workbench import Workbench
from querycloak.measures.score import Score


def scored(*values):
    """A run with one measure, and one draw more for each further value."""
    scores = [Score(measure="loss", value=v, better="lower", curve={2: v, 80: v + 1}) for v in values]
    return sample_run(scores=(scores[0],), draws=tuple((score,) for score in scores[1:]))


def test_mean_lowest_and_highest_over_all_draws():
    run = scored(30.0, 40.0, 20.0)
    assert spread_of(run, "loss") == (30.0, 20.0, 40.0, 3)
    assert {at: spread[:3] for at, spread in curve_of(run, "loss").items()} == {
        2: (30.0, 20.0, 40.0),
        80: (31.0, 21.0, 41.0),
    }
    assert curve_of(run, "another") == {}
    assert run_from_json(run_to_json(run)) == run


def test_the_table_has_the_curve_and_its_spread():
    def rows(run):
        lines = list(csv.reader(io.StringIO(comparison_csv(comparison(run)))))
        return {what: float(value) for _, _, what, name, value in lines[1:] if name == "loss"}

    assert rows(scored(30.0)) == {"measure": 30, "measure, at 2": 30, "measure, at 80": 31}
    found = rows(scored(30.0, 40.0, 20.0))
    head = "measure, at 80, of 3 draws the"
    assert (found[f"{head} mean"], found[f"{head} low"], found[f"{head} high"]) == (31, 21, 41)
    assert found["measure, of 3 draws the high"] == 40


def test_each_draw_has_another_seed_and_the_measures_of_its_own_release():
    plan = plan_runs(["plain-microaggregation"], {"k": [3], "as_in_paper": [True]}, draws=3)[1]
    seeds, bench = [], Workbench(LOG, TREE)

    class Noted(Workbench):
        def anonymize(self, method, *, seed=None, **settings):
            seeds.append(seed)
            return bench.anonymize(method, seed=seed, **settings)

    assessor = Assessor(Noted(LOG, TREE), 1)
    found = plans._draws(plan, assessor)
    assert len(found) == 2
    assert len(set(seeds)) == 2
    for seed, scores in zip(seeds, found, strict=True):
        assert list(scores) == bench.measure(bench.anonymize(plan.method, seed=seed, **plan.settings), seed=1)


def test_a_draw_spends_no_ledger():
    settings = []

    class Noted(Workbench):
        def anonymize(self, method, *, seed=None, **given):
            settings.append(given)
            return super().anonymize(method, seed=seed, **given)

    plan = replace(plan_runs(["histogram-dp"], {"domain": ["all"]}, draws=2)[1])
    plans._draws(
        replace(plan, settings={**plan.settings, "ledger": "people.ledger", "ledger_log": "log"}),
        Assessor(Noted(LOG, TREE), 1),
    )
    assert settings == [plan.settings]


def test_a_run_with_fewer_draws_is_not_the_same_run(tmp_path):
    bench = Workbench(LOG, TREE)
    found = [compare(bench, plan_runs(["sweep"], {}, draws)[:1], tmp_path).runs[0] for draws in (1, 2)]
    assert [len(run.draws) for run in found] == [0, 1]
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert "draws" in found[1].seconds


@pytest.mark.parametrize("draws", [0, 101, True, 1.5])
def test_a_number_of_draws_that_makes_no_sense_is_refused(draws):
    with pytest.raises(ParameterError, match="draws must be an integer from 1 to 100"):
        plan_runs(["sweep"], {}, draws)
