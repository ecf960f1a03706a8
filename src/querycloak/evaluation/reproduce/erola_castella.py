"""Erola and Castellà-Roca, Microagregación semántica de registros de búsqueda (in Spanish): Section V.

The paper's new method takes the category of a query from the site of its first search result; the method it improves on
(Erola et al. 2010) from each of its words. Here the clicks of the log are the search results, and queries without one
that the directory lists are left out: the paper has a site for each. SRP is the paper's only measure, and its words
allow two counts: the figures of the paper have the lenient one, further figures the strict one, where a published query
answers for one original query (`one for one`). Its ODPsim (equation 1) allows two readings as well, over sets and over
bags of categories. Two controls are ours, the new method without any knowledge of categories: over sets it makes random
groups, over bags groups by length alone.

Where the paper is silent: the k of its figures (our copy has no pictures), whether L limits the grouping or the measure
(here both: users are grouped by levels 1 .. L, and SRP is that of level L; a further figure has one grouping and all
levels), by which categories the earlier method is measured (here those of sites, for all alike), and who the 100 most
similar users are (here the first group that Algorithm 2 makes with k = 100).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.evaluation.reproduce.erola_castella_findings import (
    FINDINGS,
    LENGTH,
    NEW,
    NEW_BAGS,
    OLD,
    OLD_BAGS,
    RANDOM,
    STRICT,
)
from querycloak.evaluation.reproduce.paper import Absent, Axis, Cell, Figure, Paper, Scale, Spot
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.categories import query_categories
from querycloak.methods.microaggregation._category_groups import EventUnits, group_by_categories, user_categories

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog

__all__ = ["PAPER"]

USERS: Final = 840
ALIKE: Final = 100
"""Figure 3; as large a share of a log with fewer users"""
KS: Final = (2, 3, 5, 10)
LEVELS: Final = (1, 2, 3, 4, 5)
LEAST_ALIKE: Final = 2 * KS[-1]
"""Two groups of the largest k"""
WITH_SITE, MOST_ALIKE = "queries with a site", "the most similar users"
BY_SITES: Final = "url-microaggregation"
BY_WORDS: Final = "word-microaggregation"
RUNS: Final = {
    NEW: (BY_SITES, {"similarity": "sets"}),
    OLD: (BY_WORDS, {"similarity": "sets"}),
    NEW_BAGS: (BY_SITES, {"similarity": "bags"}),
    OLD_BAGS: (BY_WORDS, {"similarity": "bags"}),
}
CONTROLS: Final = {RANDOM: RUNS[NEW], LENGTH: RUNS[NEW_BAGS]}
SERIES: Final = (*RUNS, *CONTROLS)
SIZES: Final = ("smallest group", "largest group")
READINGS: Final = {"": "semantics that remain", STRICT: "semantics that remain, one for one"}
"""end of a figure's key → score"""


def read(measure: str, scores: Mapping[str, float]) -> float | None:
    """Find a measure of the paper among the scores: a name of a score, or the share of queries with a category."""
    if measure != "with a category":
        return scores.get(measure)
    queries, found = (scores.get(f"statement: {name}") for name in ("queries", "queries with a category"))
    return None if queries is None or found is None else found / queries


def with_site(bench: Workbench) -> QueryLog:
    """Return the query events whose site the directory lists; all of the log where no site can be known.

    No run is possible then, and each says why.
    """
    log, category = bench.log, _categories(bench)
    return log if category is None else log.take(category[log.event_row] != NO_CODE)


def most_alike(bench: Workbench) -> QueryLog:
    """Return the log of the most similar users: the first group of Algorithm 2, with as many users as its k."""
    bench = bench.part(with_site(bench))
    log, category = bench.log, _categories(bench)
    if category is None or bench.directory is None:
        return log
    row = np.flatnonzero(log.event)
    users, user = np.unique(log.user[row], return_inverse=True)
    size = min(max(LEAST_ALIKE, round(len(users) * ALIKE / USERS)), len(users))
    units = EventUnits(row, user, category[row])
    categories = user_categories(units, len(users), bench.directory.taxonomy, LEVELS[-1], "sets")
    chosen = np.zeros(len(log.users), dtype=np.bool_)
    chosen[users[group_by_categories(categories, size) == 0]] = True
    return log.take(chosen[log.user])


def _categories(bench: Workbench) -> npt.NDArray[np.int32] | None:
    """Find the category of the query event that begins at each row: int32[n], -1 = none."""
    log = bench.log
    if bench.directory is None or (log.url is None and bench.resolver is None):
        return None
    found = query_categories(log, bench.directory, bench.resolver)
    out = np.full(len(log), NO_CODE, dtype=np.int32)
    out[found.row] = found.category
    return out


