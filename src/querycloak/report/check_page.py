"""The page of a check: one verdict on one release, to be understood in ten seconds.

The verdict comes first and is never told by colour alone; what it rests on follows. The page is internal: it holds
figures about people, and rows that are masked but real.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.evaluation.sample import SHARED
from querycloak.logs.atomic import write_text
from querycloak.report.figures import attack_table, exposure_table, limits_text, task_table
from querycloak.report.pages import Cell, Table, render
from querycloak.report.strips import lift_strips, task_strips

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.releases.verify import Finding

__all__ = ["check_page", "write_check_page"]

_KINDS: Final = {"RELEASE": "fine", "DO NOT RELEASE": "over", "NEEDS A HUMAN": "open"}
_REASONS_SHOWN: Final = 4
"""More reasons than these are folded: nobody reads fifteen in ten seconds."""


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
        exposure=exposure_table([] if run.exposure is None else [("this release", run.exposure)]),
        lifts=lift_strips([(a.attack, a) for a in run.attacks], limits),
        attacks=attack_table(run.attacks, limits),
        tasks=task_strips([(u.task, u) for u in run.utility], check.tasks),
        task_table=task_table(run.utility, check.tasks),
        findings=_findings(check.findings),
        shared=SHARED,
        limits=limits_text(limits),
    )


def _findings(found: Sequence[Finding]) -> Table:
    says = {True: Cell("holds", "fine"), False: Cell("broken", "over"), None: Cell("the files cannot tell", "open")}
    return Table(["check", "result", "seen"], [[Cell(f.check), says[f.holds], Cell(f.seen)] for f in found])
