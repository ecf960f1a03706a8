"""Semantic differential privacy (Sánchez et al. 2018): every query becomes another one, drawn near its meaning.

Each unit of a query that has a concept c_i is replaced by a concept c_o drawn by the exponential mechanism over the
concepts of a domain (equations 3, 5, 6, 12; `_semantic_dp_mechanism.py` has the draw and its proof).

**What is protected.** Two logs are neighbours when they differ in the concepts of one user: any of them, each replaced
by any other of its domain. The number of a user's units and the domain of each stay the same, so ε_q = ε / m_x
(Proposition 3) tells nothing that the release does not show anyway. A user's m_x draws compose to at most
m_x · ε / m_x = ε; other users' rows do not depend on this user at all.

Departures from the paper, each towards safety:

- Section 3.4 treats every noun phrase of a query as a query of its own; so m_x counts units, not queries.
- Section 3.4 puts words of the original back around the new concept. Those words void the guarantee, so by default a
  published query is made of labels alone. The paper's form is `rebuild="paper"`.
- ε / m_x is rounded down to the next floating-point number, so that m_x draws never add up to more than ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.errors import ParameterError
from querycloak.knowledge.topics import read_topics
from querycloak.logs.query_log import QueryLog, encode
from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp._domains import DOMAIN_HELP, TOPICS_HELP, choose_domains, describe_domains
from querycloak.methods.dp._rebuild import label_texts, shaped_texts
from querycloak.methods.dp._semantic_dp_mechanism import Criterion, Mechanism
from querycloak.progress import QUIET, Progress
from querycloak.releases.budget import Budget
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_out, under_new_ids
from querycloak.settings import Settings, setting

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["SemanticDp", "prepare", "semantic_dp"]

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SemanticDp(Settings):
    """Settings of `semantic-dp`."""

    epsilon: float = setting(1.0, "budget of each user over all of the user's queries", above=0)
    criterion: str = setting(
        "sqc1",
        "how near is near: sqc1 = by shared ancestors, sqc2 = the same, within a finer topic, nsqc = equal or not",
        choices=("sqc1", "sqc2", "nsqc"),
    )
    domain: str = setting("all", DOMAIN_HELP)
    topics: str = setting("paper", TOPICS_HELP)
    per_user_queries: int | None = setting(
        None, "cut each user's budget into so many draws, one per unit of a query, and leave out what goes beyond; "
        "none = as many as the user has", minimum=1,
    )  # fmt: skip
    rebuild: str = setting(
        "label",
        "text of a published query: label = labels of the drawn concepts; shape = also plurals and words like in, the, "
        "how; paper = all words around the concepts, which are not protected",
        choices=("label", "shape", "paper"),
    )
    ledger: str | None = setting(
        None, "file that keeps what each user has spent over all releases; needs --per-user-queries"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ledger is not None and self.per_user_queries is None:
            raise ParameterError(
                "A ledger needs --per-user-queries: without it one release spends each user's whole budget."
            )


def prepare(settings: SemanticDp, taxonomy: Taxonomy) -> Mechanism:
    """Build the mechanism that the settings name. It depends on taxonomy and topics only, never on a log."""
    domains, topics = choose_domains(taxonomy, settings.domain, settings.topics)
    profile: tuple[int, ...] = ()
    if settings.criterion == "sqc2":
        profile = (topics or read_topics(settings.topics, taxonomy)).fine
    return Mechanism.over(taxonomy, domains, criterion=cast("Criterion", settings.criterion), profile=profile)


def semantic_dp(
    log: QueryLog,
    settings: SemanticDp,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Replace every query that has a concept in a domain; drop and count the others."""
    mechanism = prepare(settings, taxonomy)
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
    epsilon = _epsilon_of_draws(settings, concepts.user[drawn_from], len(log.users))
    budget = Budget(float(settings.epsilon))
    _, first_draw, draws = np.unique(concepts.user[drawn_from], return_index=True, return_counts=True)
    budget.take_draws("one draw for each unit", draws, epsilon[first_draw])
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
    published, truth, *_ = under_new_ids(log, user[taken], code, random, queries=words)
    statement = PrivacyStatement(
        method="semantic-dp",
        settings=_plain(settings),
        version=__version__,
        model=f"epsilon-differential privacy of the concepts of each user's queries, epsilon {settings.epsilon:g}",
        parameters={"epsilon": float(settings.epsilon)},
        unit="user",
        covers=_covers(settings, taxonomy, mechanism),
        does_not_cover=_does_not_cover(settings),
        assumptions=(
            "one person is one user of the log",
            "the taxonomy, the topics and the settings were chosen without looking at the log",
        ),
        randomness=random.describe(),
        new_ids=True,
        counts_in={},
        counts_out=count_out(published),
        dropped={},
    )
    return publish_log(published, statement, truth, Evidence(log, budget=budget, learned=concepts.learned))


