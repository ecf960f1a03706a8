"""Pàmies-Estrems, Garcia-Alfaro: On the self-adjustment of privacy safeguards for query log streams, 2023: Section 5.

The previous proposal (Pàmies-Estrems et al. 2020) is `fixed-depth`, the current one `self-adjusting`; de-anonymizers 1
and 2 are the attackers `simple` and `full` of `stream-linkage`, who know k, the depth and the categories. The depth is
the paper's l. Rows enter by time where the log has times. There are 11 values of k, as in the paper's test of
Kolmogorov and Smirnov (D = 0.18 = 2/11), from 3 to 200; the paper does not list them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.evaluation.reproduce.pamies_2023_function import function_findings
from querycloak.evaluation.reproduce.pamies_2023_privacy import privacy_findings
from querycloak.evaluation.reproduce.pamies_2023_series import CURRENT, DEPTHS, FIRST, FULL, KS, PREVIOUS, SECOND, level
from querycloak.evaluation.reproduce.pamies_2023_utility import utility_findings
from querycloak.evaluation.reproduce.paper import Absent, Axis, Cell, Figure, Paper, Reported, Scale, Spot
from querycloak.evaluation.reproduce.results import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from querycloak.evaluation.reproduce.results import Results
    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog

__all__ = ["PAPER"]

SHARES: Final = (0.1, 0.25, 0.5, 0.75)
"""Parts of the stream after which output and delay are looked at, next to its end."""
METHODS: Final = {PREVIOUS: "fixed-depth", CURRENT: "self-adjusting"}
TABLE_K: Final = 3
LEAST: Final = 100
COUNTED: Final = (
    "A record that does not leave counts as carried to the root of the tree; the paper counts only those that leave."
)
REPORTED_LEFT: Final = {
    PREVIOUS: (22, 2_899, 35_004, 155_779, 280_851, 237_149, 237_945, 181_947, 116_852, 54_647, 22_924),
    CURRENT: (0, 5, 48, 65, 80, 28, 11, 17, 8, 1, 0),
}
"""Table 2: users that wait at the end at levels 1 to 11."""


def read(measure: str, scores: Mapping[str, float]) -> float | None:
    """Find a measure of the paper among the scores."""
    if measure.startswith("waiting at "):
        return scores.get(f"users waiting at the end: {measure.removeprefix('waiting at ')}")
    names = {
        "simple": "stream-linkage, simple",
        "full": "stream-linkage, full",
        "EMD": "category EMD per user",
        "EMD share": "category EMD, share of the largest",
        "left": "records that left",
        "delay": "mean delay in records",
        "bags": "mean size of query bags",
        "waiting": "users waiting at the end",
        "memory": "engine bytes",
    }
    if measure == "largest EMD":
        mean, share = scores.get(names["EMD"]), scores.get(names["EMD share"])
        return None if mean is None or not share else mean / share
    if measure == "memory":
        found = scores.get(names[measure])
        return None if found is None else found / 2**20
    if measure in names:
        return scores.get(names[measure])
    seconds = {
        "time": "seconds",
        "time, simple": "attack: stream linkage, seconds of 1",
        "time, full": "attack: stream linkage, seconds of 2",
    }[measure]
    return 1e6 * scores[seconds] / scores["rows"] if seconds in scores else None


def cells(scale: Scale) -> list[Cell]:
    """Return all runs: every k with every depth for both proposals, and parts of the stream at k = 3."""
    out: list[Cell] = []
    ks, depths = scale.some(KS, (3, 10, 30)), scale.some(DEPTHS, (1, 3, 8))
    deepest = depths[-1]
    for proposal, method in METHODS.items():
        for depth in depths:
            series = level(depth)
            for k in ks:
                spots = _spots(proposal, series, k, depth)
                if k == TABLE_K and depth == deepest:
                    spots += [
                        Spot("table-2", proposal, at, f"waiting at {at}") for at in range(1, deepest + 1)
                    ] + [Spot("table-2", proposal, 0, "waiting")]  # fmt: skip
                out.append(_cell(method, k, depth, spots))
            out += [
                _cell(method, TABLE_K, depth, _flow(proposal, series, share), part=_part_name(share))
                for share in scale.some(SHARES, (0.1, 0.5))
            ]
            out.append(_cell(method, TABLE_K, depth, _flow(proposal, series, 1.0)))
    return out


def _cell(method: str, k: int, depth: int, spots: list[Spot], part: str = "") -> Cell:
    return Cell(
        method,
        {"k": k, "depth": depth},
        tuple(spots),
        part=part,
        measures=("stream-flow",) if part else ("category-emd", "stream-flow"),
        attacks=() if part else ("stream-linkage",),
        engine=not part,
        timed=True,
    )


def _spots(proposal: str, series: str, k: int, depth: int) -> list[Spot]:
    """Return where a run of the whole stream is plotted."""
    spots = [
        Spot("fig-8", series, k, "bags", proposal),
        Spot("fig-9", f"k = {k}", depth, "EMD", proposal),
        Spot("fig-9", f"largest, k = {k}", depth, "largest EMD", proposal),
        Spot("fig-9-share", f"k = {k}", depth, "EMD share", proposal),
        Spot("fig-11", series, k, "time", proposal),
        Spot("fig-14", series, k, "memory", proposal),
    ]
    if proposal == PREVIOUS:
        return [*spots, Spot("fig-6", series, k, "simple", PREVIOUS)]
    return [
        *spots,
        Spot("fig-6", series, k, "simple", FIRST),
        Spot("fig-6", series, k, "full", SECOND),
        Spot("fig-12", series, k, "time, simple", "de-anonymizer 1"),
        Spot("fig-12", series, k, "time, full", "de-anonymizer 2"),
    ]


def _flow(proposal: str, series: str, share: float) -> list[Spot]:
    return [
        Spot("fig-10", series, share, "left", proposal),
        Spot("fig-13", series, share, "delay", proposal),
        Spot("linear", f"{proposal}, {series}", share, "time"),
    ]


def _part_name(share: float) -> str:
    return f"the first {share:.0%} of the stream"


def _first(share: float) -> Callable[[Workbench], QueryLog]:
    return lambda bench: bench.log.take(np.arange(round(share * len(bench.log))))


def by_time(bench: Workbench) -> QueryLog:
    """Return the rows in the order of time, as a live stream has them; a log without times stays as it is."""
    log = bench.log
    return log if log.time is None else log.take(np.argsort(log.time, kind="stable"))


def cumulate(results: Results) -> None:
    """Add Fig. 7: cumulative fractions of 1/k and of the rates at depth 1, of the means over the draws."""
    line = results.line("fig-6", level(1), SECOND)
    for series, values in ((FULL, [point.mean for point in line.values()]), ("1/k", [1 / k for k in line])):
        for rank, value in enumerate(sorted(values), 1):
            results.add(Place("fig-7", "", series, value), 1, rank / len(values))


_LEVELS: Final = tuple(level(depth) for depth in DEPTHS)
_BOTH: Final = tuple(f"{proposal}, {series}" for proposal in METHODS for series in _LEVELS)

PAPER: Final = Paper(
    name="pamies-2023",
    cite="D. Pàmies-Estrems, J. Garcia-Alfaro: On the self-adjustment of privacy safeguards for query log streams. "
    "Computers & Security, 2023",
    log_was="the AOL log with the categories of a classifier: 27.2 million records of 600,194 users, 13 levels",
    users=600_194,
    generated_users=10_000,
    least_users=LEAST,
    quick_users=300,
    queries_per_user=45,
    generated={"order": "time", "categories": True},
    read=read,
    cells=cells,
    prepare=by_time,
    derive=cumulate,
    parts={_part_name(share): _first(share) for share in SHARES},
    figures=(
        Figure(
            "fig-6",
            "Fig. 6",
            "Share of records re-identified",
            Axis("k", scale="log"),
            Axis("records matched", percent=True),
            _LEVELS,
            reported=(Reported(level(1), 3, 0.1319, SECOND),),
        ),
        Figure(
            "fig-7",
            "Fig. 7",
            "Kolmogorov-Smirnov: re-identification at depth 1 against 1/k",
            Axis("probability"),
            Axis("cumulative fraction"),
            ("1/k", FULL),
            note="Of the means over the draws.",
        ),
        Figure("fig-8", "Fig. 8", "Mean final |Q|", Axis("k", scale="log"), Axis("queries per set"), _LEVELS),
        Figure(
            "fig-9",
            "Fig. 9, top",
            "Earth mover's distance between a user's categories before and after",
            Axis("depth"),
            Axis("edges per user"),
            (*(f"k = {k}" for k in KS), *(f"largest, k = {k}" for k in KS)),
            note="The mean, and the largest possible. " + COUNTED,
        ),
        Figure(
            "fig-9-share",
            "Fig. 9, bottom",
            "Loss of utility: the distance as a share of the largest",
            Axis("depth"),
            Axis("share", percent=True),
            tuple(f"k = {k}" for k in KS),
            reported=(Reported("k = 3", 1, 0.4326, CURRENT),),
            note=COUNTED,
        ),
        Figure(
            "fig-10",
            "Fig. 10",
            "Records that left, of those that entered",
            Axis("share of the stream that has entered"),
            Axis("left", percent=True),
            _LEVELS,
            note="k = 3.",
        ),
        Figure(
            "fig-11",
            "Fig. 11",
            "Time of the anonymizer per record",
            Axis("k", scale="log"),
            Axis("µs per record"),
            _LEVELS,
            reported=(Reported(level(1), 3, 1.68, CURRENT),),
            note="Of this machine, with the making of the release and its checks; times are not repeated by the seed.",
        ),
        Figure(
            "fig-12",
            "Fig. 12",
            "Time of the de-anonymizers per record",
            Axis("k", scale="log"),
            Axis("µs per record"),
            _LEVELS,
            note="Of this machine; times are not repeated by the seed.",
        ),
        Figure(
            "fig-13",
            "Fig. 13",
            "Mean delay: records that enter between entry and exit of a record",
            Axis("share of the stream that has entered"),
            Axis("records"),
            _LEVELS,
            note="k = 3.",
        ),
        Figure(
            "fig-14",
            "Fig. 14",
            "Memory of the anonymizer",
            Axis("k", scale="log"),
            Axis("MiB"),
            _LEVELS,
            note="What the machine holds for its sets; the paper's figure is that of the whole process.",
        ),
        Figure(
            "table-2",
            "Table 2",
            "Users that wait at the end, by level; 0 is all levels together",
            Axis("level"),
            Axis("users"),
            (PREVIOUS, CURRENT),
            kind="table",
            reported=tuple(
                Reported(proposal, at, users)
                for proposal, waiting in REPORTED_LEFT.items()
                for at, users in ((0, sum(waiting)), *enumerate(waiting, 1))
            ),
            note="k = 3 and the largest depth.",
        ),
        Figure(
            "linear",
            "Section 5.5.6",
            "Time per record as the stream grows",
            Axis("share of the stream that has entered"),
            Axis("µs per record"),
            _BOTH,
            note="k = 3. The paper says that time is linear, and plots nothing. Times are not repeated by the seed.",
        ),
    ),
    absent=(
        Absent("Fig. 1 to 5, Table 1", "drawings, notation and a sample of the log: no experiments"),
        Absent("Fig. 14, the de-anonymizers", "the memory of the attackers is not measured here"),
    ),
    findings=privacy_findings() + utility_findings() + function_findings(),
)
