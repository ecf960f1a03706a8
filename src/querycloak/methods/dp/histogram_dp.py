"""A noisy histogram of concepts for each user: the baseline HBDP of Sánchez et al. (2018), section 4.

Each user's queries become a histogram over all concepts of the domains; discrete Laplace noise goes on every bin, also
on the empty ones; negative counts become 0. All bins of a user share one ε: they are one answer.

**What is protected: a user's queries.** Neighbours are logs that differ in all queries of one user, who has at most
`per_user_queries` (max) units in the domains in either log. Their histograms differ by up to 2 · max in sum: max units
leave some bins and max others enter. The noise has scale 2 · max / ε.

Departures from the paper:

- The paper takes max as sensitivity. That is right only against an empty log of the same user, and gives 2ε against
  another log; `sensitivity="paper"` does it and the statement says so.
- The paper takes the largest number of queries of any user in the data as max. That number is private: here max is a
  setting, and what goes beyond it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.arrays.keyed_streams import Streams
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._contribution_kernels import take_fitting
from querycloak.methods.dp._domains import TOPICS_HELP, choose_domains, describe_domains
from querycloak.methods.dp._dp_settings import MOST_PER_USER, DpSettings, ledger_log_setting, ledger_setting
from querycloak.methods.dp._exact_noise import NOISE_BY_NAME, add_noise_by_name
from querycloak.methods.dp._noise import add_noise, check_library, describe_noise, scale_for
from querycloak.methods.dp._spending import charge, check_columns_public
from querycloak.progress import QUIET, Progress
from querycloak.releases.budget import EMPTY, REPLACE, Budget
from querycloak.releases.publish import Evidence, publish_items
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_out, under_new_ids
from querycloak.settings import setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.account import Relation
    from querycloak.releases.budget import Share
    from querycloak.releases.release import ItemRelease

__all__ = [
    "HistogramDp",
    "bins_of",
    "histogram_dp",
    "histogram_share",
    "histogram_statement",
    "noisy_histograms",
]

Int32s = npt.NDArray[np.int32]

_BLOCK = 1 << 22  # bins at a time


@dataclass(frozen=True)
class HistogramDp(DpSettings):
    """Settings of `histogram-dp`."""

    epsilon: float = setting(1.0, "budget of each user over all of the user's queries", above=0)
    per_user_queries: int = setting(
        100, "most units of queries that a user may have in the histogram", minimum=1, below=MOST_PER_USER + 1
    )
    domain: str = setting(
        "topics",
        "which concepts are counted: all = the whole taxonomy, one = those below the lowest concept above all topics, "
        "topics = those of the topics, or the label or path of a concept",
    )
    topics: str = setting("paper", TOPICS_HELP)
    sensitivity: str = setting(
        "replace",
        "noise enough to hide a user's queries among any others (replace), or the paper's half of it (paper)",
        choices=("replace", "paper"),
    )
    ledger: str | None = ledger_setting()
    ledger_log: str | None = ledger_log_setting()

    @property
    def most_change(self) -> int:
        """Largest change, in sum over all bins, that the noise is made for."""
        return self.per_user_queries * (2 if self.sensitivity == "replace" else 1)


def histogram_dp(
    log: QueryLog,
    settings: HistogramDp,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> ItemRelease:
    """Publish every user's concepts with noisy counts, those above 0."""
    import polars as pl

    if random.seed is None:
        check_library()
    check_columns_public(log)
    domains, bins, bin_of = bins_of(taxonomy, settings)
    bin_index = np.where(concepts.concept < 0, -1, bin_of[concepts.concept])
    inside = bin_index >= 0
    most = np.full(len(log.users), settings.per_user_queries, dtype=np.int64)
    taken = take_fitting(concepts.user, inside.astype(np.int64), most)

    budget, share = histogram_share(settings)
    takes_part = charge(log, settings, budget, progress, method="histogram-dp")
    users = np.unique(log.user).astype(np.int32)  # who cannot pay has noise alone: their number would tell who paid
    taken &= takes_part[concepts.user]
    epsilon = share.use()
    progress.start("adding noise to histograms", total=len(users))
    parts = []
    for user, concept, count in noisy_histograms(
        users, concepts.user[taken], bin_index[taken], len(bins), settings, epsilon, random.child("noise"),
        log.users.to_list(),
    ):  # fmt: skip
        parts.append((user, concept, count))
        progress.advance(max(1, _BLOCK // len(bins)))
    user, concept, count = (
        (np.concatenate(column) for column in zip(*parts, strict=True))
        if parts
        else (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64))
    )
    # under_new_ids() orders rows by new id and keeps the order within a user: carry the counts along as it does
    published, truth, *_ = under_new_ids(
        log, user, concept, random,
        queries=pl.Series([taxonomy.label(c) for c in bins.tolist()], dtype=pl.String),
        digits=False,
        category=concept,
        categories=pl.Series([taxonomy.paths[c] for c in bins.tolist()], dtype=pl.String),
    )  # fmt: skip
    rank = np.empty(len(log.users), dtype=np.int64)
    rank[truth.user] = np.arange(len(truth.user))
    published = replace(published, extra=pl.DataFrame({"count": count[np.argsort(rank[user], kind="stable")]}))
    dropped = {"further clicks of a query": int((~log.event).sum()), **_dropped(concepts, inside, taken)}
    told = ", ".join(f"{n:,} {reason}" for reason, n in dropped.items())
    progress.note(f"{len(log):,} rows in; not counted: {told} (not in the statement: these counts are exact)")
    randomness = describe_noise(random) if random.seed is None else f"{random.describe()}; {NOISE_BY_NAME}"
    statement = histogram_statement(settings, describe_domains(taxonomy, domains), randomness, count_out(published))
    return publish_items(published, statement, truth, Evidence(log, budget=budget, learned=concepts.learned))


def bins_of(taxonomy: Taxonomy, settings: HistogramDp) -> tuple[tuple[int, ...], Int32s, Int32s]:
    """Return the domains, int32[bins] the concept of each bin, int32[concepts] the bin of each concept, -1 = none."""
    domains, _ = choose_domains(taxonomy, settings.domain, settings.topics)
    bins = np.concatenate([np.arange(d, d + taxonomy.size[d], dtype=np.int32) for d in domains])
    bin_of = np.full(len(taxonomy), -1, dtype=np.int32)
    bin_of[bins] = np.arange(len(bins), dtype=np.int32)
    return domains, bins, bin_of


def histogram_share(settings: HistogramDp) -> tuple[Budget, Share]:
    """Take the budget; noise that overflows is refused before anything is spent."""
    relation: Relation = REPLACE if settings.sensitivity == "replace" else EMPTY
    budget = Budget(float(settings.epsilon), relation=relation)
    share = budget.take("a histogram for each user")  # one share: the histograms of two users have no query in common
    scale_for(settings.most_change, share.epsilon)
    return budget, share


def histogram_statement(
    settings: HistogramDp, domains: str, randomness: str, counts_out: dict[str, int]
) -> PrivacyStatement:
    """Return the statement of a release; `domains` in words."""
    return PrivacyStatement(
        method="histogram-dp",
        settings=settings.public(),
        version=__version__,
        model=f"epsilon-differential privacy of each user's queries, epsilon {settings.epsilon:g}"
        + ("" if settings.sensitivity == "replace" else " against an empty log, twice that against another"),
        parameters={"epsilon": float(settings.epsilon)},
        unit="user",
        covers=_covers(settings, domains),
        does_not_cover=(
            "how many users the log has is visible",
            "what all users have in common is published: the guarantee is about each user alone",
            settings.adds_up,
        ),
        assumptions=(
            "one person is one user of the log",
            "the taxonomy, the topics and the settings were chosen without looking at the log",
        ),
        randomness=randomness,
        new_ids=True,
        counts_in={},
        counts_out=counts_out,
        dropped={},
    )


def noisy_histograms(
    users: Int32s,
    user: Int32s,
    bin_index: Int32s,
    bins: int,
    settings: HistogramDp,
    epsilon: float,
    random: Randomness,
    names: Sequence[str],
) -> Iterator[tuple[Int32s, Int32s, npt.NDArray[np.int64]]]:
    """Return (user, bin, count) of the counts above 0, some users at a time.

    `users` are all users, ascending; `user` and `bin_index` are int32[units]. A user without a unit has noise too.
    With a seed the noise of a user is a function of the seed and of the user's name, as on a cluster; names: by user.
    """
    keyed = None if random.seed is None else KeyedRandomness(random)
    order = np.argsort(user, kind="stable")
    user, bin_index = user[order], bin_index[order]
    step = max(1, _BLOCK // bins)
    for at in range(0, len(users), step):
        some = users[at : at + step]
        low, high = np.searchsorted(user, [some[0], some[-1] + 1])
        cell = np.searchsorted(some, user[low:high]) * bins + bin_index[low:high]
        counts = np.bincount(cell, minlength=len(some) * bins).astype(np.int64)
        if keyed is None:
            noisy = add_noise(counts, sensitivity=settings.most_change, epsilon=epsilon, random=random)
        else:
            streams = Streams.of([names[u] for u in some.tolist()], keyed)
            noisy = add_noise_by_name(counts, streams, sensitivity=settings.most_change, epsilon=epsilon)
        kept = np.flatnonzero(noisy > 0)
        yield some[kept // bins], (kept % bins).astype(np.int32), noisy[kept]


def _dropped(concepts: ConceptLog, inside: npt.NDArray[np.bool_], taken: npt.NDArray[np.bool_]) -> dict[str, int]:
    """Count the query events of which no unit was counted, by reason."""
    event = np.cumsum(np.diff(concepts.row, prepend=-1) != 0) - 1
    n = int(event[-1]) + 1 if len(event) else 0
    has = [np.bincount(event[some], minlength=n) > 0 for some in (concepts.concept >= 0, inside, taken)]
    return {
        "no concept": int((~has[0]).sum()),
        "concept outside the domain": int((has[0] & ~has[1]).sum()),
        "beyond the user's queries": int((has[1] & ~has[2]).sum()),
    }


def _covers(settings: HistogramDp, domains: str) -> tuple[str, ...]:
    other = "any other" if settings.sensitivity == "replace" else "no"
    promise = (
        f"if one user had asked {other} queries instead, at most {settings.per_user_queries} units of them, any "
        f"release would have been as likely, up to a factor of exp({settings.epsilon:g})"
    )
    return promise, f"domains: {domains}"
