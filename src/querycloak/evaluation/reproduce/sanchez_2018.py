"""Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca: semantic differential privacy of query logs, 2018: Section 4.

Settings: A has the four topics as domains and 19 finer ones as profile, B one domain (abstraction) and the 19, C one
domain and the four. With D = P both are the same: the 19 in Fig. 2 and 3, the four in Fig. 4.

ε is read in two ways, one picture each. Proposition 3 divides ε by the number of a user's queries; the paper's curves
fit ε for each query, since no criterion can matter at a hundredth of these ε (`docs/methods/semantic-dp.md`). HBDP has
ε for a user in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.evaluation.reproduce.paper import Absent, Axis, Cell, Figure, Paper, Scale, Spot
from querycloak.evaluation.reproduce.sanchez_2018_findings import (
    CRITERIA,
    EQUAL,
    HBDP,
    LOGS,
    QUERY,
    USER,
    findings,
)
from querycloak.knowledge.topics import read_topics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog

__all__ = ["PAPER"]

EPSILONS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
READINGS: Final = {QUERY: "query", USER: "user"}
DOMAINS: Final = {
    "topics": {"domain": "topics", "topics": "paper"},
    "one": {"domain": "one", "topics": "paper"},
    "fine": {"domain": "topics", "topics": "paper-fine"},
}
FINE, MAIN = "19 topics", "four topics"
SPOTS: Final = {
    "topics": (("fig-2", "", FINE), ("fig-4", EQUAL, MAIN)),
    "one": (("fig-3", "", FINE), ("fig-4", "", MAIN)),
    "fine": (("fig-2", EQUAL, FINE), ("fig-3", EQUAL, FINE)),
}
"""domain → (figure, end of the series' name, topics of the profile)"""
HISTOGRAM_USERS: Final = 100
"""HBDP publishes tens of thousands of rows per user; logs are protected one by one, and the mean needs no more."""
LEAST: Final = 20


def read(measure: str, scores: Mapping[str, float]) -> float | None:
    """Find the utility loss (eq. 11) over the topics of a profile."""
    return scores.get({FINE: "paper divergence", MAIN: "paper divergence: over the four topics"}[measure])


def most_units(bench: Workbench) -> int:
    """Return the largest number of query units of any user, which the paper takes as sensitivity of HBDP."""
    return int(np.bincount(bench.concepts.known().user).max())


def cells(scale: Scale) -> list[Cell]:
    """Return all runs."""
    out: list[Cell] = []
    measured: dict[str, Any] = {"measures": ("paper-divergence",)}
    epsilons = scale.some(EPSILONS, (0.1, 1.0, 10.0))
    for domain, chosen in DOMAINS.items():
        for epsilon in epsilons:
            for panel, epsilon_for in READINGS.items():
                for series, criterion in CRITERIA.items():
                    settings = {
                        "shape": "paper",
                        "weights": "paper",
                        "epsilon": epsilon,
                        "epsilon_for": epsilon_for,
                        "criterion": criterion,
                        **chosen,
                    }
                    out.append(Cell("semantic-dp", settings, _spots(domain, series, epsilon, panel), **measured))
            spots = tuple(s for panel in READINGS for s in _spots(domain, HBDP, epsilon, panel))
            settings = {"epsilon": epsilon, "sensitivity": "paper", "per_user_queries": most_units, **chosen}
            few = min(HISTOGRAM_USERS, scale.users)
            out.append(Cell("histogram-dp", settings, spots, users=few if few < scale.users else None, **measured))
    for users in sorted({max(LEAST, scale.users // 10), scale.users // 2}):
        for series, criterion in CRITERIA.items():
            settings = {
                "shape": "paper",
                "weights": "paper",
                "epsilon": 1.0,
                "epsilon_for": "query",
                "criterion": criterion,
                **DOMAINS["topics"],
            }
            out.append(Cell("semantic-dp", settings, (Spot(LOGS, series, users, FINE),), users=users, **measured))
            out.append(Cell("semantic-dp", settings, (Spot(LOGS, series, scale.users, FINE),), **measured))
    return out


def _spots(domain: str, series: str, epsilon: float, panel: str) -> tuple[Spot, ...]:
    return tuple(Spot(figure, series + end, epsilon, profile, panel) for figure, end, profile in SPOTS[domain])


def about_topics(bench: Workbench) -> QueryLog:
    """Return the queries all of whose concepts are in the four topics, as the paper selects them."""
    taxonomy, found, rows = bench.taxonomy, bench.concepts, len(bench.log)
    inside = np.zeros(len(taxonomy) + 1, dtype=np.bool_)  # the last entry is read by code -1
    for root in read_topics("paper", taxonomy).main:
        inside[root : root + taxonomy.size[root]] = True
    within = inside[found.concept]
    has = np.bincount(found.row[within], minlength=rows) > 0
    other = np.bincount(found.row[(found.concept >= 0) & ~within], minlength=rows) > 0
    return bench.log.take(has & ~other)


_SERIES: Final = (*CRITERIA, HBDP, *(name + EQUAL for name in (*CRITERIA, HBDP)))
_LOSS: Final = "utility loss (mean JSD)"

PAPER: Final = Paper(
    name="sanchez-2018",
    cite="D. Sánchez, M. Batet, A. Viejo, M. Rodríguez-García, J. Castellà-Roca: A semantic-preserving differentially "
    "private method for releasing query logs. Information Sciences, 2018",
    log_was="1,000 users of the AOL log, about 100 queries each about health, science, sports and society",
    users=1_000,
    least_users=LEAST,
    quick_users=60,
    queries_per_user=200,  # of which about 100 are about the topics alone
    generated={
        "topics": "disease,scientific discipline,sport,social event",
        "spread": 0.0,
        "personal": 0.0,
        "clicks": False,
    },
    read=read,
    cells=cells,
    prepare=about_topics,
    figures=(
        Figure(
            "fig-2",
            "Fig. 2",
            "Utility loss, setting A",
            Axis("ε", scale="log"),
            Axis(_LOSS),
            _SERIES,
            note="Domains: the four topics. Profiles: 19 topics.",
        ),
        Figure(
            "fig-3",
            "Fig. 3",
            "Utility loss, setting B",
            Axis("ε", scale="log"),
            Axis(_LOSS),
            _SERIES,
            note="Domain: abstraction. Profiles: 19 topics.",
        ),
        Figure(
            "fig-4",
            "Fig. 4",
            "Utility loss, setting C",
            Axis("ε", scale="log"),
            Axis(_LOSS, scale="log"),
            _SERIES,
            note="Domain: abstraction. Profiles: four topics.",
        ),
        Figure(
            LOGS,
            "Section 4",
            "Number of logs, setting A, ε = 1 for each query",
            Axis("users"),
            Axis(_LOSS),
            tuple(CRITERIA),
            note="The paper says that it has no significant influence, and plots nothing.",
        ),
    ),
    absent=(
        Absent("Fig. 1", "the taxonomy and the settings: no experiment"),
        Absent(
            "Section 3.2, dynamic releases at aε",
            "a proposition without an experiment; the setting is `--epsilon-times` of semantic-dp",
        ),
    ),
    findings=findings(),
)
