"""What methods with groups of users share when they publish: one bag of queries for all members of a group.

The privacy argument. Every member of a group is published with the same bag of queries, in the same order, under an id
of its own that is drawn at random. So no function of the release tells two members of a group apart, and whoever looks
for a person among the published users can name the right one with a chance of at most 1 / (size of the group) <= 1 / k
on average over the group. Which queries are in the bag is not covered: see `does_not_cover`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.arrays.ragged import Ragged
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import TWO_RELEASES, PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids

if TYPE_CHECKING:
    from collections.abc import Container

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.methods.microaggregation._group_settings import GroupSettings
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["GroupBags", "labels_instead", "release_groups", "with_labels"]

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class GroupBags:
    """What each group publishes."""

    user: Ints
    """int[n], original code of each grouped user"""
    group: Ints
    """int[n], the user's group"""
    bag_group: Ints
    """int[m], group of each published query"""
    bag_query: Ints
    """int[m], the query's code in `queries`"""
    queries: pl.Series
    """vocabulary"""


def release_groups(
    method: str,
    log: QueryLog,
    settings: GroupSettings,
    random: Randomness,
    bags: GroupBags,
    *,
    covers_not: tuple[str, ...],
    dropped: dict[str, int],
    figures: dict[str, float],
    public: Container[str] = frozenset(),
) -> LogRelease:
    """Publish every user with the bag of its group, and say what holds; `public` = labels that may be published."""
    by_text = np.argsort(_rank(bags.queries, bags.bag_query), kind="stable")
    groups = int(bags.group.max(initial=-1)) + 1
    rows = Ragged.of(bags.bag_group[by_text], bags.bag_query[by_text], groups).take(bags.group)
    owner = np.repeat(bags.user, rows.lengths).astype(np.int32)
    published, truth, _ = under_new_ids(log, owner, rows.values.astype(np.int32), random, queries=bags.queries)
    statement = PrivacyStatement(
        method=method,
        settings=settings.to_json(),
        version=__version__,
        model=f"k-anonymity of users, k = {settings.k}",
        parameters={"k": float(settings.k)},
        unit="user",
        text_users=settings.min_query_users,
        covers=(
            f"every published user has the same bag of queries as at least {settings.k - 1} other published users",
        ),
        does_not_cover=(*covers_not, *_always_open(settings)),
        assumptions=("who looks for a user knows no other member of the user's group",),
        randomness=random.describe(),
        new_ids=True,
        counts_in=count_in(log),
        counts_out=count_out(published),
        dropped={"further clicks of a query": int((~log.event).sum()), **dropped},
        figures=figures,
    )
    return publish_log(published, statement, truth, Evidence(log, public))


def with_labels(queries: pl.Series, labels: list[str]) -> tuple[pl.Series, npt.NDArray[np.int64]]:
    """Add labels to a vocabulary; return it and the code of each label: int64[labels].

    A label may be a query of the log, or come twice: one text has one code.
    """
    import polars as pl

    words = pl.concat([queries, pl.Series(labels, dtype=pl.String)])
    first = words.to_frame("text").with_row_index("code").select(pl.col("code").min().over("text")).to_series()
    return words, first.to_numpy()[len(queries) :].astype(np.int64)


def labels_instead(
    log: QueryLog, concepts: npt.NDArray[np.integer[Any]], taxonomy: Taxonomy, min_query_users: int
) -> list[str]:
    """Return a label for each concept, to publish instead of a query that too few users asked; "" where there is none.

    A label may be that very query. So it is the label of the concept, or of the nearest one above, that is no query of
    too few users, in upper or lower case.
    """
    people = log.users_per_query()
    plain = log.queries.str.to_lowercase()
    shared = set(plain.gather(np.flatnonzero(people >= min_query_users)).to_list())
    rare = set(plain.gather(np.flatnonzero((people >= 1) & (people < min_query_users))).to_list()) - shared

    def label_of(concept: int) -> str:
        while concept >= 0 and taxonomy.label(concept).lower() in rare:
            concept = int(taxonomy.parent[concept])
        return taxonomy.label(concept) if concept >= 0 else ""

    return [label_of(concept) for concept in concepts.tolist()]


def _always_open(settings: GroupSettings) -> tuple[str, ...]:
    asked = (
        "queries are published verbatim, also those that one user alone asked: such a query can name a person"
        if settings.min_query_users == 1
        else f"queries are published verbatim if at least {settings.min_query_users} users asked them"
    )
    return (
        asked,
        "that some member of a group asked queries like the published ones",
        "the length of a group's log, about the mean of its members', in concepts where users are compared by them",
        TWO_RELEASES,
    )


def _rank(words: pl.Series, codes: Ints) -> npt.NDArray[np.int64]:
    """Rank codes by their text: int64[len(codes)], so that an order tells nothing about the log."""
    used, inverse = np.unique(codes, return_inverse=True)
    rank = words.gather(used).rank("ordinal").to_numpy() if len(used) else np.zeros(0)
    return rank.astype(np.int64)[inverse]
