"""The runs of a report in the order in which a reader asks for them, each with its answer to "may I release this?"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from querycloak.evaluation.questions import answers_of_run
from querycloak.report.pages import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.evaluation.advice import Condition, Verdict
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.questions import Light
    from querycloak.evaluation.run import Run

__all__ = ["CONDITIONS", "RankedRun", "nearest_runs", "rank_runs", "why_none"]

CONDITIONS: Final = ("1 proof", "2 attacks", "3 texts", "4 useful")
_LATE: Final = ("failed", "baseline", "nothing")
"""States that come after all others: what failed at the very end."""
_ANSWERS: Final = {
    "advised": Cell("advised", "fine"),
    "passes": Cell("keeps all four", "fine"),
    "useless": Cell("of little use", "open"),
    "unproved": Cell("proves nothing", "open"),
    "untested": Cell("not all tested", "open"),
    "fails": Cell("do not release", "over"),
    "nothing": Cell("published nothing", "none"),
    "baseline": Cell("do not release", "over"),
    "failed": Cell("failed", "none"),
}

_WHY: Final = (
    "no bound per person is proved",
    "an attack gains more than its limit or was not run",
    "a text of one person or an identifier is readable",
    "a task that you named is done no better than blindly",
)
"""One line per condition."""


@dataclass(frozen=True, kw_only=True)
class RankedRun:
    """A run with its number in this report."""

    number: int
    run: Run
    verdict: Verdict
    limits: Limits
    state: str
    """key of `_ANSWERS`"""

    @property
    def name(self) -> str:
        """Number and name, as pictures and tables write it."""
        return f"{self.number} {self.run.name}"

    @property
    def answer(self) -> Cell:
        """May it be released, in two words."""
        return _ANSWERS[self.state]

    @property
    def judged(self) -> bool:
        """It published something, so that there was something to attack and to use."""
        return self.run.error is None and not self.run.published_nothing

    @cached_property
    def answers(self) -> dict[str, Light]:
        """What the three questions found."""
        return answers_of_run(self.run, self.limits)

    @property
    def cells(self) -> list[Cell]:
        """One per condition."""
        if self.run.error is not None:
            return [Cell("not tested", "open") for _ in CONDITIONS]
        return [self._condition(number) for number in range(1, len(CONDITIONS) + 1)]

    def _condition(self, number: int) -> Cell:
        failed = [c for c in self.verdict.failed if c.number == number]
        if self.run.published_nothing and number in {2, 3}:
            return Cell("nothing", "none")
        if not failed:
            return Cell("holds", "fine")
        return Cell("not tested", "open") if all(c.untested for c in failed) else Cell("fails", "over")

    @cached_property
    def failed(self) -> list[Condition]:
        """What failed, the gravest of each condition first; of the attacks the worst."""
        worst = self.run.worst(self.limits)

        def order(condition: Condition) -> tuple[bool, int, bool, bool]:
            named = worst is not None and condition.says.startswith(f"{worst.attack} gains")
            empty = self.run.published_nothing and condition.number == 4
            return not empty, condition.number, condition.untested, not named

        first: list[Condition] = []
        more: list[Condition] = []
        for condition in sorted(self.verdict.failed, key=order):
            known = any(c.number == condition.number for c in first)
            (more if known else first).append(condition)
        return [*first, *more]

    @property
    def gravest(self) -> list[Condition]:
        """One line per condition that failed."""
        return self.failed[: len({c.number for c in self.failed})]

    @property
    def more(self) -> list[Condition]:
        """The others."""
        return self.failed[len(self.gravest) :]


def rank_runs(comparison: Comparison) -> list[RankedRun]:
    """Return the runs with their numbers, from the best to the worst.

    First the one advised, those that keep all conditions, those that fail fewest; then what published nothing, the
    baseline, and what failed.
    """
    advice, limits = comparison.advice, comparison.limits
    found = [
        (run, verdict, _state(run, verdict, advice.publish))
        for run, verdict in zip(comparison.runs, advice.verdicts, strict=True)
    ]

    def order(one: tuple[Run, Verdict, str]) -> tuple[float, ...]:
        run, verdict, state = one
        late = _LATE.index(state) + 1 if state in _LATE else 0
        firm = {c.number for c in verdict.failed if not c.untested}
        worst = run.worst(limits)
        over = 0.0 if worst is None else max(limits.times(worst), 1.0)
        return (
            -late if late else -len(_LATE) - 1,
            state != "advised",
            len(firm & {1, 2, 3}),
            len({c.number for c in verdict.failed}),
            over,
        )

    return [
        RankedRun(number=number, run=run, verdict=verdict, limits=limits, state=state)
        for number, (run, verdict, state) in enumerate(sorted(found, key=order), 1)
    ]


def _state(run: Run, verdict: Verdict, advised: str | None) -> str:
    if run.error is not None:
        return "failed"
    if run.baseline:
        return "baseline"
    if run.published_nothing:
        return "nothing"
    if verdict.passes:
        return "advised" if run.name == advised else "passes"
    if verdict.only_unproved:
        return "unproved"
    if all(c.number == 4 for c in verdict.failed):
        return "useless"
    return "untested" if all(c.untested for c in verdict.failed) else "fails"


def why_none(ranked: Sequence[RankedRun]) -> str:
    """Say in one sentence why no run may be published: how many fail which condition."""
    runs = [one for one in ranked if one.state not in {"baseline", "failed"}]
    if not runs:
        return "No run came through." if ranked else "There is no run."
    told = [one for one in runs if one.state != "nothing"]
    parts = []
    for number, what in enumerate(_WHY, 1):
        count = sum(any(c.number == number for c in one.verdict.failed) for one in told)
        if count:
            parts.append(what if len(runs) == 1 else f"in {count} {what}")
    if empty := len(runs) - len(told):
        parts.append("it published nothing" if len(runs) == 1 else f"{empty} published nothing")
    which = "The one run fails" if len(runs) == 1 else f"Each of the {len(runs)} runs fails"
    return f"{which} a condition: {'; '.join(parts)}."


def nearest_runs(ranked: Sequence[RankedRun], most: int = 3) -> list[RankedRun]:
    """Return the runs that miss least."""
    return [one for one in ranked if one.state in {"fails", "useless", "untested", "unproved", "nothing"}][:most]
