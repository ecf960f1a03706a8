"""No page has a character that a browser obeys instead of showing it."""

from __future__ import annotations

import pytest
from sample_reports import comparison, run
from test_visible import OBEYED

from querycloak.report.html import write_report

HOSTILE = "a\x1b[2J\u202e\x9b\u2066\u200bb"


@pytest.mark.parametrize("text", [HOSTILE])
def test_a_report_of_hostile_texts(tmp_path, text):
    write_report(comparison(run(f"r {text}", text=text), run(f"s {text}", text=text), text=text), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert r"a\x1b[2J\u202e\x9b\u2066\u200bb" in page
    assert not set(page) & set(OBEYED) - {"\n", "\t"}
