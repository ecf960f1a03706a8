"""The three questions of regulators in a report: an answer in words, a picture of all runs, every attack folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.evaluation.questions import QUESTIONS
from querycloak.report.figures import judged_cell
from querycloak.report.pages import Cell, Table, percent
from querycloak.report.strips import Strips, count_strips, lift_strips, worst_strips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.run import Run
    from querycloak.report.ranking import RankedRun

__all__ = ["Picture", "Question", "three_questions"]

MARKS: Final = {"green": "fine", "amber": "open", "red": "over"}


class Picture(NamedTuple):
    """A small picture: one strip per run."""

    name: str
    note: str
    strips: Strips
    chosen: bool = False
    plot: Any = None
    """the same as SVG with two axes, where there is one"""


class Question(NamedTuple):
    """What was found for one question."""

    name: str
    asks: str
    mark: str
    says: list[str]
    """the answer, in sentences"""
    worst: Strips
    """of each run the attack nearest to its limit"""
    counts: Strips | None
    """for singling out: people of whom something is readable that nobody else asked"""
    table: Table
    attacks: list[Picture]


def three_questions(ranked: Sequence[RankedRun], limits: Limits) -> list[Question]:
    """Answer the three questions for the runs that published something."""
    judged = [one for one in ranked if one.judged]
    return [_question(name, asks, ranked, judged, limits) for name, asks in QUESTIONS.items()]


def _question(
    name: str, asks: str, ranked: Sequence[RankedRun], judged: Sequence[RankedRun], limits: Limits
) -> Question:
    attacks = list(dict.fromkeys(a.attack for one in judged for a in one.run.attacks if a.question == name))
    found = {(one.number, a.attack): a for one in judged for a in one.run.attacks}
    rows = [
        [Cell(one.name), *(_attacked(one.run, a, found.get((one.number, a)), limits) for a in attacks)]
        for one in judged
    ]
    pictures = []
    for attack in attacks:
        results = [(one.name, found[one.number, attack]) for one in judged if (one.number, attack) in found]
        strips = lift_strips(results, limits, one_limit=True)
        if strips.lines:
            first = results[0][1]
            limit = percent(limits.of(first.risk) or 0)
            pictures.append(Picture(attack, f"Limit {limit}. The attacker knows {first.knows}.", strips))
    mark, says = _answer(name, ranked, judged)
    counts = None
    if name == "singling out":
        counts = count_strips([(one.name, one.run.exposure) for one in judged if one.run.exposure], limits)
    return Question(
        name=name,
        asks=asks,
        mark=mark,
        says=says,
        worst=worst_strips([(one.name, _asked(one.run, name, limits), one.answers[name]) for one in judged], limits),
        counts=counts,
        table=Table(["adds at most", *attacks], rows if attacks else []),
        attacks=pictures,
    )


def _asked(run: Run, question: str, limits: Limits) -> list[AttackResult]:
    return [a for a in run.attacks if a.question == question and a.targets and limits.of(a.risk) is not None]


def _answer(name: str, ranked: Sequence[RankedRun], judged: Sequence[RankedRun]) -> tuple[str, list[str]]:
    """Answer a question in words: for the advised run, else over all that published something."""
    runs = [one for one in judged if not one.run.baseline]
    lights = [one.answers[name] for one in runs]
    over, untested = (sum(light.colour == colour for light in lights) for colour in ("red", "amber"))
    mark = "open"
    says = []
    advised = next((one for one in ranked if one.state == "advised"), None)
    if advised is not None:
        light = advised.answers[name]
        mark = MARKS[light.colour]
        says.append(f"In the advised run, not beyond the limits: {light.says}.")
    if not runs:
        says.append("Not known: no run published anything.")
    elif advised is None and not over and not untested:
        mark = "fine"
        says.append(f"Within the limits in {_of(len(runs), len(runs))}.")
    else:
        if over:
            lead = "Yes in" if advised is None else "Above a limit in"
            says.append(f"{lead} {_of(over, len(runs))}: an attack{_or_text(name)} is above its limit.")
        if untested:
            says.append(f"Not known in {_of(untested, len(runs))}: not everything could be tested.")
        if advised is None:
            mark = "over" if over == len(runs) else "open"
    empty = sum(one.run.published_nothing for one in ranked)
    if empty and runs:
        says.append(
            f"{empty} run{'s' if empty > 1 else ''} published nothing: there was nothing to test, and that is no sign "
            "of safety."
        )
    return mark, says


def _of(count: int, runs: int) -> str:
    """Write how many of the runs that published something.

    >>> _of(2, 3), _of(1, 1)
    ('2 of the 3 runs that published something', 'the one run that published something')
    """
    return f"{'the one run' if runs == 1 else f'{count} of the {runs} runs'} that published something"


def _or_text(name: str) -> str:
    return " or a count of readable texts" if name == "singling out" else ""


def _attacked(run: Run, attack: str, result: AttackResult | None, limits: Limits) -> Cell:
    """Say what an attack on a run found, or why it found nothing."""
    if result is not None:
        return judged_cell(result, limits)
    name = attack.partition(",")[0]
    if name in run.not_run:
        return Cell("not tested", "open")
    return Cell("nothing to attack" if name in run.nothing else "does not apply")