def cells(scale: Scale) -> list[Cell]:
    """Return all runs: of each figure the controls, which do not depend on L, and both methods at each L and k."""
    ks, levels = scale.some(KS, (2, 10)), scale.some(LEVELS, (1, 5))
    out: list[Cell] = []

    def add(series: str, k: int, level: int, part: str, *spots: Spot) -> None:
        method, settings = (RUNS | CONTROLS)[series]
        attacked = part == WITH_SITE and series in (NEW, OLD) and level == levels[-1]
        out.append(
            Cell(
                method,
                {"k": k, "levels": level, **settings},
                spots,
                part=part,
                measures=("srp",),
                attacks=("record-linkage",) if attacked else (),
                directory=True,
                blind=series in CONTROLS,
            )
        )

    for figure, part in (("fig-2", WITH_SITE), ("fig-3", MOST_ALIKE)):
        for k in ks:
            for series in CONTROLS:
                add(series, k, 1, part, *(spot for level in levels for spot in _spots(figure, series, k, level)))
        for level in levels:
            for k in ks:
                for series in RUNS:
                    add(series, k, level, part, *_spots(figure, series, k, level))
    for k in ks:
        add(RANDOM, k, 1, WITH_SITE, *_by_level(RANDOM, k, levels))
        for series in (NEW, OLD):
            add(
                series,
                k,
                levels[-1],
                WITH_SITE,
                *_by_level(series, k, levels),
                *(Spot("groups", f"{size}, {series}", k, f"statement: {size}") for size in SIZES),
                Spot("linkage", series, k, "record-linkage"),
                *([Spot("covered", series, scale.users, "with a category")] if k == ks[0] else []),
            )
    return out


def _spots(figure: str, series: str, k: int, level: int) -> list[Spot]:
    """Return where SRP at a level is plotted, in both readings."""
    return [
        Spot(f"{figure}{end}", series, k, f"{score}: level {level}", f"L = {level}") for end, score in READINGS.items()
    ]


def _by_level(series: str, k: int, levels: tuple[int, ...]) -> list[Spot]:
    score = READINGS[""]
    return [Spot("levels", series, level, f"{score}: level {level}", f"k = {k}") for level in levels]


def _figures() -> tuple[Figure, ...]:
    """Return the two figures of the paper in both readings, then what its text says without a picture."""
    titles = {"fig-2": ("Fig. 2", "SRP by depth L and k"), "fig-3": ("Fig. 3", "SRP of the most similar users")}
    notes = {
        "": "A query counts as kept where its category is published for its user at all.",
        STRICT: "Not in the paper: a published query answers for one original query of its user.",
    }
    srp = Axis("SRP", percent=True)
    drawn = [
        Figure(
            f"{key}{end}",
            name if not end else f"{name}, one for one",
            title,
            Axis("k"),
            srp,
            SERIES,
            note=notes[end] + " Grouped by levels 1 to L, measured at level L.",
        )
        for key, (name, title) in titles.items()
        for end in READINGS
    ]
    return (
        *drawn,
        Figure(
            "levels",
            "Fig. 2, one grouping",
            "SRP at each level, users grouped by all levels",
            Axis("level"),
            srp,
            (NEW, OLD, RANDOM),
            note="The other reading of the paper's L: the level of the measure alone.",
        ),
        Figure(
            "covered",
            "Section IV",
            "Queries with a category",
            Axis("users"),
            Axis("share", percent=True),
            (NEW, OLD),
            kind="table",
            note="Queries without a site are left out before; of the others, those with a word that names a category.",
        ),
        Figure(
            "groups",
            "Section IV-C",
            "Sizes of the groups",
            Axis("k"),
            Axis("users"),
            tuple(f"{size}, {series}" for series in (NEW, OLD) for size in SIZES),
            kind="table",
        ),
        Figure(
            "linkage",
            "Section V-B1",
            "Users that are linked to their published log by who knows all their queries",
            Axis("k"),
            Axis("linked", percent=True),
            (NEW, OLD),
            note="The paper argues, and plots nothing.",
        ),
    )


PAPER: Final = Paper(
    name="erola-castella",
    cite="A. Erola, J. Castellà-Roca: Microagregación semántica de registros de búsqueda (in Spanish)",
    log_was="840 random users of AOL with 400 to 600 queries each, the first result of Google for each query, and the "
    "Open Directory",
    users=USERS,
    least_users=60,
    quick_users=60,
    queries_per_user=1_200,  # about 500 of them with a click
    generated={"spread": 0.1},
    directory=True,
    parts={WITH_SITE: with_site, MOST_ALIKE: most_alike},
    read=read,
    cells=cells,
    figures=_figures(),
    absent=(Absent("Fig. 1", "an example of a search in the Open Directory, not an experiment"),),
    findings=FINDINGS,
)
