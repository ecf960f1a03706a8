"""The lights of a check, on releases by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from sample_releases import statement
from sample_reports import exposed

from querycloak.evaluation.check import _light
from querycloak.evaluation.limits import LIMITS
from querycloak.evaluation.run import Run


@pytest.mark.parametrize(
    ("kind", "question", "colour"),
    [
        ("counts", "linkability", "green"),  # no logs are published: nothing can be linked
        ("counts", "inference", "amber"),
        ("log", "linkability", "amber"),
        ("log", "inference", "amber"),
        ("log", "singling out", "green"),
    ],
)
def test_a_question_is_open_where_an_attack_that_fits_found_nobody(kind, question, colour):
    run = Run(name="r", method="m", settings={}, statement=statement(k=5), exposure=exposed())
    assert _light(question, SimpleNamespace(kind=kind), run, [], LIMITS).colour == colour
