"""Seeded faults in the pages: a text becomes markup, or a release looks safer than it is."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["REPORTS"]

CHECK = "report/test_check_page.py"
REPORT = "report/test_report_html.py"

REPORTS: list[Fault] = [
    fault(
        "pages: texts of plugins and logs become markup",
        "report/pages.py",
        "autoescape=True",
        "autoescape=False",
        f"{CHECK}::test_hostile_texts_are_shown_and_never_run",
    ),
    fault(
        "check page: a release that must not leave looks like one that may",
        "report/check_page.py",
        '"DO NOT RELEASE": "over"',
        '"DO NOT RELEASE": "fine"',
        f"{CHECK}::test_the_verdict_is_a_word_a_sign_and_a_colour",
    ),
    fault(
        "pages: an attack above its limit is marked as kept",
        "report/figures.py",
        '"fine" if limits.keeps(result) else "over"',
        '"fine"',
        f"{CHECK}::test_the_figures_of_attacks_are_those_of_the_run",
    ),
    fault(
        "report: what could not be tested counts as kept",
        "report/html.py",
        'return Cell("not tested", "open") if all(c.untested for c in failed) else Cell("fails", "over")',
        'return Cell("holds", "fine") if all(c.untested for c in failed) else Cell("fails", "over")',
        f"{REPORT}::test_each_run_says_which_conditions_failed_and_what_to_change",
    ),
    fault(
        "report: a small share reads as none",
        "report/pages.py",
        'return "<0.1%"',
        'return "0%"',
        "report/test_pages.py::test_a_small_share_is_not_none",
    ),
]
