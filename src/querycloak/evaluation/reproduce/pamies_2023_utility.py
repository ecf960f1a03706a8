"""What Pàmies-Estrems and Garcia-Alfaro (2023) say in Section 5.4 on utility, with the test of each sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.evaluation.reproduce.judging import falls, found_if, percent, trend, with_unit
from querycloak.evaluation.reproduce.pamies_2023_series import CURRENT, KS, PREVIOUS, by_k
from querycloak.evaluation.reproduce.paper import Finding, Outcome

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.results import Line, Results

__all__ = ["utility_findings"]


def _emd(results: Results, panel: str) -> dict[float, Line]:
    """Return the series over depths of each k."""
    ks = [k for k in KS if any(p[:3] == ("fig-9-share", panel, f"k = {k}") for p in results.draws)]
    if not ks:
        results.line("fig-9-share", f"k = {KS[0]}", panel)  # raises, and says why
    return {k: results.line("fig-9-share", f"k = {k}", panel) for k in ks}


def _emd_falls(results: Results) -> Outcome:
    lines = _emd(results, CURRENT)
    down = sum(falls(line) for line in lines.values())
    k, line = next(iter(lines.items()))
    return found_if(down == len(lines), f"for {down} of {len(lines)} k; k = {k:g}: {trend(line, percent=True)}")


def _emd_alike(results: Results) -> Outcome:
    lines = _emd(results, CURRENT)
    depths = next(iter(lines.values()))
    spans = {d: [line[d].mean for line in lines.values()] for d in depths}
    depth, values = max(spans.items(), key=lambda item: max(item[1]) - min(item[1]))
    gap = max(values) - min(values)
    return found_if(
        gap < 0.03,
        f"over all k between {percent(min(values))} and {percent(max(values))} at "
        f"depth {depth:g}; found means less than 3 points apart",
    )


def _emd_at_one(results: Results) -> Outcome:
    lines = _emd(results, CURRENT)
    values = [line[min(line)].mean for line in lines.values()]
    mean = sum(values) / len(values)
    return found_if(abs(mean - 0.4326) < 0.05, f"{percent(mean)}; the paper: 43.26 %; found means within 5 points")


def _emd_vanishes(results: Results) -> Outcome:
    lines = _emd(results, CURRENT)
    values = [(point.mean, k, d) for k, line in lines.items() for d, point in line.items() if d >= 8]
    most, k, depth = max(values)
    return found_if(
        most < 0.01,
        f"{percent(min(values)[0])} to {percent(most)} at depths of 8 or more (the most at k = {k:g}, depth {depth:g})",
    )


def _largest_same(results: Results) -> Outcome:
    ks = list(_emd(results, CURRENT))
    values = [p.mean for k in ks for p in results.line("fig-9", f"largest, k = {k}", CURRENT).values()]
    spread = max(values) / min(values) - 1
    return found_if(
        spread < 0.05,
        f"from {with_unit(min(values))} to {with_unit(max(values))} edges per user; found means less than 5 % apart",
    )


def _utility_cost(results: Results) -> Outcome:
    before, now = _emd(results, PREVIOUS), _emd(results, CURRENT)
    gaps = [now[k][d].mean - before[k][d].mean for k in before for d in before[k]]
    mean = sum(gaps) / len(gaps)
    return found_if(
        0 < mean < 0.05,
        f"{100 * mean:+.1f} points of EMD share against the previous proposal on average; found means 0 to 5",
    )


def _previous_loses_nothing(results: Results) -> Outcome:
    lines = _emd(results, PREVIOUS)
    values = [line[max(line)].mean for line in lines.values()]
    return found_if(
        max(values) < 0.01,
        f"{percent(min(values))} to {percent(max(values))} at the largest depth, with what "
        "did not leave counted as lost",
    )


def _all_leave(results: Results) -> Outcome:
    now = by_k(results, "fig-10", CURRENT)
    values = [(point.mean, d, x) for d, line in now.items() for x, point in line.items()]
    least, depth, share = min(values)
    return found_if(
        least > 0.95,
        f"at least {percent(least)} (depth {depth}, after {percent(share)} of the stream); found means more "
        "than 95 % everywhere",
    )


def _fewer_left_before(results: Results) -> Outcome:
    before, now = by_k(results, "fig-10", PREVIOUS), by_k(results, "fig-10", CURRENT)
    deepest = max(before)
    rows = [(d, before[d][max(before[d])].mean, now[d][max(now[d])].mean) for d in before if d > 1]
    fewer = sum(b < a for _, b, a in rows)
    _, b, a = rows[-1]
    return found_if(
        fewer == len(rows),
        f"fewer for {fewer} of {len(rows)} depths above 1; at depth {deepest} {percent(b)} before, {percent(a)} now",
    )


def utility_findings() -> tuple[Finding, ...]:
    """Return the findings, in the order of the paper."""
    utility = "Section 5.4"
    return (
        Finding("The EMD falls as depth grows.", f"{utility}, Fig. 9", _emd_falls),
        Finding("The EMD is not affected by k.", f"{utility}, Fig. 9", _emd_alike),
        Finding("The largest possible EMD depends on neither k nor depth.", f"{utility}, Fig. 9", _largest_same),
        Finding("At depth 1 the loss of utility is 43 %.", f"{utility}, Fig. 9", _emd_at_one),
        Finding("The loss of utility is below 1 % for depth ≥ 8.", "Section 6, Fig. 9", _emd_vanishes),
        Finding("Utility is about 2 % lower than with the previous proposal.", f"{utility}, Fig. 9", _utility_cost),
        Finding(
            "The previous proposal loses no utility at the largest depth.",
            f"{utility}, Fig. 9",
            _previous_loses_nothing,
        ),
        Finding(
            "Almost 100 % of the records leave, at every depth and all the time.", f"{utility}, Fig. 10", _all_leave
        ),
        Finding("Of the previous proposal fewer leave.", f"{utility}, Fig. 10", _fewer_left_before),
    )
