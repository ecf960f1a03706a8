"""Every paper from end to end, with `--quick`; one draw, so that it stays quick."""

from __future__ import annotations

import csv

import pytest

import querycloak as qc
from querycloak.evaluation.reproduce.papers import PAPERS

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]


@pytest.mark.parametrize("name", PAPERS)
def test_a_quick_run_fills_every_figure_and_tests_every_finding(name, tmp_path):
    found = qc.reproduce(name, output=tmp_path, quick=True, draws=1)
    assert found.not_run == {}
    with (tmp_path / "results.csv").open() as file:
        seen = {row["figure"] for row in csv.DictReader(file)}
    assert seen == {figure.name for figure in found.paper.figures}
    for finding, outcome in found.judged:
        assert (outcome.verdict == "not testable here") == (finding.judge is None), finding.says
        assert outcome.figures
    page = (tmp_path / "reproduction.html").read_text()
    assert page.count("<svg") >= sum(figure.kind != "table" for figure in found.paper.figures)
