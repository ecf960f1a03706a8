"""What Erola and Castellà-Roca say of their results, and the tests of it.

What is said of SRP is tested twice. As printed: categories of a user are a set, and a query is kept where its category
is published at all; with 400 queries per user both are near their ceiling, and little can be told apart. And in our
reading: users are compared by bags, and a published query answers for one original query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.evaluation.reproduce.judging import all_below, falls, found_if, shares_below, with_unit
from querycloak.evaluation.reproduce.paper import Finding, Outcome
from querycloak.evaluation.reproduce.results import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from querycloak.evaluation.reproduce.results import Results

    Judge = Callable[[Results, "Reading"], Outcome]

__all__ = ["FINDINGS", "LENGTH", "NEW", "NEW_BAGS", "OLD", "OLD_BAGS", "RANDOM", "STRICT"]

NEW, OLD = "by sites (new)", "by words (2010)"
NEW_BAGS, OLD_BAGS = "by sites, bags", "by words, bags"
RANDOM, LENGTH = "random groups", "by length alone"
"""controls, which know no category: with sets all users are alike to them, with bags those with as many queries"""
ALL, ALIKE = "fig-2", "fig-3"
STRICT: Final = "-strict"
"""end of the key of a figure that counts one for one"""
ABOUT: Final = (0.5, 1.5)
"""'About 10 %' is found from half of it to one and a half times."""
TIMES: Final = 1.5
"""A gain is more than another where it is so many times as large; the paper's is twice."""
LEAST_GAIN: Final = 0.01
"""What is less than a point is not told from chance."""
SAME: Final = 1e-9

Gain = tuple[float, float]
"""in points, and as a share of what is less"""


class Reading(NamedTuple):
    """How the paper is read."""

    end: str
    """of the key of a figure"""
    new: str
    old: str
    control: str
    """series"""


PRINTED: Final = Reading("", NEW, OLD, RANDOM)
OURS: Final = Reading(STRICT, NEW_BAGS, OLD_BAGS, LENGTH)


def _gain(results: Results, figure: str, over: str, new: str) -> Gain:
    """Return by how much the new method is above another series, on average over all L and k."""
    points = shares_below(results, figure, over, new)
    return sum(b - a for *_, a, b in points) / len(points), sum(b / a - 1 for *_, a, b in points) / len(points)


def _says(gain: Gain) -> str:
    return f"{100 * gain[0]:+.2g} points ({100 * gain[1]:+.2g} %)"


def _about(figure: str, share: float) -> Judge:
    def judge(results: Results, reading: Reading) -> Outcome:
        gain = _gain(results, figure + reading.end, reading.old, reading.new)
        low, high = (times * share for times in ABOUT)
        return found_if(
            any(low <= g <= high for g in gain),
            f"{_says(gain)} on average; found means {100 * low:g} to {100 * high:g}, points or %",
        )

    return judge


def _everywhere(results: Results, reading: Reading) -> Outcome:
    return all_below(results, ALL + reading.end, reading.old, reading.new, percent=True)


def _above_control(results: Results, reading: Reading) -> Outcome:
    """Test groups by likeness against groups that know no category: a tie is no gain."""
    figure = ALL + reading.end
    everywhere = all_below(results, figure, reading.control, reading.new, percent=True)
    gains = [f"{_says(_gain(results, figure, control, reading.new))} over {control}" for control in (RANDOM, LENGTH)]
    return Outcome(everywhere.verdict, f"on average {', '.join(gains)}; over {reading.control} {everywhere.figures}")


def _falls_with_depth(results: Results, reading: Reading) -> Outcome:
    figure = ALL + reading.end
    panels = results.panels(figure)
    lines = {
        (series, k): {float(at): results.summary(Place(figure, panel, series, k)) for at, panel in enumerate(panels)}
        for series in (reading.new, reading.old)
        for k in results.line(figure, series, panels[0])
    }
    holds = [falls(line) for line in lines.values()]
    ends = [_mean([line[at].mean for line in lines.values()]) for at in (0.0, len(panels) - 1.0)]
    return found_if(
        all(holds),
        f"in {sum(holds)} of {len(holds)} series; on average {with_unit(ends[0], percent=True)} at {panels[0]}, "
        f"{with_unit(ends[1], percent=True)} at {panels[-1]}",
    )


def _falls_with_k(results: Results, reading: Reading) -> Outcome:
    figure = ALL + reading.end
    lines = [
        results.line(figure, series, panel) for series in (reading.new, reading.old) for panel in results.panels(figure)
    ]
    holds = [falls(line) for line in lines]
    first, last = min(lines[0]), max(lines[0])
    ends = [_mean([line[k].mean for line in lines]) for k in (first, last)]
    return found_if(
        all(holds),
        f"in {sum(holds)} of {len(holds)} series; on average {with_unit(ends[0], percent=True)} at k = {first:g}, "
        f"{with_unit(ends[1], percent=True)} at k = {last:g}",
    )


