"""Records of a stream that are no good: what is wrong, how often, and whether to stop."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError
from querycloak.live import _lines_kernels as lines
from querycloak.live.layout import LONGEST_LINE

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Problems"]

WORDS: Final = {
    lines.FIELDS: ("wrong number of fields", "a wrong number of fields"),
    lines.NO_USER: ("empty user", "the user is empty"),
    lines.NO_QUERY: ("empty query", "the query is empty"),
    lines.TOO_LONG: ("line too long", f"the line is longer than {LONGEST_LINE:,} bytes"),
    lines.MALFORMED: ("malformed line", "the line is not well formed"),
    lines.NOT_UTF8: ("not UTF-8", "the line is not UTF-8"),
    lines.BAD_PATH: ("path with an empty level", "the category path has an empty level"),
}
HARMLESS: Final = {lines.BLANK: "blank lines", lines.HEADER: "header lines repeated"}


class Problems:
    """Counts bad records; with `stop`, the first one ends the run."""

    def __init__(self, source: Path, *, stop: bool) -> None:
        self.source = source
        self.stop = stop
        self.counts: Counter[str] = Counter()

    def note(self, status: int, line: int) -> InputError | None:
        """Count a record, or give the error that ends the run: the number of its line, and nothing of its content."""
        if status in HARMLESS:
            self.counts[HARMLESS[status]] += 1
            return None
        kind, sentence = WORDS[status]
        if self.stop:
            return InputError.at(
                self.source, f"{sentence}; fix it, or skip and count such lines with --on-error skip", line
            )
        self.counts[kind] += 1
        return None
