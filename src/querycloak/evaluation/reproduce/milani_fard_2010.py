"""Milani Fard and Wang, An Effective Clustering Approach to Web Query Log Anonymization, 2010: Section V.

Clump1 keeps duplicate items in what is published, Clump2 drops them; Partition is the baseline. The paper's |D| are the
first 1,000, 10,000 and 53,058 transactions; on a smaller log they shrink with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from querycloak.evaluation.reproduce.judging import (
    all_below,
    falls,
    found_if,
    ordered,
    percent,
    shares_below,
    trend,
    with_unit,
)
from querycloak.evaluation.reproduce.paper import (
    Absent,
    Axis,
    Cell,
    Figure,
    Finding,
    Outcome,
    Paper,
    Reported,
    Scale,
    Spot,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.evaluation.reproduce.results import Results

__all__ = ["PAPER"]

USERS: Final = 53_058
KS: Final = (5, 7, 10, 15)
SIZES: Final = (1_000, 10_000, 53_058)
"""|D| of Figures 3 to 5"""
MORE_SIZES: Final = (1_000, 10_000, 20_000, 30_000, 40_000, 53_058)
"""|D| of Table III and Figure 7"""
SEARCHES: Final = (5, 10, 30, 50, 100)
"""r of Figure 6"""
LEAST: Final = 150
"""Fewer transactions than ten clusters of the largest k show nothing."""
CLUMP1, CLUMP2, PARTITION = "Clump1", "Clump2", "Partition"
SERIES: Final = (CLUMP1, CLUMP2, PARTITION)
METHODS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    CLUMP1: ("clump", {}),
    CLUMP2: ("clump", {"duplicates": "drop"}),
    PARTITION: ("partition", {"prune": True}),  # over the tree of the log, as Clump of the paper is
}
FASTER_THAN: Final = 1.25
"""Time per transaction may grow by this over the whole range and still count as linear."""


def read(measure: str, scores: Mapping[str, float]) -> float | None:
    """Find a measure of the paper among the scores."""
    names = {
        "distortion": "generalization: distortion",
        "length": "generalization: mean transaction length",
        "level": "generalization: mean level of items (root = 1)",
        "density": "generalization: density",
        "seconds": "seconds",
    }
    return scores.get(names[measure])


def sizes_of(sizes: tuple[int, ...], users: int) -> list[int]:
    """Shrink the paper's sizes to a log of fewer users.

    >>> sizes_of((1_000, 10_000, 53_058), 53_058), sizes_of((1_000, 10_000, 53_058), 5_000)
    ([1000, 10000, 53058], [150, 942, 5000])
    """
    return sorted({min(max(round(size * users / USERS), LEAST), users) for size in sizes})


def cells(scale: Scale) -> list[Cell]:
    """Return all runs."""
    ks = scale.some(KS, (5, 15))
    out: list[Cell] = []

    def add(series: str, users: int, k: int, *spots: Spot, **more: Any) -> None:
        method, settings = METHODS[series]
        chosen = {"k": k, **settings, **more}
        out.append(Cell(method, chosen, spots, users=users, measures=("generalization",), timed=True))

    for size in sizes_of(scale.some(SIZES, (1_000, 53_058)), scale.users):
        panel = f"|D| = {size:,}"
        for k in ks:
            for series in SERIES:
                add(
                    series,
                    size,
                    k,
                    Spot("fig-3", series, k, "distortion", panel),
                    Spot("fig-4", series, k, "length", panel),
                    Spot("fig-5", series, k, "level", panel),
                )
    for r in scale.some(SEARCHES, (5, 10, 100)):
        add(CLUMP1, scale.users, KS[0], Spot("fig-6", CLUMP1, r, "distortion"), search=r)
    for size in sizes_of(scale.some(MORE_SIZES, (1_000, 20_000, 53_058)), scale.users):
        add(CLUMP1, size, KS[0], Spot("fig-7", "Clump", size, "seconds"), Spot("table-3", "density", size, "density"))
        add(PARTITION, size, KS[0], Spot("fig-7", PARTITION, size, "seconds"))
    for order in ("decreasing", "increasing", "random"):
        for k in ks:
            add(CLUMP1, scale.users, k, Spot("orders", order, k, "distortion"), order=order)
    return out


def _reduction(results: Results) -> dict[tuple[str, float], float]:
    """Return by how much Clump1 is below Partition at each point, as a share."""
    return {(panel, x): 1 - a / b for panel, x, a, b in shares_below(results, "fig-3", CLUMP1, PARTITION)}


def _up_to_30(results: Results) -> Outcome:
    cut = _reduction(results)
    (panel, k), most = max(cut.items(), key=lambda item: item[1])
    least = min(cut.values())
    return found_if(
        most >= 0.25 and least > 0,
        f"from {percent(least)} to {percent(most)} less, the most at {panel}, "
        f"k = {k:g}; found means 25 % or more somewhere, and less distortion everywhere",
    )


def _shrinks_with_k(results: Results) -> Outcome:
    cut = _reduction(results)
    panels = results.panels("fig-3")
    ends = []
    for panel in panels:
        ks = sorted(k for p, k in cut if p == panel)
        ends.append((panel, cut[panel, ks[0]], cut[panel, ks[-1]]))
    text = "; ".join(f"{p}: {percent(a)} to {percent(b)}" for p, a, b in ends)
    return found_if(all(b < a and a > 0 for _, a, b in ends), f"gain from the smallest k to the largest: {text}")


def _shrinks_with_size(results: Results) -> Outcome:
    cut = _reduction(results)
    panels = results.panels("fig-3")  # from the smallest to the largest
    ks = sorted({k for _, k in cut})
    ends = [(k, cut[panels[0], k], cut[panels[-1], k]) for k in ks]
    text = "; ".join(f"k = {k:g}: {percent(a)} to {percent(b)}" for k, a, b in ends)
    return found_if(all(b < a and a > 0 for _, a, b in ends), f"gain from {panels[0]} to {panels[-1]}: {text}")


def _little_between_clumps(results: Results) -> Outcome:
    gaps = [abs(b - a) / a for _, _, a, b in shares_below(results, "fig-3", CLUMP1, CLUMP2)]
    most = max(gaps)
    return found_if(most < 0.05, f"at most {percent(most)} apart; found means less than 5 %")


def _longer(results: Results) -> Outcome:
    points = [shares_below(results, "fig-4", CLUMP1, other) for other in (CLUMP2, PARTITION)]
    times = [min(a / b for _, _, a, b in found) for found in points]
    return found_if(
        min(times) > 1.1,
        f"at least {times[0]:.2f} times Clump2 and {times[1]:.2f} times Partition; found means 1.1 times or more",
    )


def _larger_r(results: Results) -> Outcome:
    line = results.line("fig-6", CLUMP1)
    best = min(line, key=lambda r: line[r].mean)
    largest = max(line)
    return found_if(
        line[best].mean < line[largest].mean,
        f"lowest distortion at r = {best:g} ({with_unit(line[best].mean)}), at r = {largest:g} "
        f"{with_unit(line[largest].mean)}",
    )


def _ten_is_good(results: Results) -> Outcome:
    line = results.line("fig-6", CLUMP1)
    best = min(point.mean for point in line.values())
    above = line[10].mean / best - 1
    return found_if(above <= 0.02, f"{percent(above)} above the best of all r; found means at most 2 %")


def _linear(results: Results) -> Outcome:
    line = results.line("fig-7", "Clump")
    first, last = min(line), max(line)
    each = [1e6 * line[size].mean / size for size in (first, last)]
    return found_if(
        each[1] <= each[0] * FASTER_THAN,
        f"{each[0]:.0f} µs per transaction at {first:,.0f}, {each[1]:.0f} µs at {last:,.0f}; found means at most "
        f"{FASTER_THAN:g} times as long",
    )


def _sparser(results: Results) -> Outcome:
    line = results.line("table-3", "density")
    return found_if(falls(line), f"density {trend(line, percent=True)}")


def _best_order(results: Results) -> Outcome:
    others = [all_below(results, "orders", "decreasing", other) for other in ("increasing", "random")]
    return found_if(
        all(o.verdict == "found" for o in others),
        f"against increasing {others[0].figures}; against random {others[1].figures}",
    )


PAPER: Final = Paper(
    name="milani-fard-2010",
    cite="A. Milani Fard, K. Wang: An Effective Clustering Approach to Web Query Log Anonymization. SECRYPT 2010",
    log_was="the first tenth of the AOL log: 53,058 users with 20.93 distinct nouns of WordNet each",
    users=USERS,
    least_users=LEAST,
    quick_users=1_000,
    mapping="segments",  # every noun is an item
    queries_per_user=44,
    read=read,
    cells=cells,
    figures=(
        Figure(
            "table-3",
            "Table III",
            "Density of the data",
            Axis("|D|"),
            Axis("density", percent=True),
            ("density",),
            kind="table",
            reported=tuple(
                Reported("density", size, share / 100)
                for size, share in zip(MORE_SIZES, (0.28, 0.25, 0.20, 0.16, 0.14, 0.11), strict=True)
            ),
        ),
        Figure("fig-3", "Fig. 3", "Information loss", Axis("k"), Axis("distortion (sum of GGD)"), SERIES),
        Figure(
            "fig-4", "Fig. 4", "Average length of a published transaction", Axis("k"), Axis("items per user"), SERIES
        ),
        Figure("fig-5", "Fig. 5", "Average level of published items", Axis("k"), Axis("level (root = 1)"), SERIES),
        Figure("fig-6", "Fig. 6", "Effect of r on Clump1", Axis("r"), Axis("distortion (sum of GGD)"), (CLUMP1,)),
        Figure(
            "fig-7",
            "Fig. 7",
            "Running time, k = 5, r = 10",
            Axis("|D|"),
            Axis("seconds"),
            ("Clump", PARTITION),
            note="Of this machine; times are not repeated by the seed.",
        ),
        Figure(
            "orders",
            "Section III, Step 1",
            "Order in which transactions are assigned (Clump1)",
            Axis("k"),
            Axis("distortion (sum of GGD)"),
            ("decreasing", "increasing", "random"),
            note="The paper says what it found, and plots nothing.",
        ),
    ),
    absent=(
        Absent("Tables I and II, Fig. 1 and 2", "worked examples: they are tests of the methods, not experiments"),
    ),
    findings=(
        Finding(
            "The data get sparser as |D| grows.",
            "Table III",
            _sparser,
        ),
        Finding("Clump loses less information than Partition, by as much as 30 %.", "Section V, Fig. 3", _up_to_30),
        Finding("The gain over Partition shrinks as k grows.", "Section V, Fig. 3", _shrinks_with_k),
        Finding(
            "The gain over Partition shrinks as the database grows and gets sparser.",
            "Section V, Fig. 3",
            _shrinks_with_size,
        ),
        Finding(
            "Clump1 and Clump2 differ very little in information loss.", "Section V, Fig. 3", _little_between_clumps
        ),
        Finding(
            "Clump1 publishes significantly longer transactions than Clump2 and Partition.",
            "Section V, Fig. 4",
            _longer,
        ),
        Finding(
            "Items of Clump2 are deeper in the taxonomy than those of Partition, those of Partition deeper than those "
            "of Clump1.",
            "Section V, Fig. 5",
            lambda results: ordered(results, "fig-5", (CLUMP1, PARTITION, CLUMP2)),
        ),
        Finding("A larger r does not always give a better result.", "Section V, Fig. 6", _larger_r),
        Finding("r = 10 gives a good result.", "Section V, Fig. 6", _ten_is_good),
        Finding(
            "Clump takes longer than Partition.",
            "Section V, Fig. 7",
            lambda results: all_below(results, "fig-7", PARTITION, "Clump"),
        ),
        Finding("The time of Clump is linear in |D|.", "Section V, Fig. 7; Theorem 1", _linear),
        Finding(
            "The decreasing order by length gives better results than the random and the increasing order.",
            "Section III, Step 1",
            _best_order,
        ),
    ),
)
