"""Pictures of intervals: one line per attack or task, drawn by the page itself next to its name and its figures.

A strip is drawn without texts; names and figures are texts of the page, so that they wrap on a phone and never cover
each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.report.pages import decimal, percent
from querycloak.report.plots import Kind, Scale
from querycloak.report.tradeoff import FARTHEST, LEAST_FARTHEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.exposure import Exposure
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.questions import Light
    from querycloak.evaluation.utility import Utility

__all__ = ["Strip", "Strips", "count_strips", "lift_strips", "task_strips", "worst_strips"]

_EDGE: Final = 3.0
"""Room at both ends, in percent of the width: half of a dot, half of a label of the axis."""
_STEPS: Final = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_TICKS: Final = 5


class Strip(NamedTuple):
    """One line: positions in percent of the width. Without a `value` there is nothing to draw, and `says` why."""

    name: str
    says: str
    mark: str = ""
    """`over`, `fine` or `open`, as in a cell"""
    chosen: bool = False
    value: float | None = None
    low: float = 0.0
    high: float = 0.0
    limit: float | None = None
    judged: float = 0.0
    """where the part of the interval ends that a limit looks at: at `high`, or at a proved bound before it"""
    bound: float | None = None


class Strips(NamedTuple):
    """Lines that share an axis."""

    lines: list[Strip]
    zero: float
    """where 0 is: bars begin here"""
    ticks: list[tuple[float, str]]
    """of the axis: position and text"""
    better: str = ""
    """which way is better, below the axis"""

    @property
    def drawn(self) -> bool:
        """There is something to draw."""
        return any(line.value is not None for line in self.lines)


def _axis(low: float, high: float, kind: Kind = "linear") -> Scale:
    """Return an axis in percent of the width."""
    return Scale(low, high, _EDGE, 100 - _EDGE, kind)


def lift_strips(results: Sequence[tuple[str, AttackResult]], limits: Limits, *, one_limit: bool = False) -> Strips:
    """Draw what a release adds to each attack, with its interval, against the limit; each result has a name.

    `one_limit`: all have the same, and the caller says it.
    """
    judged = [(name, r, limits.of(r.risk)) for name, r in results if r.targets]
    judged = [(name, r, limit) for name, r, limit in judged if limit is not None]
    ends = [end for _, r, limit in judged for end in (r.lift_low, r.lift_high, 1.2 * (limit or 0))]
    axis = _axis(max(-1.0, min([0.0, *ends])), min(1.0, max([0.05, *ends])))
    lines = []
    for name, r, limit in judged:
        keeps = limits.keeps(r)
        says = f"at most {percent(r.judged)}"
        if r.bound is not None and r.bound < r.lift_high:
            says += " (proved)"
        if not one_limit:
            says += f", limit {percent(limit or 0)}"
        bound = None if r.bound is None else axis.at(r.bound)
        lines.append(
            Strip(
                name, says, "fine" if keeps else "over", value=axis.at(r.lift), low=axis.at(r.lift_low),
                high=axis.at(r.lift_high), limit=axis.at(limit or 0), judged=axis.at(r.judged), bound=bound,
            )
        )  # fmt: skip
    return Strips(lines, axis.at(0), _ticks(axis), "← better")


def worst_strips(found: Sequence[tuple[str, Sequence[AttackResult], Light]], limits: Limits) -> Strips:
    """Draw for each run the attack that is nearest to its limit, in multiples of that limit.

    Limits differ by the kind of risk; in multiples one axis serves all. A run that no attack was asked of says why.
    """
    worst = [(name, max(results, key=limits.times, default=None), light) for name, results, light in found]
    ends = [limits.times(r) for _, r, _ in worst if r is not None]
    axis = _axis(0, max(LEAST_FARTHEST, *(min(end, FARTHEST) for end in ends), 0) * 1.05, "sqrt")
    marks = {"green": "fine", "amber": "open", "red": "over"}
    lines = []
    for name, r, light in worst:
        mark = marks[light.colour]
        limit = None if r is None else limits.of(r.risk)
        if r is None or limit is None:
            lines.append(Strip(name, light.says, mark))
            continue

        def at(value: float, limit: float = limit) -> float:
            return axis.at(value / limit if limit else FARTHEST * (value > 0))

        says = f"{r.attack}: at most {percent(r.judged)}, limit {percent(limit)}"
        keeps = "fine" if limits.keeps(r) else "over"
        if mark != keeps:  # a text of one person, or an attack that was not run
            says += f"; {light.says.rpartition('; ')[2] if mark == 'open' else light.says.partition(';')[0]}"
        lines.append(
            Strip(
                name, says, mark, value=at(r.lift), low=at(r.lift_low), high=at(r.lift_high),
                limit=axis.at(1), judged=at(r.judged), bound=None if r.bound is None else at(r.bound),
            )
        )  # fmt: skip
    ticks = [(0, "0"), (1, "limit"), *((times, f"{times}×") for times in (2, 5, 10, 20))]  # noqa: RUF001
    shown = [(axis.at(value), text) for value, text in ticks if value <= axis.high]
    return Strips(lines, axis.at(0), shown, "← better")


def count_strips(found: Sequence[tuple[str, Exposure]], limits: Limits) -> Strips:
    """Draw for each run the share of people of whom a text is readable that nobody else asked."""
    axis = _axis(0, 1)
    lines = []
    for name, e in found:
        over = e.own_row_share > limits.own_texts or (e.own_texts > 0 and limits.own_texts == 0)
        says = f"{percent(e.exposed_share)} ({e.exposed_people:,} of {e.people:,} people)"
        if e.identifier_texts:
            says += f", {e.identifier_texts:,} texts with an identifier"
            over = over or limits.identifiers == 0
        at = axis.at(e.exposed_share)
        lines.append(Strip(name, says, "over" if over else "fine", value=at, low=at, high=at, judged=at))
    return Strips(lines, axis.at(0), [(axis.at(v), percent(v)) for v in (0, 0.25, 0.5, 0.75, 1)], "← better")


def task_strips(found: Sequence[tuple[str, Utility]], chosen: Sequence[str] = ()) -> Strips:
    """Draw what a release keeps of each task, from 0 = blind to 1 = original; `chosen` are names to mark."""
    scaled = [u for _, u in found if u.possible and u.scaled is not None]
    ends = [e for u in scaled for e in (u.scaled, u.scaled_low, u.scaled_high) if e is not None]
    axis = _axis(min([0.0, *ends]), max([1.0, *ends]))
    lines = []
    for name, u in found:
        mark = name in chosen
        if not u.possible:
            lines.append(Strip(name, f"not possible: {u.note}", "open", mark))
        elif u.scaled is None or u.scaled_low is None or u.scaled_high is None:
            lines.append(Strip(name, "the log itself does no better than a blind one: nothing to keep", "open", mark))
        else:
            says = f"{decimal(u.scaled)} ({decimal(u.scaled_low)} to {decimal(u.scaled_high)})"
            says += ", better than blind" if u.useful else ", no better than blind"
            value, low, high = axis.at(u.scaled), axis.at(u.scaled_low), axis.at(u.scaled_high)
            useful = "fine" if u.useful else "over"
            lines.append(Strip(name, says, useful, mark, value=value, low=low, high=high, judged=high))
    ticks = [(axis.at(0), "0"), (axis.at(1), "1")]
    return Strips(lines, axis.at(0), ticks, "0 blind, 1 original: better →")


def _ticks(axis: Scale) -> list[tuple[float, str]]:
    """Choose round numbers for an axis, 0 among them."""
    span = axis.high - axis.low
    step = next((s for s in _STEPS if span / s <= _MOST_TICKS), _STEPS[-1])
    first = -int(-axis.low / step + 1e-9)
    return [(axis.at(i * step), percent(i * step)) for i in range(first, int(axis.high / step + 1e-9) + 1)]