def _more_when_alike(results: Results, reading: Reading) -> Outcome:
    pairs = [
        (results.line(ALL + reading.end, reading.new, panel)[k].mean, point.mean)
        for panel in results.panels(ALIKE + reading.end)
        for k, point in results.line(ALIKE + reading.end, reading.new, panel).items()
    ]
    holds = [a < b for a, b in pairs]
    means = [_mean(side) for side in zip(*pairs, strict=True)]
    return found_if(
        all(holds),
        f"at {sum(holds)} of {len(holds)} points; on average {with_unit(means[1], percent=True)} for the most similar, "
        f"{with_unit(means[0], percent=True)} for all",
    )


def _gains_more_when_alike(results: Results, reading: Reading) -> Outcome:
    everybody, alike = (_gain(results, figure + reading.end, reading.old, reading.new) for figure in (ALL, ALIKE))
    return found_if(
        alike[0] >= max(TIMES * everybody[0], LEAST_GAIN),
        f"{_says(alike)} for the most similar, {_says(everybody)} for all; found means {TIMES:g} times or more, "
        f"and {100 * LEAST_GAIN:g} point or more",
    )


def _hidden_among_k(results: Results) -> Outcome:
    """Test k <= group <= 2k - 1 in every run, and that who knows everything links no more than 1 / k."""
    sizes = {
        which: [
            (k, v)
            for method in (NEW, OLD)
            for k, p in results.line("groups", f"{which} group, {method}").items()
            for v in p.values
        ]
        for which in ("smallest", "largest")
    }
    linked = [(k, v) for series in (NEW, OLD) for k, p in results.line("linkage", series).items() for v in p.values]
    holds = (
        all(size >= k for k, size in sizes["smallest"])
        and all(size <= 2 * k - 1 for k, size in sizes["largest"])
        and all(rate <= 1 / k + SAME for k, rate in linked)
    )
    least = min(sizes["smallest"], key=lambda one: one[1] - one[0])
    most = max(sizes["largest"], key=lambda one: one[1] - 2 * one[0])
    risk = max(linked, key=lambda one: one[0] * one[1])
    return found_if(
        holds,
        f"smallest group {least[1]:g} at k = {least[0]:g}, largest {most[1]:g} at k = {most[0]:g}; who knows all "
        f"queries of a user links at most {with_unit(risk[1], percent=True)} at k = {risk[0]:g}",
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _both(says: str, where: str, judge: Judge) -> tuple[Finding, Finding]:
    """Return the finding as printed, and in our reading."""
    return (
        Finding(says, where, lambda results: judge(results, PRINTED)),
        Finding(f"In our reading: {says}", f"{where}; strict SRP, users by bags", lambda results: judge(results, OURS)),
    )


FINDINGS: Final = (
    Finding(
        "Every user is hidden among k - 1 others; groups have k to 2k - 1 users.",
        "Sections IV and V-B1",
        _hidden_among_k,
    ),
    *_both("The new method gets about 10 % more SRP than Erola 2010.", "Section V-B2, Fig. 2", _about(ALL, 0.10)),
    *_both("It is better at every depth and every k.", "Section V-B2, Fig. 2", _everywhere),
    *_both(
        "SRP is higher at the upper levels and lower at the deeper ones.", "Section V-B2, Fig. 2", _falls_with_depth
    ),
    *_both("The larger k, the more information is lost.", "Section III, Fig. 2", _falls_with_k),
    *_both(
        "For the 100 most similar users the new method gets 21 % more SRP than Erola 2010.",
        "Section V-B2, Fig. 3",
        _about(ALIKE, 0.21),
    ),
    *_both("The more alike users are, the better the new method is.", "Section V-B2, Fig. 3", _more_when_alike),
    *_both(
        "The more alike users are, the more the new method gains over Erola 2010.",
        "Sections V-B2 and VI, Fig. 3",
        _gains_more_when_alike,
    ),
    *_both(
        "Groups of users who share most categories make a published log that is more like each of them.",
        "Section IV, against groups that know no category (ours)",
        _above_control,
    ),
    Finding(
        "Methods that split queries into words do not understand all queries, and lose more for it.",
        "Section VI",
        why_not="no log here says what its users meant, apart from the sites they clicked; the loss is above",
    ),
    Finding(
        "The first result of a search engine tells what an ambiguous query means.",
        "Section IV",
        why_not="there is no search engine here; the site that a user clicked is taken for its first result",
    ),
    Finding(
        "Users of a social network, who share many interests, would be served better.",
        "Section VI",
        why_not="there is no log of a social network",
    ),
    Finding(
        "Where the queries of a group have no interest in common, they can be parted into profiles of real users.",
        "Section VI",
        why_not="the paper leaves it to later work; querycloak attack has attackers who try (claim, attribute)",
    ),
)
