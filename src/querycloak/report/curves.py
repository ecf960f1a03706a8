"""Information loss by the number of clusters: one small picture per method, a line and a band per run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.report.plots import Badge, Dot, Line, Plot, Scale, area, draw, number, ranges

if TYPE_CHECKING:
    from markupsafe import Markup

    from querycloak.evaluation.spread import Spread

__all__ = ["curve_plot"]

_LABEL: Final = 12
"""Height of a label."""
_HEIGHT: Final = 170


def curve_plot(curves: dict[int, dict[int, Spread]], marked: int) -> Markup:
    """Draw a percentage by the number of clusters for the runs of one method: `curves` are by the number of the run.

    A line is the mean over the draws, the band around it goes from the lowest to the highest; a dashed rule marks the
    number of clusters of the headline value.
    """
    (left, right), (bottom, top) = area(_HEIGHT)
    clusters = sorted({at for curve in curves.values() for at in curve})
    x = Scale(clusters[0], max(clusters[-1], clusters[0] + 1), left, right - 26, "log")
    y = Scale(0, 100, bottom, top)
    marks: list[Line | Dot | Badge] = [Line([(x.at(marked), bottom), (x.at(marked), top)], kind="rule")]
    for series, curve in enumerate(curves.values()):
        there = [(x.at(at), y.at(s.high)) for at, s in curve.items()]
        back = [(x.at(at), y.at(s.low)) for at, s in reversed(curve.items())]
        line = [(x.at(at), y.at(s.mean)) for at, s in curve.items()]
        marks += [Line([*there, *back], series, "band"), Line(line, series), *(Dot(*at, series) for at in line)]
    marks += [Badge(x.at(at), y.at(mean), text, plain=True) for mean, at, text in _end_labels(curves)]
    plot = Plot(
        title="Information loss by the number of clusters",
        x=x._replace(end=right),
        y=y,
        x_title="number of clusters",
        y_title="← lower is better: lost, %",
        x_ticks=x.ticks(clusters, number),
        y_ticks=y.ticks([0, 25, 50, 75, 100], number),
        marks=marks,
    )
    return draw(plot)


def _end_labels(curves: dict[int, dict[int, Spread]]) -> list[tuple[float, int, str]]:
    """Return the numbers of the runs, to be written where their lines end; of lines that end together in one label."""
    ends = sorted((curve[max(curve)].mean, max(curve), run) for run, curve in curves.items())
    labels: list[tuple[float, int, list[int]]] = []
    for mean, at, run in ends:
        if labels and labels[-1][1] == at and (mean - labels[-1][0]) / 100 * _HEIGHT < _LABEL:
            labels[-1][2].append(run)
        else:
            labels.append((mean, at, [run]))
    return [(mean, at, ranges(sorted(runs))) for mean, at, runs in labels]
