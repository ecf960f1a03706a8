"""What Pàmies-Estrems and Garcia-Alfaro (2023) say in Section 5.3 on privacy, with the test of each sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.evaluation.reproduce.judging import falls, found_if, percent, rank_correlation, trend
from querycloak.evaluation.reproduce.pamies_2023_series import (
    CURRENT,
    FIRST,
    PREVIOUS,
    SECOND,
    by_depth,
    by_k,
    ends_of,
    level,
)
from querycloak.evaluation.reproduce.paper import Finding, Outcome
from querycloak.measures.against_bound import against_bound

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.results import Results

__all__ = ["privacy_findings"]


def _below_bound(results: Results) -> Outcome:
    worst, points, below = 0.0, 0, 0
    for panel in (FIRST, SECOND):
        for line in by_k(results, "fig-6", panel).values():
            for k, point in line.items():
                points += len(point.values)
                below += sum(v < 1 / k for v in point.values)
                worst = max(worst, *(v * k for v in point.values))
    return found_if(below == points, f"in {below} of {points} runs; the highest rate is {worst:.2f} times 1/k")


def _kolmogorov(results: Results) -> Outcome:
    line = results.line("fig-6", level(1), SECOND)
    d, p = against_bound([point.mean for point in line.values()], [int(k) for k in line])
    return found_if(p > 0.05, f"D = {d:.2f}, p = {p:.4f} over {len(line)} k; the paper: D = 0.18, p = 0.9971")


def _highest(results: Results) -> Outcome:
    rates = {
        (panel, d, k): point.mean
        for panel in (FIRST, SECOND)
        for d, line in by_k(results, "fig-6", panel).items()
        for k, point in line.items()
    }
    (_, depth, k), rate = max(rates.items(), key=lambda item: item[1])
    least_k, least_depth = min(k for _, _, k in rates), min(d for _, d, _ in rates)
    return found_if(
        (depth, k) == (least_depth, least_k),
        f"the highest rate is {percent(rate)} at k = {k:g}, depth {depth}; the paper: 13.19 % at k = 3, depth 1",
    )


def _falls_with_k(results: Results) -> Outcome:
    lines = [(panel, d, line) for panel in (FIRST, SECOND) for d, line in by_k(results, "fig-6", panel).items()]
    down = sum(falls(line) for _, _, line in lines)
    _, depth, line = lines[0]
    return found_if(
        down == len(lines), f"for {down} of {len(lines)} series; depth {depth}: {trend(line, percent=True)}"
    )


def _with_depth(results: Results, panels: tuple[str, ...], sign: int) -> Outcome:
    """Test that rates fall (-1) or rise (1) with depth at every k."""
    series = [(k, values) for panel in panels for k, values in by_depth(results, "fig-6", panel).items()]
    holds = sum(
        sign * rank_correlation(list(v.values())) >= 0.9 and sign * (v[max(v)] - v[min(v)]) > 0 for _, v in series
    )
    k, values = series[0]
    return found_if(holds == len(series), f"at {holds} of {len(series)} k; k = {k:g}: {ends_of(values)}")


def _below_one_percent(results: Results) -> Outcome:
    rates = [
        (point.mean, d, k)
        for panel in (FIRST, SECOND)
        for d, line in by_k(results, "fig-6", panel).items()
        for k, point in line.items()
        if d >= 3 and k >= 30
    ]
    rate, depth, k = max(rates)
    below = sum(r < 0.01 for r, _, _ in rates)
    return found_if(
        below == len(rates),
        f"at {below} of {len(rates)} points; the highest is {percent(rate)} at k = {k:g}, depth {depth}",
    )


def _better_than_before(results: Results) -> Outcome:
    before, now = by_depth(results, "fig-6", PREVIOUS), by_depth(results, "fig-6", FIRST)
    pairs = [(before[k][d], now[k][d]) for k in before for d in before[k] if d > 1]
    lower = sum(b < a for a, b in pairs)
    means = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
    return found_if(
        lower == len(pairs),
        f"lower at {lower} of {len(pairs)} points with depths above 1; {percent(means[0])} before and "
        f"{percent(means[1])} now on average",
    )


def _alike_at_one(results: Results) -> Outcome:
    before, now = results.line("fig-6", level(1), PREVIOUS), results.line("fig-6", level(1), FIRST)
    gap = max(abs(before[k].mean - now[k].mean) for k in before)
    return found_if(gap < 0.01, f"at most {100 * gap:.2f} points apart; found means less than 1")


def _attackers_alike(results: Results) -> Outcome:
    one, two = by_depth(results, "fig-6", FIRST), by_depth(results, "fig-6", SECOND)
    gap, k, depth = max((abs(one[k][d] - two[k][d]), k, d) for k in one for d in one[k])
    return found_if(
        gap < 0.02, f"at most {100 * gap:.2f} points apart, at k = {k:g}, depth {depth}; found means less than 2"
    )


def _never_own(results: Results) -> Outcome:
    lines = by_k(results, "fig-6", FIRST)
    runs = sum(len(point.values) for line in lines.values() for point in line.values())
    return found_if(runs > 0, f"in none of {runs} runs: a release with such a record does not pass the gate")


def _bags(results: Results) -> Outcome:
    table = by_depth(results, "fig-8", CURRENT)
    down = sum(v[max(v)] < v[min(v)] for v in table.values())
    k, values = next(iter(table.items()))
    return found_if(
        down == len(table), f"smaller at the largest depth for {down} of {len(table)} k; k = {k:g}: "
        f"{ends_of(values, as_percent=False)}"
    )  # fmt: skip


def _bags_near_k(results: Results) -> Outcome:
    table = by_depth(results, "fig-8", CURRENT)
    ratios = [v[d] / k for k, v in table.items() for d in v if d >= 3]
    near = sum(0.5 <= r <= 2 for r in ratios)
    return found_if(
        near == len(ratios),
        f"|Q|/k is {min(ratios):.2f} to {max(ratios):.2f} at depths of 3 or more; found means between 0.5 and 2",
    )


def privacy_findings() -> tuple[Finding, ...]:
    """Return the findings, in the order of the paper."""
    privacy = "Section 5.3"
    return (
        Finding("No record leaves under the user that asked it.", privacy, _never_own),
        Finding("The probability of re-identification is consistently below 1/k.", f"{privacy}, Fig. 6", _below_bound),
        Finding("At depth 1 the rates agree with 1/k by the test of Kolmogorov and Smirnov.", "Fig. 7", _kolmogorov),
        Finding("Re-identification is highest at the lowest k and depth.", f"{privacy}, Fig. 6", _highest),
        Finding("The higher k, the lower the re-identification.", f"{privacy}, Fig. 6", _falls_with_k),
        Finding(
            "With the current proposal, re-identification falls as depth grows.",
            f"{privacy}, Fig. 6",
            lambda results: _with_depth(results, (FIRST, SECOND), -1),
        ),
        Finding(
            "With the previous proposal, re-identification rises as depth grows.",
            f"{privacy}, Fig. 6",
            lambda results: _with_depth(results, (PREVIOUS,), 1),
        ),
        Finding("Re-identification is below 1 % for k ≥ 30 and depth ≥ 3.", f"{privacy}, Fig. 6", _below_one_percent),
        Finding("Privacy is better than with the previous proposal.", f"{privacy}, Fig. 6", _better_than_before),
        Finding("At depth 1 both proposals have similar results.", privacy, _alike_at_one),
        Finding("The two de-anonymizers do not differ significantly.", privacy, _attackers_alike),
        Finding("The final |Q| falls as depth grows.", f"{privacy}, Fig. 8", _bags),
        Finding("|Q| is near k for depth ≥ 3.", f"{privacy}, Fig. 8", _bags_near_k),
    )
