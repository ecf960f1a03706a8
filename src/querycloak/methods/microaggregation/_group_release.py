"""What methods with groups of users share when they publish: one bag of queries for all members of a group.

The privacy argument. Every member of a group is published with the same bag of queries, in the same order, under an id
of its own that is drawn at random. So no function of the release tells two members of a group apart, and whoever looks
for a person among the published users can name the right one with a chance of at most 1 / (size of the group) <= 1 / k
on average over the group. Which queries are in the bag is not covered: see `does_not_cover`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.arrays.ragged import Ragged
from querycloak.errors import ParameterError
from querycloak.logs.query_log import NO_CODE
from querycloak.methods.microaggregation._last_step import Asked, draw_entries
from querycloak.releases.columns import KeptColumns
from querycloak.releases.kinds import with_kinds
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import TWO_RELEASES, PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.texts.phrases import NOTHING, QUERY
from querycloak.texts.text_promises import covered_texts, exposed_texts, promised_texts

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.microaggregation._group_settings import GroupSettings
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease
    from querycloak.texts.phrases import SharedTexts

__all__ = [
    "FURTHER_CLICKS",
    "Drawn",
    "GroupBags",
    "Grouped",
    "draw_shared",
    "group_statement",
    "no_rows",
    "release_groups",
    "release_shared",
]

Ints = npt.NDArray[np.integer[Any]]

FURTHER_CLICKS: Final = "further clicks of a query"
"""reason why rows of the log are left out: a row of a release is one query"""


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
    bag_row: Ints
    """int64[m], the row of the log that the entry was made from; -1 where there is none"""
    queries: pl.Series
    """vocabulary"""
    text: npt.NDArray[np.int64] | None = None
    """int64[distinct queries of the log], the code in `queries` of what is published of each, -1 = nothing; clicks are
    counted by it. None = entries were not made from rows, and have neither times nor clicks"""
    bag_kind: Ints | None = None
    """int[m]: QUERY, PHRASE or LABEL; None = all are queries"""


def no_rows(entries: Ints) -> npt.NDArray[np.int64]:
    """Return `bag_row` of entries that were made from no row of their own."""
    return np.full(len(entries), NO_CODE, dtype=np.int64)


class Kept(Protocol):
    """What is said of the columns that a release keeps."""

    @property
    def promises(self) -> dict[str, Any]:
        """Return what the statement promises, as its fields."""
        ...

    @property
    def exposes(self) -> tuple[str, ...]:
        """Return what the columns leave open, one sentence each."""
        ...


class Grouped(NamedTuple):
    """Users in groups, before anything is drawn."""

    users: Ints
    """int[n], original code of each grouped user, ascending"""
    group: Ints
    """int[n], the user's group"""
    figures: dict[str, float]
    """what the statement shows of the groups"""


class Drawn(NamedTuple):
    """What each group publishes, with what the statement counts of it."""

    bags: GroupBags
    dropped: dict[str, int]
    figures: dict[str, float]


