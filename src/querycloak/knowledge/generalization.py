"""What generalizing over a taxonomy costs: transactions as rows of concepts, their loss, and figures of a release.

A transaction is a row of a `Ragged`: concepts in ascending (depth-first) order; one may occur more than once.
Method and measure share this file, so that what a statement says and what a measure finds come from one definition
(`docs/adr/0020-where-generalization-is-costed.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["Costs", "Generalization", "generalization", "leaf_loss", "transactions_by_owner"]


def transactions_by_owner(owner: npt.NDArray[np.int32], concept: npt.NDArray[np.int32], owners: int) -> Ragged:
    """Gather the transaction of each owner 0..owners-1: its concepts, ascending; those below 0 are left out.

    >>> rows = transactions_by_owner(np.array([1, 0, 1, 1], np.int32), np.array([7, 3, 2, -1], np.int32), owners=3)
    >>> rows.to_lists()
    [[3], [2, 7], []]
    """
    known = concept >= 0
    return Ragged.of(owner[known], concept[known].astype(np.int32), owners).ascending()


def leaf_loss(taxonomy: Taxonomy) -> tuple[npt.NDArray[np.int64], int]:
    """Return LM as whole numbers: int64[n], leaves below each concept less one; and the divisor, all leaves less one.

    LM(p) = (M_p - 1) / (M - 1) (Milani Fard and Wang 2010, Section II.B). Kernels compare sums of whole numbers, so
    no tie hangs on rounding. A taxonomy with one leaf loses nothing by generalizing: the divisor is then 1.
    """
    return taxonomy.leaves.astype(np.int64) - 1, max(int(taxonomy.leaves[0]) - 1, 1)


@dataclass(frozen=True)
class Generalization:
    """Figures of generalized transactions against the original ones (Section V of the paper)."""

    distortion: float
    """the sum of GGD over all clusters"""
    worst: int
    """distortion if every item were suppressed: the number of original items"""
    length: float
    """mean number of items a published transaction has"""
    level: float
    """mean level of the published items, the root at level 1"""
    root: float
    """share of the published items that are the root, and so say nothing"""
    suppressed: float
    """share of the original items that no published item stands for"""
    density: float
    """original items / (transactions x leaves of the taxonomy)"""

    @property
    def share(self) -> float:
        """Distortion as a share of the worst case."""
        return self.distortion / self.worst if self.worst else 0.0

    def figures(self) -> dict[str, float]:
        """Return all figures by their names in statements and scores."""
        return {
            "distortion": self.distortion,
            "distortion, worst case": float(self.worst),
            "distortion, share of worst case": self.share,
            "items suppressed, share": self.suppressed,
            "mean transaction length": self.length,
            "mean level of items (root = 1)": self.level,
            "root items, share": self.root,
            "density": self.density,
        }


class Costs(NamedTuple):
    """What figures are made of: whole numbers, which add up over parts of a log."""

    loss: int
    """sum of LM over the published items, times the divisor"""
    items: int
    """original items"""
    standing: int
    """published items that stand for one"""
    published: int
    users: int
    depth: int
    """sum of the depths of the published items"""
    root: int
    """published items that are the root"""

    @classmethod
    def of(cls, taxonomy: Taxonomy, original: Ragged, published: Ragged, standing: int | None = None) -> Costs:
        """Add up what a release costs; see `generalization`."""
        loss, _ = leaf_loss(taxonomy)
        items = published.values
        return cls(
            loss=int(loss[items].sum()),
            items=len(original.values),
            standing=len(items) if standing is None else standing,
            published=len(items),
            users=original.rows,
            depth=int(taxonomy.depth[items].sum()),
            root=int((items == 0).sum()),
        )

    def generalization(self, taxonomy: Taxonomy) -> Generalization:
        """Return the figures."""
        suppressed = self.items - self.standing
        return Generalization(
            distortion=self.loss / leaf_loss(taxonomy)[1] + suppressed,
            worst=self.items,
            length=self.published / max(self.users, 1),
            level=self.depth / self.published + 1 if self.published else 0.0,
            root=self.root / self.published if self.published else 0.0,
            suppressed=suppressed / self.items if self.items else 0.0,
            density=self.items / (max(self.users, 1) * int(taxonomy.leaves[0])),
        )


def generalization(
    taxonomy: Taxonomy, original: Ragged, published: Ragged, standing: int | None = None
) -> Generalization:
    """Cost a release: GGD(S, t) = |S| * sum of LM over t + N_suppressed (Definition 3), summed over clusters.

    Summed user by user it needs no clusters: each published item stands for one distinct item of its user and costs
    its LM; every other original item is suppressed and costs 1. `standing` is the number of published items that do
    stand for an item (default: all, as every generalized transaction of Definition 1 promises); an item that stands
    for nothing is charged its LM all the same.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
    >>> original = Ragged.of_lists([[2, 4], [3]], np.int32)  # apple and meat; pear
    >>> found = generalization(food, original, Ragged.of_lists([[1], [1]], np.int32))
    >>> found.distortion, found.worst, found.length, found.level
    (2.0, 3, 1.0, 2.0)
    """
    return Costs.of(taxonomy, original, published, standing).generalization(taxonomy)
