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
        "report/ranking.py",
        'return Cell("not tested", "open") if all(c.untested for c in failed) else Cell("fails", "over")',
        'return Cell("holds", "fine") if all(c.untested for c in failed) else Cell("fails", "over")',
        f"{REPORT}::test_each_run_says_which_conditions_failed_and_what_to_change",
    ),
    fault(
        "report: what published nothing seems to keep the limits",
        "report/ranking.py",
        "self.run.published_nothing and number in {2, 3}",
        "False",
        f"{REPORT}::test_what_published_nothing_is_said_to_have_published_nothing",
    ),
    fault(
        "report: a run that must not leave is called of little use",
        "report/ranking.py",
        "if all(c.number == 4 for c in verdict.failed):",
        "if any(c.number == 4 for c in verdict.failed):",
        f"{REPORT}::test_a_run_that_harms_people_is_never_called_of_little_use",
    ),
    fault(
        "pages: a value ends the block of data",
        "report/embedded.py",
        'for character in "<>&"',
        'for character in ">&"',
        f"{REPORT}::test_no_value_ends_the_data_or_changes_in_it",
    ),
    fault(
        "advice: what published nothing passed the attacks",
        "evaluation/advice.py",
        "if run.published_nothing:  # attacks",
        "if False:  # attacks",
        "evaluation/test_advice.py::test_what_published_nothing_passed_nothing",
    ),
    fault(
        "report: a small share reads as none",
        "report/pages.py",
        'return "<0.1%"',
        'return "0%"',
        "report/test_pages.py::test_a_small_share_is_not_none",
    ),
]
