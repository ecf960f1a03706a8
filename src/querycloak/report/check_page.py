"""The page of a check: one verdict on one release, to be understood in ten seconds.

The verdict comes first and is never told by colour alone; what it rests on follows. The page is internal: it holds
figures about people, and rows that are masked but real.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.evaluation.sample import SHARED
from querycloak.logs.atomic import write_text
from querycloak.report.embedded import embedded_json
from querycloak.report.figures import attack_table, exposure_table, limits_text, readable_table, task_table
from querycloak.report.pages import Cell, Table, render
from querycloak.report.strips import Strips, lift_strips, task_strips
from querycloak.report.three_questions import MARKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.evaluation.questions import Light
    from querycloak.releases.verify import Finding

__all__ = ["check_page", "write_check_page"]

_KINDS: Final = {"RELEASE": "fine", "DO NOT RELEASE": "over", "NEEDS A HUMAN": "open"}
_REASONS_SHOWN: Final = 4
"""More reasons than these are folded: nobody reads fifteen in ten seconds."""


class _Question(NamedTuple):
    """One of the three questions, with what it rests on."""

    light: Light
    mark: str
    lifts: Strips
    counts: Table
    """what is readable without any attacker, for singling out"""


def write_check_page(check: ReleaseCheck, path: Path) -> None:
    """Write the page."""
    write_text(path, check_page(check))


def check_page(check: ReleaseCheck) -> str:
    """Return the whole page."""
    run, limits = check.run, check.limits
    return render(
        "check.html.j2",
        check=check,
        kind=_KINDS[check.verdict],
        shown=_REASONS_SHOWN,
        questions=[_question(light, check) for light in check.lights],
        exposure=exposure_table([] if run.exposure is None else [("this release", run.exposure)]),
        attacks=attack_table(run.attacks, limits),
        tasks=task_strips([(u.task, u) for u in run.utility], check.tasks),
        task_table=task_table(run.utility, check.tasks),
        findings=_findings(check.findings),
        held=_held(check.findings),
        shared=SHARED,
        limits=limits_text(limits),
        results=embedded_json(check),
    )


def _question(light: Light, check: ReleaseCheck) -> _Question:
    run, limits = check.run, check.limits
    attacks = [] if run.published_nothing else [(a.attack, a) for a in run.attacks if a.question == light.question]
    counts = Table([], [])
    if light.question == "singling out" and run.exposure is not None and not run.published_nothing:
        counts = readable_table(run.exposure, limits)
    return _Question(light, MARKS[light.colour], lift_strips(attacks, limits), counts)


def _findings(found: Sequence[Finding]) -> Table:
    says = {True: Cell("holds", "fine"), False: Cell("broken", "over"), None: Cell("the files cannot tell", "open")}
    return Table(["check", "result", "seen"], [[Cell(f.check), says[f.holds], Cell(f.seen)] for f in found])


def _held(found: Sequence[Finding]) -> str:
    """Count what holds, for who does not unfold the table."""
    broken, unknown = (sum(f.holds is holds for f in found) for holds in (False, None))
    parts = [f"{len(found) - broken - unknown} hold", f"{broken} broken" if broken else "", f"{unknown} open"]
    return ", ".join(part for part in parts if part) if found else ""
