"""What Sánchez et al. (2018) say of their results, sentence by sentence, with the test of each.

Each test is made with ε for each query, which the paper's curves fit, and again with ε for a user. The first decides;
what became of the second is told next to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.evaluation.reproduce.judging import falls, found_if, trend, with_unit
from querycloak.evaluation.reproduce.paper import Finding, Outcome
from querycloak.evaluation.reproduce.results import MissingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.evaluation.reproduce.results import Results

__all__ = ["CRITERIA", "EQUAL", "HBDP", "LOGS", "QUERY", "USER", "findings"]

CRITERIA: Final = {"SQC1": "sqc1", "SQC2": "sqc2", "NSQC": "nsqc"}
HBDP: Final = "HBDP"
EQUAL: Final = ", D = P"
QUERY, USER = "ε for each query", "ε for each user (Proposition 3)"
LOGS: Final = "logs"
A, B, C = "fig-2", "fig-3", "fig-4"
EXACT: Final = 0.01
"""Profiles are read from published labels, and a few concepts have none whose first sense they are."""

Loss = dict[float, float]
"""ε → mean loss"""


def _loss(results: Results, figure: str, series: str, panel: str) -> Loss:
    return {epsilon: point.mean for epsilon, point in results.line(figure, series, panel).items()}


def _both(test: Callable[[Results, str], Outcome]) -> Callable[[Results], Outcome]:
    """Test both readings of ε; the first decides."""

    def judge(results: Results) -> Outcome:
        first = test(results, QUERY)
        try:
            second = test(results, USER)
        except MissingError:
            return first
        return Outcome(first.verdict, f"{first.figures}. With {USER}: {second.verdict}, {second.figures}")

    return judge


def _zero(results: Results, panel: str) -> Outcome:
    losses = [v for f in (A, B, C) for s in CRITERIA for v in _loss(results, f, s + EQUAL, panel).values()]
    return found_if(
        max(losses) <= EXACT,
        f"at most {max(losses):.4f}; found means {EXACT:g} or less, since profiles are read from published labels, of "
        "which some have another first sense",
    )


def _falls(results: Results, panel: str) -> Outcome:
    lines = {(f, s): results.line(f, s, panel) for f in (A, B, C) for s in CRITERIA}
    down = sum(falls(line) for line in lines.values())
    return found_if(
        down == len(lines), f"for {down} of {len(lines)} series; SQC2 in setting A: {trend(lines[A, 'SQC2'])}"
    )


def _four_times(results: Results, panel: str) -> Outcome:
    semantic, plain = (_loss(results, A, s, panel) for s in ("SQC2", "NSQC"))
    last = max(semantic)
    times = plain[last] / semantic[last]
    return found_if(
        times >= 3,
        f"NSQC {plain[last]:.3f}, SQC2 {semantic[last]:.3f} at ε = {last:g}: {times:.1f} times; found means 3 times or "
        "more",
    )


def _sqc2_best(results: Results, panel: str) -> Outcome:
    best = _loss(results, A, "SQC2", panel)
    others = [_loss(results, A, s, panel) for s in ("SQC1", "NSQC")]
    points = [(e, o[e] - v) for e, v in best.items() if e > 1 for o in others]
    lower = sum(gap > 0 for _, gap in points)
    last = max(best)
    return found_if(
        lower == len(points),
        f"at {lower} of {len(points)} points with ε above 1; at ε = {last:g} SQC2 {best[last]:.3f}, SQC1 "
        f"{others[0][last]:.3f}, NSQC {others[1][last]:.3f}",
    )


def _nsqc_worst(results: Results, panel: str) -> Outcome:
    worst, other = (_loss(results, A, s, panel) for s in ("NSQC", "SQC1"))
    means = [sum(x.values()) / len(x) for x in (worst, other)]
    ratio = means[0] / means[1]
    return found_if(1 <= ratio < 1.5, f"NSQC is {ratio:.2f} times SQC1 on average; found means 1 to 1.5 times")


def _hbdp_largest(results: Results, panel: str) -> Outcome:
    points = []
    for figure in (A, B, C):
        histogram = _loss(results, figure, HBDP, panel)
        for series in CRITERIA:
            points += [(histogram[e], v, figure) for e, v in _loss(results, figure, series, panel).items()]
    larger = sum(h > v for h, v, _ in points)
    held = [n for n, f in (("A", A), ("B", B), ("C", C)) if all(h > v for h, v, g in points if g == f)]
    return found_if(
        larger == len(points), f"at {larger} of {len(points)} points; at all points of: {', '.join(held) or 'none'}"
    )


def _hbdp_equal(results: Results, panel: str) -> Outcome:
    histogram, plain = _loss(results, A, HBDP + EQUAL, panel), _loss(results, A, "NSQC", panel)
    ratios = [histogram[e] / plain[e] for e in histogram]
    mean = sum(histogram.values()) / len(histogram)
    return found_if(
        0.5 <= sum(ratios) / len(ratios) <= 2,
        f"HBDP loses {mean:.3f} at D = P, {min(ratios):.1f} to {max(ratios):.1f} times NSQC at D > P; found means not "
        "zero, and 0.5 to 2 times on average",
    )


def _b_above_a(results: Results, panel: str) -> Outcome:
    pairs = [
        (b, a)
        for s in CRITERIA
        for b, a in zip(_loss(results, B, s, panel).values(), _loss(results, A, s, panel).values(), strict=True)
    ]
    above = sum(b > a for b, a in pairs)
    return found_if(
        above == len(pairs),
        f"at {above} of {len(pairs)} points; on average {sum(b for b, _ in pairs) / len(pairs):.3f} in B, "
        f"{sum(a for _, a in pairs) / len(pairs):.3f} in A",
    )


def _nsqc_worse_in_b(results: Results, panel: str) -> Outcome:
    ratios = []
    for figure in (A, B):
        plain, semantic = (_loss(results, figure, s, panel) for s in ("NSQC", "SQC1"))
        ratios.append(plain[max(plain)] / semantic[max(semantic)])
    return found_if(
        ratios[1] > ratios[0],
        f"NSQC is {ratios[0]:.2f} times SQC1 in A and {ratios[1]:.2f} times in B at the largest ε",
    )


def _hbdp_twice(results: Results, panel: str) -> Outcome:
    a, b = (_loss(results, f, HBDP, panel) for f in (A, B))
    ratio = sum(b.values()) / sum(a.values())
    return found_if(ratio > 2, f"{ratio:.2f} times")


def _hbdp_flat(results: Results, panel: str) -> Outcome:
    loss = _loss(results, B, HBDP, panel)
    fall = 1 - loss[max(loss)] / loss[min(loss)]
    return found_if(fall < 0.1, f"it falls by {with_unit(fall, percent=True)} over all ε; found means less than 10 %")


def _c_smaller(results: Results, panel: str) -> Outcome:
    means = {
        name: sum(v for s in CRITERIA for v in _loss(results, f, s, panel).values())
        / sum(len(_loss(results, f, s, panel)) for s in CRITERIA)
        for name, f in (("A", A), ("B", B), ("C", C))
    }
    return found_if(
        means["C"] < means["A"] and means["C"] < means["B"],
        ", ".join(f"{name} {mean:.3f}" for name, mean in means.items()) + " on average",
    )


def _c_semantic(results: Results, panel: str) -> Outcome:
    plain = _loss(results, C, "NSQC", panel)
    last = max(plain)
    times = [plain[last] / _loss(results, C, s, panel)[last] for s in ("SQC1", "SQC2")]
    return found_if(
        min(times) > 1.5,
        f"NSQC loses {times[0]:.1f} times as much as SQC1 and {times[1]:.1f} times as much as SQC2 at ε = {last:g}; "
        "found means more than 1.5 times",
    )


def _sum(results: Results, panel: str) -> Outcome:
    ratios = []
    for series in CRITERIA:
        a, b, c = (_loss(results, f, series, panel) for f in (A, B, C))
        ratios += [(a[e] + c[e]) / b[e] for e in b]
    return found_if(
        min(ratios) > 0.75 and max(ratios) < 1.25,
        f"(A + C) / B is {min(ratios):.2f} to {max(ratios):.2f}; found means 0.75 to 1.25",
    )


def _hbdp_c_like_b(results: Results, panel: str) -> Outcome:
    b, c = (_loss(results, f, HBDP, panel) for f in (B, C))
    ratio = sum(c.values()) / sum(b.values())
    return found_if(0.8 < ratio < 1.25, f"C is {ratio:.2f} times B; found means 0.8 to 1.25 times")


def _order_of_magnitude(results: Results, panel: str) -> Outcome:
    histogram = _loss(results, C, HBDP, panel)
    ratios = [histogram[e] / v for s in CRITERIA for e, v in _loss(results, C, s, panel).items()]
    return found_if(
        min(ratios) > 5, f"{min(ratios):.1f} to {max(ratios):.1f} times the others in C; found means 5 times or more"
    )


def _users(results: Results) -> Outcome:
    spans = {}
    for series in CRITERIA:
        values = [point.mean for point in results.line(LOGS, series).values()]
        spans[series] = (min(values), max(values))
    worst = max(high - low for low, high in spans.values())
    return found_if(
        worst < 0.05,
        "; ".join(f"{s} {low:.3f} to {high:.3f}" for s, (low, high) in spans.items())
        + "; found means 0.05 apart or less",
    )


def findings() -> tuple[Finding, ...]:
    """Return all findings, in the order of the paper."""
    a, b, c = "Section 4, Fig. 2", "Section 4, Fig. 3", "Section 4, Fig. 4"
    return (
        Finding("The number of logs has no significant influence on the loss.", "Section 4", _users),
        Finding("With D = P nothing is lost, at any ε, by all three criteria.", a, _both(_zero)),
        Finding("With D > P the loss falls as ε grows.", a, _both(_falls)),
        Finding("SQC2 loses about 4 times less than NSQC near ε = 10.", a, _both(_four_times)),
        Finding("For ε > 1 SQC2 is better than SQC1 and NSQC.", a, _both(_sqc2_best)),
        Finding("NSQC is the worst of the three, not very different from SQC1.", a, _both(_nsqc_worst)),
        Finding("HBDP loses the most, in all settings.", "Section 4, Fig. 2 to 4", _both(_hbdp_largest)),
        Finding("With D = P HBDP loses about as much as NSQC with D > P.", a, _both(_hbdp_equal)),
        Finding("The loss in setting B is larger than in A.", b, _both(_b_above_a)),
        Finding("Near ε = 10 NSQC is worse in B, next to SQC1, than in A.", b, _both(_nsqc_worse_in_b)),
        Finding("HBDP loses more than twice as much in B as in A.", b, _both(_hbdp_twice)),
        Finding("In B the loss of HBDP hardly falls as ε grows.", b, _both(_hbdp_flat)),
        Finding("The loss in setting C is smaller than in A and B.", c, _both(_c_smaller)),
        Finding("In C, SQC1 and SQC2 are significantly better than NSQC.", c, _both(_c_semantic)),
        Finding("The losses in A and C add up to about that in B.", c, _both(_sum)),
        Finding("HBDP loses about as much in C as in B.", c, _both(_hbdp_c_like_b)),
        Finding("In C HBDP loses an order of magnitude more than the others.", c, _both(_order_of_magnitude)),
        Finding(
            "Domains more specific than the profile lose nothing either (D < P).",
            "Section 4",
            why_not="the paper states it by definition, and plots nothing",
        ),
    )
