"""Batet, Erola, Sánchez, Castellà-Roca: Utility preserving query log anonymization via semantic microaggregation, 2013.

Section 5.3. The knowledge is WordNet where no other taxonomy is given; the paper had the Open Directory. Poblete's
method reads the log's clicks; the paper asked a search engine for the results of every query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from querycloak.evaluation.reproduce.batet_2013_findings import (
    AGGREGATING,
    EROLA,
    KOROLOVA,
    NAVARRO,
    OURS,
    PLAIN,
    POBLETE,
    findings,
)
from querycloak.evaluation.reproduce.paper import Absent, Axis, Cell, Figure, Paper, Reported, Scale, Spot

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PAPER"]

KS: Final = (2, 3, 4, 5, 6, 7)
DS: Final = (1, 5, 10, 15, 20)
KPS: Final = (2, 5, 10, 20, 30, 40)
METHODS: Final = {
    OURS: "semantic-microaggregation",
    PLAIN: "plain-microaggregation",
    NAVARRO: "syntactic-microaggregation",
    EROLA: "word-microaggregation",
}
LEAST: Final = 160
"""L is measured with 80 clusters, which needs twice as many users."""
MEASURED: Final[dict[str, Any]] = {"measures": ("information-loss", "kept"), "attacks": ("record-linkage",)}


def read(measure: str, scores: Mapping[str, float]) -> float | None:
    """Find a measure of the paper among the scores: L and RL in percent as the paper has them, shares as shares."""
    if measure == "L":
        return scores.get("information loss: at 80", scores.get("information loss"))
    if measure == "RL":
        rate = scores.get("record-linkage, all users")
        return None if rate is None else 100 * rate
    if measure == "removed":
        kept = scores.get("volume kept")
        return None if kept is None else 1 - kept
    assert measure == "emptied"
    return 1 - scores["published users"] / scores["users"]


def cells(scale: Scale) -> list[Cell]:
    """Return all runs."""
    out: list[Cell] = []
    for series, method in METHODS.items():
        for k in scale.some(KS, (2, 4, 7)):
            spots = (Spot("fig-2", series, k, "L", "by k"), Spot("fig-3", series, k, "RL", "by k"))
            out.append(Cell(method, {"k": k}, spots, **MEASURED))
    for d in scale.some(DS, (1, 20)):
        settings = {"choose": "korolova", "per_user": d, "output_form": "log"}
        out.append(Cell("frequent-queries", settings, _removal(KOROLOVA, d, "by d"), **MEASURED))
    for sites in scale.some(KPS, (2, 30)):
        removal = _removal(POBLETE, sites, "by Kp")
        out.append(Cell("click-graph-removal", {"sites": sites}, removal, clicks=True, **MEASURED))
    return out


def _removal(series: str, x: float, panel: str) -> tuple[Spot, ...]:
    return (
        Spot("fig-2", series, x, "L", panel),
        Spot("fig-3", series, x, "RL", panel),
        Spot("removed", series, x, "removed", f"queries removed, {panel}"),
        Spot("removed", series, x, "emptied", f"users with all queries removed, {panel}"),
    )


_SERIES: Final = (*AGGREGATING, KOROLOVA, POBLETE)
_AXIS: Final = Axis("k; d of Korolova; Kp of Poblete")

PAPER: Final = Paper(
    name="batet-2013",
    cite="M. Batet, A. Erola, D. Sánchez, J. Castellà-Roca: Utility preserving query log anonymization via semantic "
    "microaggregation. Information Sciences 242, 2013",
    log_was="1,000 users of the AOL log, about 56,000 queries; the Open Directory as knowledge",
    users=1_000,
    least_users=LEAST,
    quick_users=200,
    queries_per_user=56,
    read=read,
    cells=cells,
    figures=(
        Figure(
            "fig-2",
            "Fig. 2",
            "Information loss (L)",
            _AXIS,
            Axis("L (%)"),
            _SERIES,
            note="With 80 clusters, as in the paper. Poblete: documents are the clicks of the log, not the results of "
            "a search engine.",
        ),
        Figure(
            "fig-3",
            "Fig. 3",
            "Record linkage (RL)",
            _AXIS,
            Axis("RL (%)"),
            _SERIES,
            reported=(
                Reported(KOROLOVA, 1, 25, "by d"),
                Reported(KOROLOVA, 20, 0, "by d"),
                *(Reported(POBLETE, kp, 63, "by Kp") for kp in (10, 20, 30, 40)),
            ),
            note="Over all users of the log.",
        ),
        Figure(
            "removed",
            "Section 5.3",
            "What the methods by removal remove",
            Axis("d of Korolova; Kp of Poblete"),
            Axis("share", percent=True),
            (KOROLOVA, POBLETE),
            reported=(
                Reported(KOROLOVA, 1, 0.94, "queries removed, by d"),
                Reported(KOROLOVA, 20, 0.975, "queries removed, by d"),
                Reported(KOROLOVA, 1, 0.46, "users with all queries removed, by d"),
                Reported(KOROLOVA, 5, 0.65, "users with all queries removed, by d"),
                Reported(POBLETE, 30, 0.10, "users with all queries removed, by Kp"),
            ),
            note="The paper gives these figures in its text.",
        ),
    ),
    absent=(Absent("Fig. 1", "a drawing of the method: no experiment"),),
    findings=findings(),
)
