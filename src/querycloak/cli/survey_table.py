"""What a survey prints: a line per window, then one over all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.cli.say import say, say_json
from querycloak.live.survey.window import ATTACKERS

if TYPE_CHECKING:
    from querycloak.live.survey.surveyor import Survey

__all__ = ["SurveyTable"]

HEADS: Final = ("window", "records", "left", "waiting", "delay p50", "p99", *ATTACKERS, "1/k", "EMD", "edges")
WIDTHS: Final = (7, 10, 7, 9, 9, 8, *(15,) * len(ATTACKERS), 6, 6, 6)


class SurveyTable:
    """Prints surveys as they come."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._begun = False

    def add(self, survey: Survey) -> None:
        """Print one line."""
        if self._as_json:
            import msgspec

            say_json(msgspec.json.encode(survey).decode())
            return
        if not self._begun:
            say(_line(HEADS))
            self._begun = True
        say(_line(_cells(survey)))
        if survey.window is None:
            levels = ", ".join(f"{n:,} at level {i}" for i, n in enumerate(survey.waiting_per_level) if n)
            say(f"not left: {levels or 'none'} (level 0 = unclassified)")


def _line(cells: tuple[str, ...]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def _cells(survey: Survey) -> tuple[str, ...]:
    right = {a.attacker: f"{a.rate:.1%} (≤ {a.high:.1%})" if a.targets else "-" for a in survey.reidentified}
    delays = [f"{survey.delays[name]:,.0f}" if survey.delays else "-" for name in ("delay p50", "delay p99")]
    emd = survey.emd
    return (
        "all" if survey.window is None else str(survey.window),
        f"{survey.records:,}",
        f"{survey.left:.1%}",
        f"{survey.waiting:,}",
        *delays,
        *(right.get(name, "-") for name in ATTACKERS),
        f"{survey.one_in_k:.1%}",
        "-" if emd is None else f"{emd.share:.1%}",
        "-" if emd is None else f"{emd.edges_per_query:.2f}",
    )
