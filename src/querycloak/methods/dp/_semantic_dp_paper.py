"""A row for every query, as in the paper: ε covers which concepts the queries of a user are about, and nothing else.

**What is protected.** Two logs are neighbours when they differ in the concepts of one user: any of them, each replaced
by any other of its domain. The number of a user's units and the domain of each stay the same, so ε_q = ε / m_x
(Proposition 3) tells nothing that the release does not show anyway. A user's m_x draws compose to at most m_x · ε /
m_x = ε; other users' rows do not depend on this user at all. Number, order and length of the queries are visible: they
alone tell users apart.

The paper's other budgets (section 3.2): ε / max with at most max draws of a user; max draws more for each further ε,
with a promise of a·ε (`epsilon_times` is a). Its figures fit ε for each query: then the neighbours differ in one unit
of one query, and nothing is promised for users.

Departures from the paper, each towards safety:

- Section 3.4 treats every noun phrase of a query as a query of its own; so m_x counts units, not queries.
- Section 3.4 puts words of the original back around the new concept. Those words void the guarantee, so by default a
  published query is made of labels alone. The paper's form is `rebuild="paper"`.
- ε / m_x is rounded down to the next floating-point number, so that m_x draws never add up to more than ε.
- Weights are calibrated to the worst case of a domain (`_semantic_dp_calibration.py`), where equation 3 has ε/2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import encode
from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp._rebuild import label_texts, shaped_texts
from querycloak.methods.dp._semantic_dp_rows import DrawnRows
from querycloak.methods.dp._semantic_dp_statement import promised
from querycloak.releases.account import CONCEPT, CONCEPTS
from querycloak.releases.budget import Budget

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
    from querycloak.methods.dp.semantic_dp import SemanticDp
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness

__all__ = ["draw_units", "epsilon_of_draws"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


def draw_units(
    log: QueryLog,
    settings: SemanticDp,
    mechanism: Mechanism,
    random: Randomness,
    progress: Progress,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> DrawnRows:
    """Replace every query that has a concept in a domain; drop and count the others."""
    if settings.rebuild != "label":
        progress.note(f"rebuild {settings.rebuild}: words of the original are published, epsilon does not cover them.")
    inside = mechanism.covers(concepts.concept)
    first = np.flatnonzero(np.diff(concepts.row, prepend=-1))  # first unit of each query event
    event = np.cumsum(np.diff(concepts.row, prepend=-1) != 0) - 1  # int64[units]
    user = concepts.user[first]
    units = np.bincount(event[inside], minlength=len(first)).astype(np.int64)
    mapped = np.bincount(event[concepts.concept >= 0], minlength=len(first)) > 0

    taken = _take(log, settings, user, units)
    drawn_from = np.flatnonzero(inside & taken[event])
    progress.start("drawing concepts", total=len(drawn_from))
    epsilon = epsilon_of_draws(settings, concepts.user[drawn_from], len(log.users))
    budget = _account(settings, concepts.user[drawn_from], epsilon)
    drawn = mechanism.draw(concepts.concept[drawn_from], epsilon, random.child("draws"))
    progress.advance(len(drawn_from))

    if settings.rebuild == "label":
        texts = label_texts(taxonomy, event[drawn_from], drawn)
    else:
        texts = shaped_texts(log, concepts, taxonomy, drawn_from, drawn, keep_all=settings.rebuild == "paper")
    code, words = encode(texts)
    dropped = {
        "further clicks of a query": int((~log.event).sum()),
        "no concept": int((~mapped).sum()),
        "concept outside the domain": int((mapped & (units == 0)).sum()),
        "beyond the user's budget": int(((units > 0) & ~taken).sum()),
    }
    told = ", ".join(f"{n:,} {reason}" for reason, n in dropped.items())
    progress.note(f"{len(log):,} rows in; left out: {told} (not in the statement: these counts are exact)")
    return DrawnRows(user[taken], code, words, budget)


def _account(settings: SemanticDp, user: Int32s, epsilon: npt.NDArray[np.float64]) -> Budget:
    """Take what the draws cost. With ε for a query, the neighbours differ in one draw."""
    if settings.epsilon_for == "query":
        budget = Budget(promised(settings), relation=CONCEPT)
        budget.take_draws("a unit of a query", np.ones(1, dtype=np.int64), np.array([float(settings.epsilon)]))
        return budget
    budget = Budget(promised(settings), relation=CONCEPTS)
    _, first_draw, draws = np.unique(user, return_index=True, return_counts=True)
    budget.take_draws("one draw for each unit", draws, epsilon[first_draw])
    return budget


def _take(log: QueryLog, settings: SemanticDp, user: Int32s, units: Int64s) -> npt.NDArray[np.bool_]:
    """Choose the query events that fit the budget: bool[events]."""
    if settings.per_user_queries is None:
        return units > 0
    most = settings.per_user_queries * settings.epsilon_times
    return take_fitting(user, units, np.full(len(log.users), most, dtype=np.int64))


def epsilon_of_draws(settings: SemanticDp, user: Int32s, users: int) -> npt.NDArray[np.float64]:
    """float64[draws]: ε / m_x (Proposition 3) or ε / max, rounded down; or all of ε, where it is for a query."""
    if settings.epsilon_for == "query":
        return np.full(len(user), float(settings.epsilon))
    if settings.per_user_queries is not None:
        share = np.full(len(user), promised(settings) / (settings.per_user_queries * settings.epsilon_times))
    else:
        share = settings.epsilon / np.bincount(user, minlength=users)[user]
    down: npt.NDArray[np.float64] = np.nextafter(share, 0.0)
    return down
