from __future__ import annotations

import csv
import io
import json

from sample_reports import comparison, exposed, run

from querycloak.evaluation.comparison_files import comparison_csv, comparison_json, run_from_json, run_to_json
from querycloak.evaluation.run import Run
from querycloak.measures.score import Score

FAILED = Run(name="y", method="m", settings={}, error="why, because")


def test_a_run_goes_to_json_and_back():
    made = run("x", not_run={"shape": "no times"}, exposure=exposed(own=3))
    assert run_from_json(run_to_json(made)) == made
    assert run_from_json(run_to_json(FAILED)) == FAILED


def test_what_is_no_run_is_none():
    assert run_from_json(b"{}") is None
    assert run_from_json(b"\xff") is None


def test_csv_has_one_line_per_number():
    made = run("x", relink=0.25, not_run={"shape": "no times"}, exposure=exposed(own=3))
    rows = list(csv.reader(io.StringIO(comparison_csv(comparison(made, FAILED)))))
    assert rows[0] == ["run", "method", "what", "name", "value"]
    assert {len(row) for row in rows} == {5}
    assert ["x", "plain", "attack", "relink, plain", "0.25"] in rows
    assert ["x", "plain", "baseline", "relink, plain", "0.02"] in rows
    assert ["x", "plain", "not run", "shape", "no times"] in rows
    assert ["x", "plain", "exposure", "rows with an own text", "3.0% (3 of 100)"] in rows
    assert ["x", "plain", "task, 0 blind to 1 original", "topics", "0.7"] in rows
    assert ["y", "m", "error", "", "why, because"] in rows


def test_figures_of_generalization_are_in_the_table():
    details = {"distortion, share of worst case": 0.41, "mean level of items (root = 1)": 3.5, "density": 0.001}
    score = Score(measure="generalization", value=0.41, better="lower", details=details)
    rows = list(csv.reader(io.StringIO(comparison_csv(comparison(run("x", scores=(score,)))))))
    assert [row[3:] for row in rows if row[2] == "generalization"] == [[n, str(v)] for n, v in details.items()]


def test_json_has_every_run():
    found = json.loads(comparison_json(comparison(run("x"), FAILED)))
    assert [r["name"] for r in found["runs"]] == ["x", "y"]
