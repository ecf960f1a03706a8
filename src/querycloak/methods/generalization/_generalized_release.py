"""What `clump` and `partition` share: transactions from a log, and the release of generalized ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.errors import InputError
from querycloak.knowledge.generalization import generalization, transactions_by_owner
from querycloak.knowledge.pruning import cost_tree
from querycloak.logs.query_log import QueryLog, encode
from querycloak.releases.class_table import member_ids
from querycloak.releases.publish import Evidence, publish_items
from querycloak.releases.release import CONCEPT_ID
from querycloak.releases.statement import TWO_RELEASES, PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.settings import Settings, setting

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import ItemRelease

__all__ = [
    "OF_USERS_WITHOUT",
    "USERS_WITHOUT",
    "WITHOUT",
    "GeneralizationSettings",
    "generalized_statement",
    "refuse_too_few",
    "release_generalized",
    "transactions_of",
]

Int64s = npt.NDArray[np.int64]

USERS_WITHOUT: Final = "users without a concept"
OF_USERS_WITHOUT: Final = "of users without any concept"
WITHOUT: Final = "without a concept of the taxonomy"


PRUNED: Final = (
    "the taxonomy was pruned to this log: which concepts nobody asked about shaped clusters and figures, which do not "
    "compare with those of another log or of the whole taxonomy; the smallest class is k all the same"
)


@dataclass(frozen=True)
class GeneralizationSettings(Settings):
    """What all methods of the family take."""

    k: int = setting(5, "smallest number of users that share a published transaction", minimum=2)
    output_form: str = setting(
        "users",
        "users = a row for each concept of each user; classes = each class of equal users once, with its size",
        choices=("users", "classes"),
    )
    prune: bool | None = setting(
        None, "cost by the concepts of this log and those above them, not by the whole taxonomy", shown="no"
    )

    def __post_init__(self) -> None:
        if self.prune is None:
            object.__setattr__(self, "prune", False)
        super().__post_init__()


def transactions_of(
    log: QueryLog, concepts: ConceptLog, k: int, method: str, *, distinct: bool
) -> tuple[Int64s, Ragged]:
    """Return the users that have a concept (int64[n], codes of the log) and the transaction of each.

    A transaction is the set of the user's concepts (`distinct`) or the bag of them, as often as they were asked.
    """
    bags = transactions_by_owner(concepts.user, concepts.concept, owners=len(log.users))
    users = np.flatnonzero(bags.lengths > 0)
    refuse_too_few(len(users), len(np.unique(log.user)), k, method)
    bags = bags.take(users)
    return users, bags.distinct() if distinct else bags


def refuse_too_few(users: int, of: int, k: int, method: str) -> None:
    """Refuse a log in which fewer than k users have a concept; it has `of` users in all."""
    if users < k:
        found = f"{users:,} of {of:,} users have a concept of the taxonomy"
        raise InputError(
            f"{method} with k = {k} needs {k} or more users with a concept, but {found}: "
            "lower k, or take a log or a taxonomy that fit each other."
        )


def release_generalized(
    log: QueryLog,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
    random: Randomness,
    settings: GeneralizationSettings,
    *,
    method: str,
    users: Int64s,
    transactions: Ragged,
    of: npt.NDArray[np.int32],
    shared: Ragged,
    length_is: str,
) -> ItemRelease:
    """Publish for each user the bag that its cluster shares, one row per item, and state what that promises.

    `of` is int32[users], the cluster of each; `shared` has one bag per cluster. `length_is` says in words what the
    length of a published transaction gives away.
    """
    import polars as pl

    sizes = np.bincount(of)
    published_bags = shared.take(of)
    used, index = np.unique(published_bags.values, return_inverse=True)
    label, labels = encode([taxonomy.label(c) for c in used.tolist()])
    path, path_words = encode([taxonomy.path(c) for c in used.tolist()])
    published, truth, _, entry = under_new_ids(
        log,
        np.repeat(users, published_bags.lengths).astype(np.int32),
        label[index],
        random,
        queries=labels,
        category=path[index],
        categories=path_words,
        ids=_ids_by_class(log, of[np.argsort(users)], shared) if settings.output_form == "classes" else None,
    )
    keys = pl.Series(CONCEPT_ID, [taxonomy.keys[c] for c in used.tolist()], dtype=pl.String)
    published = replace(published, extra=keys.gather(index[entry]).to_frame())
    costs = cost_tree(taxonomy, concepts.concept, settings.to_json())
    without = np.ones(len(log.users), dtype=np.bool_)
    without[users] = False
    unknown = np.ones(len(log), dtype=np.bool_)
    unknown[concepts.known().row] = False
    unknown &= log.event & ~without[log.user]
    statement = generalized_statement(
        method,
        settings,
        random,
        length_is=length_is,
        leaves=int((taxonomy.size[published_bags.values] == 1).sum()),
        rows=len(published),
        counts_in=count_in(log)
        | {USERS_WITHOUT: int(np.isin(np.flatnonzero(without), log.user).sum())}
        | {"items": len(transactions.values)},
        counts_out=count_out(published) | {"clusters": len(sizes), "smallest cluster": int(sizes.min())},
        dropped={
            OF_USERS_WITHOUT: int(without[log.user].sum()),
            WITHOUT: int(unknown.sum()),
        },
        figures=generalization(costs.tree, costs.nodes(transactions), costs.nodes(published_bags)).figures(),
    )
    return publish_items(published, statement, truth, Evidence(log))


def generalized_statement(
    method: str,
    settings: GeneralizationSettings,
    random: Randomness,
    *,
    length_is: str,
    leaves: int,
    rows: int,
    counts_in: dict[str, int],
    counts_out: dict[str, int],
    dropped: dict[str, int],
    figures: dict[str, float],
) -> PrivacyStatement:
    """Say what holds of users who are published as what their cluster shares.

    `leaves` of the `rows` published are concepts at the bottom of the taxonomy. `length_is` says in words what the
    length of a published transaction gives away.
    """
    k = settings.k
    return PrivacyStatement(
        method=method,
        settings=settings.to_json(),
        version=__version__,
        model=f"k-anonymity of users' generalized transactions, k = {k}",
        parameters={"k": float(k)},
        unit="user",
        covers=(
            _same(k),
            "every published concept is, or lies above, a distinct concept that the user did ask about",
        ),
        does_not_cover=(
            _no_diversity(leaves, rows),
            "a concept that only one cluster has is published all the same, however sensitive its label",
            length_is,
            "that a user is in the release is not hidden, and users without any concept are missing from it",
            "clusters are chosen by content: who knows the method and nearly all transactions may rule some out",
            TWO_RELEASES,
            *((PRUNED,) if settings.prune else ()),
        ),
        assumptions=("the unit is one user id of the log: who used several ids is protected id by id",),
        randomness=random.describe(),
        new_ids=True,
        counts_in=counts_in,
        counts_out=counts_out,
        dropped=dropped,
        figures=figures,
    )


def _ids_by_class(log: QueryLog, of: npt.NDArray[np.int32], shared: Ragged) -> list[str]:
    """Return ids that tell class and member, for a release that is written class by class; `of` by users' codes.

    Clusters that publish the same are one class. Classes are numbered by what they publish, so that their order tells
    nothing else.
    """
    bags = shared.to_lists()
    number = {bag: i for i, bag in enumerate(sorted(set(map(tuple, bags))))}
    cls = np.array([number[tuple(bag)] for bag in bags], dtype=np.int64)[of]
    ids, _ = member_ids(np.bincount(cls, minlength=len(number)), avoid=log.users.to_list())
    out = np.empty(len(cls), dtype=object)
    out[np.argsort(cls, kind="stable")] = ids
    return list(out)


def _same(k: int) -> str:
    return (
        f"the rows of every published id are the same, item by item, as those of at least {k - 1} other ids: "
        f"whatever is known of a user's queries, it does not tell which of {k} or more ids is that user's"
    )


def _no_diversity(leaves: int, rows: int) -> str:
    return (
        "no diversity: what all users of a cluster have in common is published and holds for each of them; "
        f"{leaves:,} of {rows:,} rows are concepts at the bottom of the taxonomy, published as they were asked"
    )
