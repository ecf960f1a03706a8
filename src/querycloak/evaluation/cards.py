"""What was found out, as text for a terminal and as cards for a notebook: a check, a comparison, an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.display import Html, card, details, facts, html_table, items, tag, text_table, words
from querycloak.visible import visible, visible_lines

if TYPE_CHECKING:
    from querycloak.evaluation.audit_result import Audit, AuditedPair
    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.evaluation.comparison import Comparison

__all__ = ["audit_card", "audit_text", "check_card", "check_text", "comparison_card", "comparison_text"]

TONES: Final = {"RELEASE": "good", "DO NOT RELEASE": "bad", "NEEDS A HUMAN": "open"}
LIGHTS: Final = {"green": "good", "amber": "open", "red": "bad"}
VERDICTS: Final = {"publish": "good", "passes": "good", "unproved": "open", "fails": "bad", "failed": "plain"}


def check_text(found: ReleaseCheck) -> str:
    """Return the verdict, why, what to change, and the three questions."""
    lines = [f"{found.verdict}: {found.reasons[0]}"]
    lines += [f"  also: {reason}" for reason in found.reasons[1:]]
    lines += [f"  change: {change}" for change in found.changes]
    lines += [f"{light.colour.upper():>6}  {light.question}: {light.says}" for light in found.lights]
    lines += [f"not tested: {text}" for text in found.not_tested]
    return visible_lines("\n".join(lines))


def check_card(found: ReleaseCheck) -> str:
    """Return the same as a card; rows of the release are not in it."""
    rows = [[light.question, tag(light.colour, LIGHTS[light.colour]), light.says] for light in found.lights]
    return card(
        f"Check of a release of {found.run.method}",
        words(tag(found.verdict, TONES[found.verdict]), found.reasons[0]),
        *_listed("also", found.reasons[1:]),
        *_listed("what to change", found.changes),
        html_table(["question", "", "found"], rows),
        *_folded("tasks", [_task(u.task, u.possible, u.scaled) for u in found.run.utility]),
        *_folded("not tested", found.not_tested),
    )


def comparison_text(found: Comparison) -> str:
    """Return one line per run, and the advice."""
    head, rows = _runs(found)
    return f"{text_table(head, rows)}\n{visible(found.advice.text)}"


def comparison_card(found: Comparison) -> str:
    """Return the same as a card, with the conditions that failed folded."""
    head, rows = _runs(found)
    tagged = [[run, tag(verdict, VERDICTS.get(verdict, "plain")), *rest] for run, verdict, *rest in rows]
    failed = [f"{v.run}: {condition.says}" for v in found.advice.verdicts for condition in v.failed]
    return card(
        f"Comparison of {len(found.runs)} runs",
        words(found.advice.text),
        html_table(head, tagged),
        *_folded("conditions that failed", failed),
    )


def _runs(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the table as text: the figures of `Comparison.table` that a reader wants to see first."""
    names = {"worst_attack": "nearest to its limit", "worst_judged": "at most", "worst_limit": "limit"}
    columns = ["run", "verdict", "conditions", "rows", *names, *found.tasks]
    table = found.table().iter_rows(named=True)
    rows = [[_cell(column, row[column]) for column in columns] for row in table]
    return [names.get(column, column) for column in columns], rows


def _cell(column: str, value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1%}" if column.startswith("worst_") else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value) or "-"


def audit_text(found: Audit) -> str:
    """Return one line per measured pair, and what it means."""
    head = (
        f"{visible(found.method)}: {'no bound is above its claim' if found.passed else 'BROKEN'}, {found.runs:,} runs"
    )
    if not found.measured:
        return f"{head}; no pair was measured"
    return f"{head}\n{text_table(_PAIRS, [_pair(pair) for pair in found.measured])}\n{_meaning(found)}"


def audit_card(found: Audit) -> str:
    """Return the same as a card."""
    rows = [
        [*cells[:-1], tag(cells[-1], "good" if cells[-1] == "within" else "bad")]
        for cells in map(_pair, found.measured)
    ]
    verdict = tag("no bound is above its claim", "good") if found.passed else tag("BROKEN", "bad")
    return card(
        f"Audit of {found.method}",
        words(verdict),
        facts({"runs": f"{found.runs:,}", "neighbours": found.relation, "taxonomy": found.taxonomy}),
        html_table(_PAIRS, rows),
        words(_meaning(found)),
    )


_PAIRS: Final = ["measured pair", "others", "likely", "unlikely", "bound", "claim", "verdict"]


def _pair(pair: AuditedPair) -> list[str]:
    rates = [f"{hits / pair.runs:.2%}" for hits in (pair.hits, pair.other_hits)]
    verdict = "within" if pair.passed else "BROKEN"
    return [pair.pair, f"{pair.people}", *rates, f"{pair.bound:.3f}", f"{pair.claim:g}", verdict]


def _meaning(found: Audit) -> str:
    return (
        f"Bounds are lower bounds of epsilon, all true together with a probability of {1 - found.error:.1%}; a bound "
        "below its claim proves nothing."
    )


def _task(name: str, possible: bool, value: float | None) -> str:
    return f"{name}: " + (
        "not possible" if not possible else "no scale" if value is None else f"{value:.0%} of the original"
    )


def _listed(title: str, texts: tuple[str, ...]) -> list[Html]:
    return [words(title + ":"), items(texts)] if texts else []


def _folded(title: str, texts: tuple[str, ...] | list[str]) -> list[Html]:
    return [details(f"{title} ({len(texts)})", items(texts))] if texts else []
