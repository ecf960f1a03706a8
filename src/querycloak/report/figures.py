"""Tables that both pages show: exposure, attacks and tasks, as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.evaluation.exposure import exposure_rows
from querycloak.report.pages import Cell, Table, decimal, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.exposure import Exposure
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.run import Run
    from querycloak.evaluation.utility import Utility

__all__ = [
    "attack_table",
    "exposure_table",
    "generalization_table",
    "judged_cell",
    "limits_text",
    "readable_table",
    "task_cell",
    "task_table",
]

_COMPARED: Final = {
    "guessing": "guessing",
    "another person": "another person, drawn at random",
    "people held out": "people held out of a further release",
}
_NOT_COUNTED: Final = "-"
"""How `exposure_rows` writes the value of what was not counted."""


def limits_text(limits: Limits) -> str:
    """Write the limits in one line."""
    return (
        f"linking {percent(limits.link)}, claims {percent(limits.claim)}, membership {percent(limits.membership)} and "
        f"{percent(limits.membership_at_1)} at 1 % false positives, own texts {percent(limits.own_texts)}, identifiers "
        f"{percent(limits.identifiers)}, ε {limits.epsilon:g}"
    )


def exposure_table(found: Sequence[tuple[str, Exposure]], names: Sequence[str] | None = None) -> Table:
    """Return one row per figure and one column per release; a figure that a release does not have is left empty.

    `names` are a second line of each head.
    """
    columns = [{what: value for what, value, _ in exposure_rows(e)} for _, e in found]
    meaning: dict[str, str] = {}
    for _, e in found:
        for what, value, means in exposure_rows(e):
            if value != _NOT_COUNTED:  # the page lists these where it says what could not be tested
                meaning.setdefault(what, means)
    rows = [[Cell(what, note=means), *(_counted(c.get(what)) for c in columns)] for what, means in meaning.items()]
    subheads = None if names is None else ["", *names]
    return Table(["counted", *(name for name, _ in found)], rows, subheads=subheads)


def _counted(value: str | None) -> Cell:
    """Write what is in brackets, the numbers behind a share, below it."""
    if value is None:
        return Cell("does not apply")
    head, _, rest = value.partition(" (")
    return Cell(head, note=rest.removesuffix(")"))


def readable_table(found: Exposure, limits: Limits) -> Table:
    """Return what of single people is readable at first sight, with the limits that judge it."""

    def row(what: str, part: float, whole: float, limit: float | None) -> list[Cell]:
        share = part / whole if whole else 0.0
        mark = "" if limit is None else "over" if share > limit or (part and limit == 0) else "fine"
        return [
            Cell(what),
            Cell(percent(share), mark, f"{part:,.0f} of {whole:,.0f}"),
            Cell("none" if limit is None else percent(limit)),
        ]

    return Table(
        ["readable without any attacker: lower is better", "this release", "limit"],
        [
            row("people with a text published that nobody else asked", found.exposed_people, found.people, None),
            row("rows with such a text", found.own_rows, found.rows, limits.own_texts),
            row(
                "rows with an identifier, such as a phone number", found.identifier_rows, found.rows, limits.identifiers
            ),
            row("distinct texts with the name of a person who is not famous", found.name_texts, found.texts, None),
        ],
    )


def judged_cell(result: AttackResult, limits: Limits) -> Cell:
    """Say how much a release adds at most to an attack, and whether that is within its limit."""
    if not result.targets:
        return Cell("nobody to attack")
    if limits.of(result.risk) is None:
        return Cell(percent(result.rate))
    return Cell(percent(result.judged), "fine" if limits.keeps(result) else "over")


def attack_table(results: Sequence[AttackResult], limits: Limits) -> Table:
    """Return one row per attack on one release."""
    head = ["attack", "right", "without the release", "lift", "at most", "limit", "proved bound", "one target is"]
    rows = []
    for r in results:
        limit = limits.of(r.risk)
        found = ["none"] * 3 if not r.targets else [percent(r.rate), percent(r.baseline.rate), percent(r.lift)]
        rows.append([
            Cell(r.attack, note=f"knows {r.knows}; compared with {_COMPARED.get(r.baseline.kind, r.baseline.kind)}"),
            Cell(found[0], note=f"of {r.targets:,}"),
            Cell(found[1]),
            Cell(found[2], note=f"{percent(r.lift_low)} to {percent(r.lift_high)}" if r.targets else ""),
            judged_cell(r, limits),
            Cell("none" if limit is None else percent(limit)),
            Cell("none" if r.bound is None else percent(r.bound)),
            Cell(r.unit),
        ])  # fmt: skip
    return Table(head, rows)


_GENERALIZATION: Final = {
    "distortion, share of worst case": ("distortion ↓", "{:.1%}"),
    "mean level of items (root = 1)": ("mean level, root = 1 ↑", "{:.2f}"),
    "mean transaction length": ("items per user ↑", "{:.1f}"),
    "items suppressed, share": ("suppressed ↓", "{:.1%}"),
    "root items, share": ("root items ↓", "{:.1%}"),
    "density": ("density of the log", "{:.3%}"),
}
"""Figures of generalized releases: name in the score → head of the column, how it is written."""


def generalization_table(runs: Sequence[tuple[str, Run]]) -> Table:
    """Return one row per release whose rows are concepts, with what generalizing cost; each run has a name."""
    rows = []
    for name, run in runs:
        if run.generalized is not None:
            found = run.generalized.details
            values = (form.format(found[n]) if n in found else "" for n, (_, form) in _GENERALIZATION.items())
            rows.append([Cell(name), *map(Cell, values)])
    return Table(["run", *(head for head, _ in _GENERALIZATION.values())], rows)


def task_cell(found: Utility | None) -> Cell:
    """Say what is kept of a task, and whether that is better than blind."""
    if found is None:
        return Cell("not tried")
    if not found.possible:
        return Cell("not possible", "open")
    if found.scaled is None:
        return Cell("nothing to keep", "open")
    return Cell(decimal(found.scaled), "fine" if found.useful else "over")


def task_table(found: Sequence[Utility], named: Sequence[str]) -> Table:
    """Return one row per task on one release."""
    head = ["task", "release", "95 % interval", "blind, at most", "original", "better than blind", "cases"]
    rows = []
    for u in found:
        notes = [*(["named by you"] if u.task in named else []), *([u.note] if u.note else [])]
        kept = (
            Cell("not possible", "open") if not u.possible else Cell("yes", "fine") if u.useful else Cell("no", "over")
        )
        raw = ["none", "none"] if not u.possible else [f"{u.value:.3f}", f"{u.low:.3f} to {u.high:.3f}"]
        rows.append([
            Cell(u.task, note="; ".join(notes)), *map(Cell, raw), Cell(f"{u.blind_high:.3f}"),
            Cell(f"{u.original:.3f}"), kept, Cell(f"{u.cases:,}"),
        ])  # fmt: skip
    return Table(head, rows)
