"""One HTML file: opens offline, asks nothing of any host, reads well in light, in dark and on paper."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from querycloak.evaluation.comparison import frontier, recommend
from querycloak.logs.atomic import write_text
from querycloak.report import charts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from querycloak.evaluation.comparison import Comparison, Run

__all__ = ["html_report", "recommendation", "write_report"]


def write_report(comparison: Comparison, output: Path) -> Path:
    """Write `report.html` into the directory `output`, next to the results; return its path."""
    path = output / "report.html"
    write_text(path, html_report(comparison))
    return path


def recommendation(comparison: Comparison) -> str:
    """Say in one line which run to take, or that none will do."""
    best = recommend(comparison.runs, comparison.max_risk)
    if best is None:
        return f"No run keeps its worst attack at {comparison.max_risk:.0%} or below: do not publish any of these."
    worst = best.worst
    assert worst is not None
    return (
        f"{best.name} keeps most ({best.utility:.1%} of the topics) of the runs whose worst attack is right at most "
        f"{comparison.max_risk:.0%} of the time: {worst.attack}, {worst.rate:.1%}. {_promise(worst.bound)}"
    )


def _promise(bound: float | None) -> str:
    if bound is None:
        return "Its statement claims no bound: an attack that was not tried may do better."
    return f"Its statement bounds every attack by {bound:.0%}."


def html_report(comparison: Comparison) -> str:
    """Write the whole page."""
    runs = [r for r in comparison.runs if r.error is None]
    best = recommend(comparison.runs, comparison.max_risk)
    counts = ", ".join(f"{n:,} {what}" for what, n in comparison.log.items())
    sections = [
        "<h1>What a release of this log is worth</h1>",
        f"<p class='soft'>{escape(counts)} · QueryCloak {comparison.version}</p>",
        f"<p class='advice{'' if best else ' none'}'><strong>{escape(recommendation(comparison))}</strong></p>",
        "<p class='soft'>Internal: these are trial runs with a known seed. Publish a release made without one.</p>",
        _section("Risk and utility", _RISK_NOTE, charts.risk_chart(comparison) if runs else "", _overview(comparison)),
        _section("What each release guarantees", "", *(_statement(r) for r in comparison.runs)),
        _section(
            "Each attack against its bound", _ATTACK_NOTE, charts.attack_chart(runs) if runs else "", _risks(runs)
        ),
        _section("Utility by measure", "", charts.score_chart(runs) if runs else "", _scores(runs)),
        _section(
            "Groups of equal logs", _GROUP_NOTE, charts.group_chart(runs) if any(r.group_sizes for r in runs) else ""
        ),
        _section("Topics before and after", _TOPIC_NOTE, charts.topic_chart(comparison.topics, runs) if runs else ""),
        _section("How long each step took", "", charts.time_chart(runs) if runs else ""),
        _section("To repeat it", "", f"<p><code>{escape(comparison.repeat)}</code></p>"),
    ]
    body = "\n".join(sections)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>QueryCloak report</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'><link rel='icon' href='data:,'>"
        f"<style>{_style()}</style></head><body>\n{body}\n</body></html>\n"
    )


_RISK_NOTE = (
    "One point per run. To the left is safer: fewer users are found by the worst attack. Upwards is more useful. The "
    "line joins the runs that no other run beats on both; the dashed line is the risk you allow."
)
_ATTACK_NOTE = (
    "Each attack tries to name the user behind a published log. The tick is the bound that the release's statement "
    "claims; a rate whose whole interval lies above it would break the claim."
)
_GROUP_NOTE = "How many published users share exactly the same published log, the user included. 1 = the log is unique."
_TOPIC_NOTE = "The largest topics of the log. Grey: before. Dots: after, one per run."


def _style() -> str:
    return files("querycloak.report").joinpath("report.css").read_text(encoding="utf-8")


def _section(title: str, note: str, *parts: str) -> str:
    note_text = f"<p class='soft'>{escape(note)}</p>" if note else ""
    return f"<section><h2>{escape(title)}</h2>{note_text}{''.join(parts)}</section>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], best: int | None = None) -> str:
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    lines = "".join(
        f"<tr{' class=best' if i == best else ''}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        for i, row in enumerate(rows)
    )
    return f"<div class='wide'><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"


def _overview(comparison: Comparison) -> str:
    best = recommend(comparison.runs, comparison.max_risk)
    on_edge = {r.name for r in frontier(comparison.runs)}
    rows = []
    for r in comparison.runs:
        if r.error is not None:
            rows.append([escape(r.name), f"<span class='over'>failed: {escape(r.error)}</span>", "", "", ""])
            continue
        worst = r.worst
        risk = "none ran" if worst is None else f"{worst.rate:.1%} ({escape(worst.attack)})"
        if worst is not None:
            risk = f"<span class='{'fine' if worst.rate <= comparison.max_risk else 'over'}'>{risk}</span>"
        utility = "" if r.utility is None else f"{r.utility:.1%}"
        rows.append(
            [escape(r.name), risk, utility, "yes" if r.name in on_edge else "", f"{sum(r.seconds.values()):.1f} s"]
        )
    place = next((i for i, r in enumerate(comparison.runs) if best is not None and r.name == best.name), None)
    return _table(["run", "worst attack", "topics kept", "on the frontier", "time"], rows, place)


def _statement(run: Run) -> str:
    if run.statement is None:
        return f"<details><summary>{escape(run.name)}: failed</summary><p>{escape(run.error or '')}</p></details>"
    s = run.statement
    parts = [f"<p>Guarantee: {escape(s.model)} {escape(_numbers(s.parameters))}</p>"]
    for title, lines in (("covers", s.covers), ("does not cover", s.does_not_cover), ("assumes", s.assumptions)):
        if lines:
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<p class='soft'>{title}</p><ul>{items}</ul>")
    dropped = ", ".join(f"{n:,} {escape(why)}" for why, n in s.dropped.items() if n) or "nothing"
    parts.append(
        f"<p class='soft'>rows: {s.counts_in.get('rows', 0):,} in, {s.counts_out.get('rows', 0):,} out; "
        f"left out: {dropped}</p>"
    )
    parts.append(f"<p class='soft'>settings: <code>{escape(_numbers(s.settings))}</code></p>")
    return f"<details><summary>{escape(run.name)}: {escape(s.model)}</summary>{''.join(parts)}</details>"


def _numbers(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _risks(runs: Sequence[Run]) -> str:
    names = list(dict.fromkeys(a.attack for r in runs for a in r.attacks))
    rows = []
    for r in runs:
        found = {a.attack: a for a in r.attacks}
        cells = [escape(r.name)]
        for name in names:
            a = found.get(name)
            broken = a is not None and a.bound is not None and a.low > a.bound
            cells.append("" if a is None else f"<span class='{'over' if broken else ''}'>{a.rate:.1%}</span>")
        bound = next((a.bound for a in r.attacks if a.bound is not None), None)
        rows.append([*cells, "none" if bound is None else f"{bound:.1%}"])
    return _table(["run", *names, "claimed bound"], rows)


def _scores(runs: Sequence[Run]) -> str:
    names = list(dict.fromkeys(s.measure for r in runs for s in r.scores))
    better = {s.measure: s.better for r in runs for s in r.scores}
    arrow = {"higher": "↑", "lower": "↓"}
    rows = [
        [escape(r.name), *(f"{found[n]:.3f}" if n in found else "" for n in names)]
        for r in runs
        for found in [{s.measure: s.value for s in r.scores}]
    ]
    return _table(["run", *(f"{n} {arrow[better[n]]}" for n in names)], rows)
