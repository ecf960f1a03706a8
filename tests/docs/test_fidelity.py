"""The page of fidelity is true: what it names is there, its lines are today's, and every faithful row has a test."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from places import ROOT


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("build_fidelity", ROOT / "tools" / "build_fidelity.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_fidelity"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["build_fidelity"]


def test_the_page_is_up_to_date(tool):
    """A function or a test that is gone fails too, by name."""
    assert (ROOT / "docs" / "fidelity.md").read_text() == tool.page(), "run: python tools/build_fidelity.py"


def test_every_test_that_is_named_is_one_that_runs(tool):
    for table in tool.tables():
        for row in table.rows:
            for place in row.tests:
                file, _, name = place.partition("::")
                assert name.startswith("test_"), place
                assert (ROOT / file).name.startswith("test_"), place


def test_a_name_that_is_gone_is_told(tool):
    with pytest.raises(LookupError, match=r"_mdav\.py has no mdaw"):
        tool.line_of("src/querycloak/methods/microaggregation/_mdav.py", "mdaw")
    with pytest.raises(LookupError, match="is not there"):
        tool.line_of("src/querycloak/gone.py", "x")
    assert tool.line_of("src/querycloak/methods/microaggregation/_mdav.py", "_Remaining.centroid") > 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"verdict": "faithful", "code": ["x.py:f"]}, "faithful says tests"),
        ({"verdict": "departs", "code": ["x.py:f"], "tests": ["tests/t.py::test_f"]}, "departs says why"),
        ({"verdict": "missing"}, "missing says why"),
        ({"verdict": "nearly"}, "must be one of faithful, departs, missing"),
        ({"verdict": "missing", "why": "no", "note": "x"}, "there is no key note"),
    ],
)
def test_a_row_that_says_too_little_is_refused(tool, row, words):
    with pytest.raises(ValueError, match=words):
        tool._check({"part": "1", "paper": "eq. 1", **row}, "row 1")
