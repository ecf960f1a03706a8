"""What a paper's experiments are: runs, where their values go in its figures, and what the paper says of them.

A `Cell` is one run of one method with one choice of settings. Its `Spot`s say in which figure, under which series and
at which x a value of it is plotted, so that one run may serve several figures. A `Finding` is a sentence of the paper
with the test of it. Methods, measures and attacks are those of the catalog, by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from querycloak.evaluation.reproduce.results import Results
    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog

__all__ = ["Absent", "Axis", "Cell", "Figure", "Finding", "Outcome", "Paper", "Reported", "Scale", "Spot", "Verdict"]

Verdict = Literal["found", "not found", "not testable here"]


@dataclass(frozen=True)
class Spot:
    """Where one value of a cell is plotted."""

    figure: str
    """key of the figure"""
    series: str
    x: float
    measure: str
    """name that `Paper.read` knows"""
    panel: str = ""
    """which of several pictures of the figure"""


@dataclass(frozen=True)
class Cell:
    """One method with one choice of settings, on one part of the log of a draw."""

    method: str
    settings: Mapping[str, Any]
    """a value may be a function of the log on its bench: a number that the paper takes from the data"""
    spots: tuple[Spot, ...]
    users: int | None = None
    """the first so many users of the draw; None = all of them"""
    part: str = ""
    """name in `Paper.parts` of the part of the log; empty = all of it"""
    measures: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    clicks: bool = False
    """it needs a log with clicks"""
    directory: bool = False
    """it needs a directory of sites"""
    blind: bool = False
    """the method sees all sites in one category: it groups users in the order of the log, the control of its groups"""
    engine: bool = False
    """the machine of a stream method is run once more, to see what memory it takes"""
    timed: bool = False
    """its time is plotted: the method is run once before, so that compiling does not count"""

    @property
    def fixed(self) -> dict[str, Any]:
        """The settings that do not depend on the log."""
        return {name: value for name, value in self.settings.items() if not callable(value)}

    @property
    def name(self) -> str:
        """Method, settings and part, in a few words."""
        words = [
            self.method,
            *(["blind"] if self.blind else []),
            *(f"{name} = {value}" for name, value in self.fixed.items()),
        ]
        return ", ".join(
            [*words, *([self.part] if self.part else []), *([f"{self.users:,} users"] if self.users else [])]
        )


@dataclass(frozen=True)
class Axis:
    """An axis of a figure."""

    title: str
    scale: Literal["linear", "log"] = "linear"
    percent: bool = False
    """values are shares, written as percent"""


@dataclass(frozen=True)
class Reported:
    """A value that the paper prints in its text or in a table."""

    series: str
    x: float
    value: float
    panel: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper."""

    key: str
    """part of the file's name, such as `fig-3`"""
    name: str
    """as the paper has it, such as `Fig. 3`"""
    title: str
    x: Axis
    y: Axis
    series: tuple[str, ...]
    """in the paper's order"""
    kind: Literal["lines", "bars", "table"] = "lines"
    reported: tuple[Reported, ...] = ()
    note: str = ""
    """what is different here"""


@dataclass(frozen=True)
class Absent:
    """A figure or table that cannot be repeated here, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Outcome:
    """What became of a finding."""

    verdict: Verdict
    figures: str
    """the figures it rests on, or why it cannot be tested"""


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper about its results, and its test."""

    says: str
    where: str
    """section, figure or table"""
    judge: Callable[[Results], Outcome] | None = None
    """None: it cannot be tested here"""
    why_not: str = ""


@dataclass(frozen=True)
class Scale:
    """How large a run is."""

    users: int
    """users of each draw"""
    quick: bool = False
    """few points of each axis"""

    def some(self, values: tuple[Any, ...], quick: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the paper's values, or the few of a quick run."""
        return quick if self.quick else values


@dataclass(frozen=True)
class Paper:
    """The experiments of one paper."""

    name: str
    """name on the command line"""
    cite: str
    figures: tuple[Figure, ...]
    findings: tuple[Finding, ...]
    cells: Callable[[Scale], list[Cell]]
    read: Callable[[str, Mapping[str, float]], float | None]
    """find the value of one of the paper's measures among all scores of a cell; None where it is not there"""
    users: int
    """users of the paper's log"""
    least_users: int
    """fewer users than these cannot show anything: too few for the largest k"""
    quick_users: int
    queries_per_user: float
    """for generated logs"""
    generated: Mapping[str, Any] = field(default_factory=dict)
    """further settings of the generator"""
    mapping: str = "phrases"
    """how the paper reads queries: a phrase is one unit, or (`segments`) all nouns of a query are"""
    generated_users: int | None = None
    """users of a generated log, where one of the paper's size would take days; None = as many as the paper's"""
    directory: bool = False
    """some of its cells look sites up in a directory"""
    absent: tuple[Absent, ...] = ()
    parts: Mapping[str, Callable[[Workbench], QueryLog]] = field(default_factory=dict)
    """parts of the log of a draw on which cells may run"""
    prepare: Callable[[Workbench], QueryLog] | None = None
    """what is done to the log of each draw before anything else"""
    derive: Callable[[Results], None] | None = None
    """adds values that follow from those of several cells"""
    log_was: str = ""
    """what the paper's log was"""

    def figure(self, key: str) -> Figure:
        """Find a figure by its key."""
        return next(figure for figure in self.figures if figure.key == key)
