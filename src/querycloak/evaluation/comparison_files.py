"""A comparison as `results.json` and `results.csv`, and back."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import msgspec

from querycloak.evaluation.exposure import exposure_rows
from querycloak.evaluation.run import Run
from querycloak.evaluation.spread import Spread, curve_of, spread_of
from querycloak.logs.formulas import escaped_row
from querycloak.visible import visible_json

if TYPE_CHECKING:
    from querycloak.evaluation.comparison import Comparison

__all__ = ["comparison_csv", "comparison_json", "run_from_json", "run_to_json"]


def comparison_json(comparison: Comparison) -> str:
    """Everything, pretty, with stable keys."""
    return visible_json(msgspec.json.format(msgspec.json.encode(comparison), indent=2).decode()) + "\n"


def comparison_csv(comparison: Comparison, *, safe: bool = True) -> str:
    """One line per number: run, method, what, name, value. With `safe`, no text is a formula (`logs/formulas.py`)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "method", "what", "name", "value"])
    for run in comparison.runs:
        rows: list[tuple[str, str, object]] = [("setting", name, value) for name, value in run.settings.items()]
        for a in run.attacks:
            rows += [("attack", a.attack, a.rate), ("baseline", a.attack, a.baseline.rate), ("lift", a.attack, a.lift)]
            rows += [("lift, at most", a.attack, a.lift_high), ("judged", a.attack, a.judged)]
        rows += [("not run", name, why) for name, why in run.not_run.items()]
        if run.exposure is not None:
            rows += [("exposure", what, value) for what, value, _ in exposure_rows(run.exposure)]
        rows += [("task", u.task, u.value) for u in run.utility]
        rows += [("task, 0 blind to 1 original", u.task, u.scaled) for u in run.utility if u.scaled is not None]
        for s in run.scores:
            rows.append(("measure", s.measure, s.value))
            rows += _spread_rows("measure", s.measure, spread_of(run, s.measure))
            for number, spread in curve_of(run, s.measure).items():
                what = f"measure, at {number}"
                rows += [(what, s.measure, s.curve[number]), *_spread_rows(what, s.measure, spread)]
        if run.generalized is not None:
            rows += [("generalization", name, value) for name, value in run.generalized.details.items()]
        rows += [("seconds", step, round(t, 3)) for step, t in run.seconds.items()]
        if run.error is not None:
            rows.append(("error", "", run.error))
        writer.writerows(escaped_row([run.name, run.method, *row], safe=safe) for row in rows)
    return out.getvalue()


def _spread_rows(what: str, measure: str, spread: Spread) -> list[tuple[str, str, object]]:
    """Return the lines of a figure over several draws; none where there is one draw."""
    if spread.draws == 1:
        return []
    head = f"{what}, of {spread.draws} draws the"
    return [(f"{head} {name}", measure, getattr(spread, name)) for name in ("mean", "low", "high")]


def run_to_json(run: Run) -> bytes:
    """One run, to be found again after an interruption."""
    return msgspec.json.encode(run)


def run_from_json(text: bytes) -> Run | None:
    """Read a run back; None where the text is not one."""
    try:
        return msgspec.json.decode(text, type=Run)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
