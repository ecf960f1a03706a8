"""Classes of a generalized release: ids with equal logs, and which of them agree with what is known of a person.

What the two methods promise, and so what no class of a person can lack (nodes are those of `release_nodes`):

- `clump`: every published item is at or above a concept of the person, each a concept of its own (Definition 1 of
  Milani Fard and Wang). Any other concept may be suppressed. So where all concepts of a person are known, each item
  stands for one of them. No stronger test of one class by one person holds: a class that passes it is what the person
  and k - 1 others with exactly the published items would publish. Where a part is known, nothing can be ruled out.
- `partition`: the same, and nothing is suppressed: every concept is at or below an item. That can be tested with any
  part of the concepts. An item with other items below it was published for the concept itself (`partition` drills into
  a node by its children, the node as a child of its own), so it stands for nothing below it.

Among the classes without a fault the most specific is named, and where all have faults, the one with the fewest. The
weights were chosen on generated logs and on a small real one (docs/adr/0086-classes-that-agree.md). They are whole
numbers: no tie hangs on rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.attacks._consistency_kernels import Items, Named, Rule, name_classes
from querycloak.attacks.path_nodes import PathNodes, release_nodes
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.targets import MOST_TARGETS
from querycloak.knowledge.generalization import leaf_loss, transactions_by_owner
from querycloak.releases.classes import distinct_logs

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["PublishedClasses"]

_MOST_WORK: Final = 100_000_000
"""Items that all people together are compared with: about two seconds."""
_FEWEST_PEOPLE: Final = 100
_UNIT: Final = 1024
"""Worth of an item is a whole number of 1 / 1024."""


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """The classes of a release, what their items may stand for, and what an attacker knows of the method."""

    of: npt.NDArray[np.int64]
    """int64[published ids], class of each"""
    ids: npt.NDArray[np.int64]
    """int64[classes], published ids in each"""
    items: Items
    nodes: PathNodes
    in_query: Ragged
    """concepts of each query of the original log, with repetition"""
    distinct: bool
    """the method takes each concept of a person once"""
    covers: bool
    """the method suppresses nothing"""

    @classmethod
    def find(cls, log: QueryLog, release: Release, concepts: ConceptLog, taxonomy: Taxonomy) -> PublishedClasses:
        """Find the classes of a release; the method and its settings are read from the statement."""
        nodes = release_nodes(release, taxonomy)
        node = nodes.published(release, taxonomy)
        if len(node) and (node < 0).all():
            raise CannotAttackError(
                "No published concept is in the taxonomy: name the one that the release was made with."
            )
        of, first = distinct_logs(release.log)
        bags = transactions_by_owner(release.log.user, node, len(release.log.users)).take(first)
        covers = release.statement.method == "partition"
        distinct = release.statement.settings.get("transactions", "sets") == "sets"
        return cls(
            of, np.bincount(of), _items(bags, nodes, exact=covers), nodes, _in_query(log, concepts), distinct, covers
        )

    @property
    def affordable(self) -> int:
        """How many people can be compared with all classes in a few seconds."""
        return min(MOST_TARGETS, max(_FEWEST_PEOPLE, _MOST_WORK // max(len(self.items.node), 1)))

    def known(self, people: Codes, user: Codes, query: Codes) -> Ragged:
        """Return the nodes that each of the people is known to have asked about, from pairs (user, query)."""
        row = np.full(int(max(people.max(initial=-1), user.max(initial=-1))) + 1, -1, dtype=np.int64)
        row[people] = np.arange(len(people))
        wanted = row[user] >= 0
        asked = self.in_query.take(query[wanted])
        person = np.repeat(row[user[wanted]], asked.lengths).astype(np.int32)
        bags = transactions_by_owner(person, asked.values, len(people))
        if self.distinct:
            bags = bags.distinct()
        return Ragged(bags.start, self.nodes.of[bags.values]).ascending()  # concepts with one path stay two

    def name(self, known: Ragged, owner: Codes, *, whole: bool) -> Named:
        """Name the classes that agree best with what is known of each person; owner: the right published ids.

        whole: all that the person asked is known, so that an item that stands for nothing known is a fault. With a part
        known, such an item only counts against its class: by its whole worth under `partition`, whose few items are
        each the only one in their range; by 3 / 10 under `clump`, where an item is one of many that could be missed.
        """
        matched, missed = (1, 1) if self.covers else (10, 3)
        rule = Rule(whole, self.covers, matched, missed)
        return name_classes(known, self.items, self.ids, self.of[owner], rule)


def _items(bags: Ragged, nodes: PathNodes, *, exact: bool) -> Items:
    """Return the range of nodes that each item may stand for, and its worth.

    Worth under `partition` (exact): 1 - LM, what publishing an item saves over suppressing it. Under `clump` 1 + IC:
    every item counts, the root too, since the length is that of the shortest log of the class; and IC, the information
    content -log of the share of leaves below it.
    """
    tree, node = nodes.tree, bags.values
    end = node + tree.size[node]
    loss, divisor = leaf_loss(tree)
    if exact:
        last = row_starts(bags.lengths)[1:][bags.lengths > 0] - 1
        following = np.append(node[1:], np.int32(0))
        following[last] = len(tree)  # no item of the same class follows
        end = np.where((following > node) & (following < end) & ~nodes.several[node], node + 1, end)
        worth = 1.0 - loss / divisor
    else:
        worth = 1.0 - np.log(tree.leaves / tree.leaves[0])
    fixed = np.rint(worth * _UNIT).astype(np.int64)
    return Items(bags.start, node.astype(np.int32), end.astype(np.int32), fixed[node])


def _in_query(log: QueryLog, concepts: ConceptLog) -> Ragged:
    """Return the concepts of each query of the log, as one event of it has them."""
    query, index = np.unique(concepts.query, return_index=True)
    first = np.zeros(len(log.queries), dtype=np.int64)
    first[query] = concepts.row[index]
    one = concepts.row == first[concepts.query]
    return transactions_by_owner(concepts.query[one], concepts.concept[one], len(log.queries))
