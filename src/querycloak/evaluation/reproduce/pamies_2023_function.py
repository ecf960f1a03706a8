"""What Pàmies-Estrems and Garcia-Alfaro (2023) say in Section 5.5 on function, with the test of each sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.evaluation.reproduce.judging import found_if, percent, rank_correlation, with_unit
from querycloak.evaluation.reproduce.pamies_2023_series import CURRENT, DEPTHS, PREVIOUS, by_depth, by_k, level
from querycloak.evaluation.reproduce.paper import Finding, Outcome

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.results import Results

__all__ = ["function_findings"]


def _delay_small(results: Results) -> Outcome:
    before, now = by_k(results, "fig-13", PREVIOUS), by_k(results, "fig-13", CURRENT)
    ends = {d: (before[d][max(before[d])].mean, now[d][max(now[d])].mean) for d in before if d > 1}
    smaller = sum(n < b for b, n in ends.values())
    deepest = max(ends)
    return found_if(
        smaller == len(ends),
        f"smaller for {smaller} of {len(ends)} depths above 1; at depth {deepest} {with_unit(ends[deepest][0])} "
        f"before, {with_unit(ends[deepest][1])} now",
    )


def _delay_grew_before(results: Results) -> Outcome:
    lines = by_k(results, "fig-13", PREVIOUS)
    ends = [line[max(line)].mean for line in lines.values()]
    return found_if(
        rank_correlation(ends) >= 0.9,
        f"{with_unit(ends[0])} at depth {min(lines)}, {with_unit(ends[-1])} at depth {max(lines)}; the paper: over "
        "60,000",
    )


def _delay_range(results: Results) -> Outcome:
    lines = by_k(results, "fig-13", CURRENT)
    ends = [line[max(line)].mean for line in lines.values()]
    return found_if(
        min(ends) > 49 and max(ends) < 268,
        f"{min(ends):.0f} to {max(ends):.0f} records; the paper: 98 to 134; found means within twice that",
    )


def _delay_stable(results: Results) -> Outcome:
    lines = by_k(results, "fig-13", CURRENT)
    growth = {d: line[max(line)].mean / line[min(line)].mean for d, line in lines.items()}
    depth, most = max(growth.items(), key=lambda item: abs(item[1] - 1))
    first = min(next(iter(lines.values())))
    return found_if(
        all(0.5 <= g <= 2 for g in growth.values()),
        f"at the end {most:.2f} times what it was after {percent(first)} of the stream (depth {depth}, where it "
        "changes most); found means between 0.5 and 2",
    )


def _fastest(results: Results) -> Outcome:
    times = {(d, k): p.mean for d, line in by_k(results, "fig-11", CURRENT).items() for k, p in line.items()}
    (depth, k), least = min(times.items(), key=lambda item: item[1])
    at = (min(d for d, _ in times), min(k for _, k in times))
    return found_if(
        times[at] <= 1.05 * least,
        f"{times[at]:.2f} µs at k = {at[1]:g}, depth {at[0]}, the least is {least:.2f} µs at k = {k:g}, depth {depth}; "
        f"{sum(times.values()) / len(times):.2f} µs on average over all; the paper: 1.68 and 11.46",
    )


def _k_costs_more(results: Results) -> Outcome:
    table = by_depth(results, "fig-11", CURRENT)
    over_k = [sum(v.values()) / len(v) for v in table.values()]
    depths = next(iter(table.values()))
    over_depth = [sum(v[d] for v in table.values()) / len(table) for d in depths]
    k_times, depth_times = (max(x) / min(x) for x in (over_k, over_depth))
    return found_if(
        over_k[-1] > over_k[0] and k_times > depth_times,
        f"from {over_k[0]:.2f} µs at the smallest k to {over_k[-1]:.2f} µs at the largest; means over k differ by a "
        f"factor of {k_times:.2f}, over depth of {depth_times:.2f}; the paper: 4.2 to 20.6 µs",
    )


def _faster_than_before(results: Results) -> Outcome:
    before, now = by_depth(results, "fig-11", PREVIOUS), by_depth(results, "fig-11", CURRENT)
    faster = [now[k][d] < before[k][d] for k in before for d in before[k]]
    means = [sum(v for line in x.values() for v in line.values()) / len(faster) for x in (before, now)]
    return found_if(
        all(faster),
        f"at {sum(faster)} of {len(faster)} points; {means[0]:.2f} µs before and {means[1]:.2f} µs now on average",
    )


def _attackers_as_fast(results: Results) -> Outcome:
    one, two = (by_depth(results, "fig-12", f"de-anonymizer {n}") for n in (1, 2))
    means = [sum(v for line in x.values() for v in line.values()) for x in (one, two)]
    ratio = means[0] / means[1]
    return found_if(0.5 <= ratio <= 2, f"de-anonymizer 1 takes {ratio:.2f} times as long as 2; found means 0.5 to 2")


def _fewer_wait(results: Results) -> Outcome:
    before, now = results.line("table-2", PREVIOUS), results.line("table-2", CURRENT)
    fewer = sum(now[at].mean <= before[at].mean for at in now)
    return found_if(
        now[0].mean < before[0].mean / 10,
        f"{with_unit(before[0].mean)} before and {with_unit(now[0].mean)} now, no more at {fewer - 1} of {len(now) - 1}"
        " levels; the paper: 1,326,019 and 263; found means less than a tenth",
    )


def _memory_k(results: Results) -> Outcome:
    table = by_depth(results, "fig-14", CURRENT)
    over_k = [sum(v.values()) / len(v) for v in table.values()]
    over_depth = [sum(v[d] for v in table.values()) / len(table) for d in next(iter(table.values()))]
    k_times, depth_times = (max(x) / min(x) for x in (over_k, over_depth))
    return found_if(
        over_k[-1] > over_k[0] and k_times > depth_times,
        f"means over k differ by a factor of {k_times:.2f}, over depth of {depth_times:.2f}",
    )


def _less_memory(results: Results) -> Outcome:
    before, now = by_depth(results, "fig-14", PREVIOUS), by_depth(results, "fig-14", CURRENT)
    points = [(before[k][d], now[k][d]) for k in before for d in before[k] if d > 1]
    less = sum(n < b for b, n in points)
    return found_if(less == len(points), f"less at {less} of {len(points)} points with depths above 1")


def _linear(results: Results) -> Outcome:
    depths = [d for d in DEPTHS if any(p[2] == f"{CURRENT}, {level(d)}" for p in results.draws)]
    lines = {d: results.line("linear", f"{CURRENT}, {level(d)}") for d in depths}
    growth = [line[max(line)].mean / line[min(line)].mean for line in lines.values()]
    return found_if(
        max(growth) < 1.5,
        f"time per record at the end is {min(growth):.2f} to {max(growth):.2f} times that of the beginning; found means"
        " less than 1.5",
    )


def function_findings() -> tuple[Finding, ...]:
    """Return the findings, in the order of the paper."""
    return (
        Finding("The anonymizer is fastest at k = 3, depth 1.", "Section 5.5.3, Fig. 11", _fastest),
        Finding("depth has little influence on the time, k has more.", "Section 5.5.3, Fig. 11", _k_costs_more),
        Finding("It is faster than the previous proposal at all k and depth.", "Section 5.5.3", _faster_than_before),
        Finding("Both de-anonymizers take about as long.", "Section 5.5.3, Fig. 12", _attackers_as_fast),
        Finding("The delay is much smaller than before for all depth.", "Section 5.5.4, Fig. 13", _delay_small),
        Finding("The delay of the previous proposal grows with depth.", "Section 5.5.4, Fig. 13", _delay_grew_before),
        Finding("The delay is between 98 and 134 records.", "Section 5.5.4, Fig. 13", _delay_range),
        Finding("The delay is stable from the start.", "Section 5.5.4, Fig. 13", _delay_stable),
        Finding("Far fewer users wait at the end than before.", "Section 5.5.5, Table 2", _fewer_wait),
        Finding("Memory depends on k, and less on depth.", "Section 5.5.5, Fig. 14", _memory_k),
        Finding("It takes much less memory than the previous proposal.", "Section 5.5.5, Fig. 14", _less_memory),
        Finding("Time is linear in the length of the stream.", "Section 5.5.6", _linear),
        Finding(
            "The classifier finds a category for 98 % of the log.",
            "Section 5.1",
            why_not="it needs the AOL log and the authors' classifier",
        ),
        Finding(
            "One thread processes the average load of Google with k up to 90.",
            "Section 5.5.3",
            why_not="it is about the machine: see the times of Fig. 11",
        ),
    )
