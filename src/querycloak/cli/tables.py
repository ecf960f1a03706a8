"""Results as plain tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.cli.say import say
from querycloak.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.exposure import Exposure
    from querycloak.evaluation.utility import Utility
    from querycloak.measures.score import Score

__all__ = [
    "print_advice",
    "print_attacks",
    "print_check",
    "print_exposure",
    "print_measures",
    "print_table",
    "print_utility",
]


def print_exposure(found: Exposure) -> None:
    """Print what stands open in a release without any attacker."""
    from querycloak.evaluation.exposure import exposure_rows

    say("Exposure: what anybody can read, counted in people (lower is better)")
    print_table(["what", "value"], [[what, value] for what, value, _ in exposure_rows(found)])
    say("")


def print_attacks(results: Sequence[AttackResult], not_run: Mapping[str, str], nothing: Mapping[str, str]) -> None:
    """Print one line per attack, under the three questions; then what could not be run."""
    head = ["attack", "right", "without", "lift", "at most", "bound", "of", "unit", "compared with"]
    for question in ("singling out", "linkability", "inference"):
        rows = [_attack_row(r) for r in results if r.question == question]
        if rows:
            say(f"{question.capitalize()} (lower is better)")
            print_table(head, rows)
            say("")
    for name, why in nothing.items():
        say(f"nothing to attack: {name}: {why}")
    for name, why in not_run.items():
        say(f"not run: {name}: {why}")


def _attack_row(r: AttackResult) -> list[str]:
    return [
        r.attack,
        f"{r.rate:.1%}",
        f"{r.baseline.rate:.1%}",
        f"{r.lift:+.1%}",
        f"{r.lift_high:.1%}",
        "none" if r.bound is None else f"{r.bound:.1%}",
        f"{r.targets:,}",
        r.unit,
        r.baseline.kind if r.names_people else "counted",
    ]


def print_check(found: ReleaseCheck) -> None:
    """Print the verdict first, then why, then what was found."""
    run = found.run
    say(f"{found.verdict}: {found.reasons[0]}")
    for reason in found.reasons[1:]:
        say(f"  also: {reason}")
    for change in found.changes:
        say(f"  change: {change}")
    say("")
    for light in found.lights:
        say(f"{light.colour.upper():>6}  {light.question}: {light.says}")
    say("")
    if run.exposure is not None:
        print_exposure(run.exposure)
    print_attacks(run.attacks, {}, run.nothing)
    print_utility(run.utility)
    for text in found.not_tested:
        say(f"not tested: {text}")


def print_advice(found: Comparison) -> None:
    """Print which run to publish, and for each other run the first condition that failed and what to change."""
    advice = found.advice
    say(advice.text)
    for verdict, run in zip(advice.verdicts, found.runs, strict=True):
        if verdict.failed and run.error is None:
            first, more = verdict.failed[0], len(verdict.failed) - 1
            rest = f" ({more} more in the report)" if more else ""
            change = f"; {first.change}" if first.change else ""
            say(f"  {run.name}: {first.says}{change}{rest}")


def print_utility(found: Sequence[Utility]) -> None:
    """Print one line per task."""
    say("What it is good for (higher is better; 1 = the original log, 0 = the same method run blindly)")
    rows = []
    for u in found:
        between = "not possible" if not u.possible else "no scale" if u.scaled is None else f"{u.scaled:.2f}"
        ends = "" if u.scaled_low is None or not u.possible else f"{u.scaled_low:.2f} to {u.scaled_high:.2f}"
        rows.append([u.task, between, ends, f"{u.value:.3f}", f"{u.original:.3f}", f"{u.blind:.3f}"])
    print_table(["task", "0 to 1", "95 % interval", "raw", "original", "blind"], rows)
    say("")


def print_measures(scores: Sequence[Score]) -> None:
    """Print one line per measure of the papers."""
    say("Measures of the papers")
    print_table(["measure", "value", "better"], [[s.measure, f"{s.value:.4f}", s.better] for s in scores])
    for s in scores:
        if s.curve:
            values = ", ".join(f"{number}: {value:.1f}" for number, value in s.curve.items())
            say(f"{s.measure} by the number of clusters ({s.details['clusters']:.0f} above): {values}")


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns: the first to the left, the others to the right."""
    shown = [[visible(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in shown) for i in range(len(head))]
    for row in shown:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        say("  ".join(cells).rstrip())
