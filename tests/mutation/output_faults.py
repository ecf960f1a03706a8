"""Seeded faults in what is written and printed: a formula gets out, a text comes back changed, a name is obeyed."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["OUTPUTS"]

FORMULAS = "logs/test_formulas.py"
RELEASES = "releases/test_safe_csv.py"
LINES = "live/test_safe_lines.py"

OUTPUTS: list[Fault] = [
    fault(
        "safe CSV: a text that has an apostrophe gets no second one",
        "logs/formulas.py",
        r"""\x0e-\x20"'\x7f""",
        r"""\x0e-\x20"\x7f""",
        f"{FORMULAS}::test_escaping_is_undone",
    ),
    fault(
        "safe CSV: only the begin of a field is looked at",
        "logs/formulas.py",
        '_PIECE: Final = rf"(^|[{_CUT}])(',
        '_PIECE: Final = rf"(^)(',
        f"{FORMULAS}::test_no_cell_is_a_formula_wherever_a_spreadsheet_cuts",
    ),
    fault(
        "safe CSV: checks see apostrophes that were only written for spreadsheets",
        "logs/records.py",
        "odd |= self._apostrophes(batch, column)[rows]",
        "pass",
        f"{RELEASES}::test_what_is_read_is_what_was_released",
    ),
    fault(
        "safe CSV: the statement of a stream does not tell",
        "live/reader.py",
        "return replace(self.layout.form, safe_csv=self.safe_csv)",
        "return self.layout.form",
        f"{LINES}::test_lines_are_those_of_the_plain_stream_with_apostrophes",
    ),
    fault(
        "safe CSV: an apostrophe before the user moves it, and part of the asker's id is published",
        "live/safe_lines.py",
        "out[:, join.USER_BEGIN] += shift + moved[0]",
        "out[:, join.USER_BEGIN] += shift",
        f"{LINES}::test_lines_are_those_of_the_plain_stream_with_apostrophes",
    ),
    fault(
        "printing: an escape sequence in a name reaches the terminal",
        "visible.py",
        r"\x00-\x08\x0b-\x1f\x7f-\x9f",
        r"\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f",
        "cli/test_say.py::test_errors_that_quote_what_was_given",
    ),
    fault(
        "pages: a bidirectional control reaches the page",
        "report/pages.py",
        "        finalize=visible_on_page,\n",
        "",
        "report/test_hidden_characters.py",
    ),
]