def _take(log: QueryLog, settings: SemanticDp, user: npt.NDArray[np.int32], units: Int64s) -> npt.NDArray[np.bool_]:
    """Choose the query events that fit the budget: bool[events]. With a ledger, they are spent when this returns."""
    if settings.per_user_queries is None:
        return units > 0
    if settings.ledger is None:
        return take_fitting(user, units, np.full(len(log.users), settings.per_user_queries, dtype=np.int64))
    from querycloak.releases.ledger import Ledger

    ledger = Ledger(settings.ledger, epsilon=float(settings.epsilon), draws=settings.per_user_queries)
    asking = np.unique(user[units > 0])
    index_of = np.zeros(len(log.users), dtype=np.int32)
    index_of[asking] = np.arange(len(asking), dtype=np.int32)
    taken = np.zeros(len(user), dtype=np.bool_)

    def take(left: Int64s) -> Int64s:
        taken[:] = take_fitting(index_of[user], units, left)
        spent = np.bincount(index_of[user[taken]], weights=units[taken], minlength=len(left))
        return spent.astype(np.int64)

    ledger.reserve(log.users.gather(asking).to_list(), take)
    return taken


def _epsilon_of_draws(settings: SemanticDp, user: npt.NDArray[np.int32], users: int) -> npt.NDArray[np.float64]:
    """float64[draws]: ε / m_x (Proposition 3) or ε / max, rounded down."""
    if settings.per_user_queries is not None:
        share = np.full(len(user), settings.epsilon / settings.per_user_queries)
    else:
        share = settings.epsilon / np.bincount(user, minlength=users)[user]
    down: npt.NDArray[np.float64] = np.nextafter(share, 0.0)
    return np.maximum(down, np.finfo(np.float64).smallest_subnormal)


def _plain(settings: SemanticDp) -> dict[str, object]:
    """Return the settings for the statement; of files only the name, since places are nobody's business."""
    files = {n: PurePath(v).name for n in ("topics", "ledger") if (v := getattr(settings, n)) is not None}
    return {**settings.to_json(), **files}


def _covers(settings: SemanticDp, taxonomy: Taxonomy, mechanism: Mechanism) -> tuple[str, ...]:
    over = "all releases of this ledger together" if settings.ledger else "this release"
    promise = (
        f"if the concepts of one user's queries had been any others of their domains, any release would have been "
        f"as likely, up to a factor of exp({settings.epsilon:g}), over {over}"
    )
    return promise, f"domains: {describe_domains(taxonomy, mechanism.domains)}"


def _does_not_cover(settings: SemanticDp) -> tuple[str, ...]:
    lines = [
        "how many queries each user has, of how many units each, and in which order, is visible",
        "queries without a concept in a domain are left out, and that is visible",
    ]
    if settings.domain == "topics":
        lines.append("the topic of every query is visible: each is replaced within its topic")
    elif settings.domain != "all":
        lines.append("that every published query is about something in the domain is visible")
    if settings.rebuild == "shape":
        lines.append("plurals and closed-class words (in, the, how) of the original queries are published as they were")
    if settings.rebuild == "paper":
        lines.append("all words around the concepts are published as they were: names and numbers may be among them")
    if settings.ledger is None:
        lines.append("further releases of the same users add up: keep a ledger (--ledger)")
    return tuple(lines)