def release_shared(
    method: str,
    log: QueryLog,
    settings: GroupSettings,
    random: Randomness,
    grouped: Grouped,
    shared: SharedTexts,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Draw what each group publishes, of the texts that many people share, and publish it."""
    drawn = draw_shared(log, random, grouped, shared, concepts=concepts, taxonomy=taxonomy)
    return release_groups(
        method,
        log,
        settings,
        random,
        drawn.bags,
        dropped=drawn.dropped,
        figures={**grouped.figures, **drawn.figures},
        evidence=Evidence(log, concepts=concepts, taxonomy=taxonomy),
    )


def draw_shared(
    log: QueryLog,
    random: Randomness,
    grouped: Grouped,
    shared: SharedTexts,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Drawn:
    """Draw what each group publishes, of the texts that many people share."""
    users, group, _ = grouped
    size = np.bincount(group)
    events = np.flatnonzero(log.event)
    index = np.full(len(log), NO_CODE, dtype=np.int64)
    index[events] = np.arange(len(events))
    group_of = np.full(len(log.users), NO_CODE, dtype=np.int64)
    group_of[users] = group
    known = concepts.known()
    query = log.query[events]
    asked = Asked(events, query, group_of[log.user[events]], index[known.row], known.concept.astype(np.int64))
    entries = draw_entries(asked, size, shared, taxonomy, random)
    kinds = np.bincount(entries.kind, weights=size[entries.group], minlength=NOTHING + 1).astype(np.int64)
    names = list(shared.counts(np.zeros(0, dtype=np.int64)))
    silent = len(size) - len(np.unique(entries.group))
    return Drawn(
        GroupBags(users, group, entries.group, entries.text, entries.row, entries.words, shared.text, entries.kind),
        {names[NOTHING]: int((shared.kind[query] == NOTHING).sum())},
        {
            **{name: int(n) for name, n in zip(names[:NOTHING], kinds.tolist(), strict=False)},
            "groups without a text that may be published": silent,
        },
    )


def release_groups(
    method: str,
    log: QueryLog,
    settings: GroupSettings,
    random: Randomness,
    bags: GroupBags,
    *,
    covers_not: tuple[str, ...] = (),
    dropped: dict[str, int],
    figures: dict[str, float],
    evidence: Evidence | None = None,
) -> LogRelease:
    """Publish every user with the bag of its group, and say what holds."""
    by_text = np.argsort(_rank(bags.queries, bags.bag_query), kind="stable")
    groups = int(bags.group.max(initial=-1)) + 1
    entry = Ragged.of(bags.bag_group[by_text], by_text, groups).take(bags.group)
    owner = np.repeat(bags.user, entry.lengths).astype(np.int32)
    kept = _kept_columns(log, settings, bags)
    query = bags.bag_query[entry.values].astype(np.int32)
    row = bags.bag_row[entry.values]
    table = under_new_ids(log, owner, query, random, queries=bags.queries, rows=row, kept=kept)
    if settings.kinds == "column":
        kind = np.full(len(bags.bag_query), QUERY) if bags.bag_kind is None else bags.bag_kind
        table = with_kinds(table, kind[entry.values])
    statement = group_statement(
        method,
        settings,
        random,
        covers=covered_texts(settings, log),
        covers_not=covers_not,
        kept=kept,
        counts_in=count_in(log),
        counts_out=count_out(table.log),
        dropped={FURTHER_CLICKS: int((~log.event).sum()), **dropped},
        figures=figures,
    )
    return publish_log(table.log, statement, table.truth, Evidence(log) if evidence is None else evidence)


def group_statement(
    method: str,
    settings: GroupSettings,
    random: Randomness,
    *,
    covers: tuple[str, ...],
    covers_not: tuple[str, ...] = (),
    kept: Kept | None,
    counts_in: dict[str, int],
    counts_out: dict[str, int],
    dropped: dict[str, int],
    figures: dict[str, float],
) -> PrivacyStatement:
    """Say what holds of users who are published with the bag of their group; `covers` is what holds of texts."""
    return PrivacyStatement(
        method=method,
        settings=settings.to_json(),
        version=__version__,
        model=f"k-anonymity of users, k = {settings.k}",
        parameters={"k": float(settings.k)},
        unit="user",
        **promised_texts(settings),
        **({} if kept is None else kept.promises),
        covers=(
            f"every published user has the same bag of queries as at least {settings.k - 1} other published users",
            *covers,
        ),
        does_not_cover=(*covers_not, *_always_open(settings), *(() if kept is None else kept.exposes)),
        assumptions=("who looks for a user knows no other member of the user's group",),
        randomness=random.describe(),
        new_ids=True,
        counts_in=counts_in,
        counts_out=counts_out,
        dropped=dropped,
        figures=figures,
    )


def _kept_columns(log: QueryLog, settings: GroupSettings, bags: GroupBags) -> KeptColumns | None:
    """Find what is kept of times and clicks; None where entries were not made from rows.

    All members of a group get the same rows, so the same times and clicks; sorted, so that the order tells nothing.
    """
    if bags.text is None:
        if settings.keep != "none":
            expected = "none with as_in_paper, where queries are drawn without a time or a click of their own"
            raise ParameterError.of(f"{type(settings).__name__}.keep", expected, settings.keep)
        return None
    return KeptColumns.of(log, settings, settings.rule, bags.text, bags.queries, by_text=True)


def _always_open(settings: GroupSettings) -> tuple[str, ...]:
    """Say what every method with groups leaves open."""
    length = (
        "the length of a group's log, about the mean of its members', in concepts where users are compared by them"
        if settings.as_in_paper
        else "the length of a group's log, the mean of its members'"
    )
    return (
        *exposed_texts(settings),
        "that some member of a group asked queries like the published ones",
        length,
        TWO_RELEASES,
    )


def _rank(words: pl.Series, codes: Ints) -> npt.NDArray[np.int64]:
    """Rank codes by their text: int64[len(codes)], so that an order tells nothing about the log."""
    used, inverse = np.unique(codes, return_inverse=True)
    rank = words.gather(used).rank("ordinal").to_numpy() if len(used) else np.zeros(0)
    return rank.astype(np.int64)[inverse]
