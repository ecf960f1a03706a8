"""What a report folds: counts, guarantees, the papers' measures, groups, topics, times, and what was not tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.evaluation.spread import curve_of, spread_of
from querycloak.knowledge.concept_topics import NO_TOPIC
from querycloak.report.curves import curve_plot
from querycloak.report.figures import exposure_table, generalization_table
from querycloak.report.pages import Cell, Table, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.run import Run
    from querycloak.measures.score import Score
    from querycloak.report.ranking import RankedRun

__all__ = ["report_details"]

LOSS: Final = "information loss"
ARROWS: Final = {"higher": "↑", "lower": "↓"}
"""Which direction of a measure is better."""
GROUPS: Final = ((1, "alone"), (2, "2 to 4"), (5, "5 to 9"), (10, "10 to 19"), (20, "20 or more"))
"""Groups of equal logs, by the least size of each band."""


def report_details(comparison: Comparison, ranked: Sequence[RankedRun]) -> dict[str, Any]:
    """Return tables and pictures by name."""
    judged = [one for one in ranked if one.judged]
    runs = [one.run for one in judged]
    return {
        "exposure": exposure_table(
            [(str(one.number), one.run.exposure) for one in judged if one.run.exposure is not None],
            [one.run.name for one in judged if one.run.exposure is not None],
        ),
        "not_run": _by_reason({one.name: one.run.not_run for one in judged}, "what it lacked", "open"),
        "nothing": _by_reason({one.name: one.run.nothing for one in judged}, "what is not there"),
        "scores": _scores(judged),
        "losses": _losses(judged),
        "without_loss": [one.name for one in judged if not curve_of(one.run, LOSS)],
        "draws": max([1 + len(run.draws) for run in runs], default=1),
        "generalized": generalization_table([(one.name, one.run) for one in judged]),
        "groups": _groups(judged),
        "topics": _topics(comparison.topics, judged),
        "no_topic": NO_TOPIC if NO_TOPIC in comparison.topics else "",
        "times": _times(ranked),
    }


def _by_reason(reasons: Mapping[str, Mapping[str, str]], head: str, mark: str = "") -> Table:
    """Say which attacks have no result, once for all runs with the same reason; `reasons`: by run and attack."""
    found: dict[tuple[str, str], list[str]] = {}
    for run, attacks in reasons.items():
        for attack, why in attacks.items():
            found.setdefault((attack, why), []).append(run)
    rows = [
        [Cell(attack, mark), Cell(why), Cell("all runs" if len(runs) == len(reasons) else ", ".join(runs))]
        for (attack, why), runs in found.items()
    ]
    return Table(["attack", head, "runs"], rows)


def _scores(runs: Sequence[RankedRun]) -> Table:
    """Return the papers' measures, one row each; those between 0 and 1 for all runs are drawn as bars, too."""
    scores = [s for one in runs for s in one.run.scores]
    arrows = {s.measure: ARROWS[s.better] for s in scores}
    wide = {s.measure for s in scores if not 0 <= s.value <= 1 or s.curve}
    found = {(one.number, s.measure): s for one in runs for s in one.run.scores}
    rows = []
    for name, arrow in arrows.items():
        mine = ((one.run, found.get((one.number, name))) for one in runs)
        cells = (Cell() if s is None else _measured(run, s, drawn=name not in wide) for run, s in mine)
        rows.append([Cell(f"{name} {arrow}"), *cells])
    return Table(["measure", *(str(one.number) for one in runs)], rows, subheads=["", *(one.run.name for one in runs)])


def _measured(run: Run, score: Score, *, drawn: bool) -> Cell:
    """Write a measure: the mean over the draws, and below it the lowest and the highest where they differ."""
    spread = spread_of(run, score.measure)
    notes = [f"{spread.low:.3f} to {spread.high:.3f}"] if spread.moves else []
    if score.curve and "clusters" in score.details:
        notes.insert(0, f"{score.details['clusters']:.0f} clusters")
    return Cell(f"{spread.mean:.3f}", note="; ".join(notes), bar=min(max(spread.mean, 0.0), 1.0) if drawn else None)


class Losses(NamedTuple):
    """The picture of one method: information loss by the number of clusters."""

    method: str
    runs: str
    svg: Markup


def _losses(runs: Sequence[RankedRun]) -> list[Losses]:
    """Draw one small picture per method that has releases whose users can be clustered."""
    out = []
    for method in dict.fromkeys(one.run.method for one in runs):
        mine = [one for one in runs if one.run.method == method and curve_of(one.run, LOSS)]
        if mine:
            at = next(int(s.details["clusters"]) for s in mine[0].run.scores if s.measure == LOSS)
            svg = curve_plot({one.number: curve_of(one.run, LOSS) for one in mine}, at)
            out.append(Losses(method, ", ".join(one.name for one in mine), svg))
    return out


def _groups(runs: Sequence[RankedRun]) -> Table:
    """Return the share of published users by how many share their log."""
    rows = []
    for one in runs:
        users = sum(one.run.group_sizes.values())
        if users:
            shares = dict.fromkeys((least for least, _ in GROUPS), 0.0)
            for size, number in one.run.group_sizes.items():
                shares[max(least for least, _ in GROUPS if least <= size)] += number / users
            cells = [Cell(percent(share), bar=share) for share in shares.values()]
            rows.append([Cell(one.name), Cell(f"{min(one.run.group_sizes)}"), *cells])
    return Table(["share of published users", "smallest group", *(name for _, name in GROUPS)], rows)


def _topics(before: Mapping[str, float], runs: Sequence[RankedRun]) -> Table:
    """Return the share of each of the log's largest topics before and after."""
    most = max([*before.values(), *(v for one in runs for v in one.run.topics.values())], default=0.0) or 1.0
    rows = []
    for topic, share in before.items():
        cells = [Cell(percent(share), bar=share / most)]
        for one in runs:
            after = one.run.topics.get(topic)
            cells.append(Cell() if after is None else Cell(percent(after), bar=after / most))
        rows.append([Cell(topic), *cells])
    subheads = ["", "", *(one.run.name for one in runs)]
    return Table(["topic", "before", *(str(one.number) for one in runs)], rows, subheads=subheads)


def _times(runs: Sequence[RankedRun]) -> Table:
    """Return how many seconds each step took."""
    steps = list(dict.fromkeys(step for one in runs for step in one.run.seconds))
    longest = max([t for one in runs for t in one.run.seconds.values()], default=0.0) or 1.0
    rows = []
    for one in runs:
        if one.run.seconds:
            found = [one.run.seconds.get(step) for step in steps]
            cells = [Cell() if t is None else Cell(f"{t:.1f}", bar=t / longest) for t in found]
            rows.append([Cell(one.name), Cell(f"{sum(one.run.seconds.values()):.1f}"), *cells])
    return Table(["seconds", "all steps", *steps], rows)
