"""A tree of concepts as flat arrays in depth-first order: a subtree is a slice.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> t = Taxonomy.from_parents([-1, 0, 0, 1], [["food"], ["fruit"], ["meat"], ["apple", "apples"]])
>>> t.label(2), t.depth.tolist(), t.size.tolist()
('apple', [0, 1, 2, 1], [4, 2, 1, 1])
"""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - for the dataclass
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

import numpy as np
import numpy.typing as npt

from querycloak.errors import UnknownNameError
from querycloak.knowledge._tree import depth_first, shape

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ROOT", "Taxonomy"]

ROOT: Final = 0
"""Index of the root of every taxonomy."""

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """Concepts in depth-first order, the root at index 0 and depth 0."""

    name: str
    parent: Int32s
    """int32[n], -1 for the root; always smaller than the index itself"""
    depth: Int32s
    """int32[n], edges from the root"""
    size: Int32s
    """int32[n], nodes of the subtree with its root: the subtree of c is c .. c + size[c] - 1"""
    leaves: Int32s
    """int32[n], leaves of the subtree; 1 for a leaf"""
    labels: Sequence[Sequence[str]]
    """several labels per concept, the preferred one first"""
    more_parents: tuple[Int32s, Int32s] | None = None
    """(child, parent) of the further hypernyms that the tree leaves out, by child; kept for the graph form"""
    sense: Int32s | None = None
    """int32[labels over all concepts], rank of this concept among those that share the label; None = by depth"""
    own_keys: Sequence[str] | pl.Series | None = None
    """the name of each concept in the file that the taxonomy came from; None = `keys` makes them"""

    def __len__(self) -> int:
        return len(self.parent)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle an embedded taxonomy by its name: in another process it is the embedded one, which layers know."""
        from querycloak.knowledge.named import KNOWLEDGE, load_taxonomy

        if self.name in KNOWLEDGE.built_in and load_taxonomy(self.name) is self:
            return load_taxonomy, (self.name,)
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"Taxonomy({self.name}, {len(self):,} concepts, depth {int(self.depth.max(initial=0))})"

    def label(self, concept: int) -> str:
        """Return the preferred label of a concept."""
        return self.labels[concept][0]

    def ancestors(self, concept: int) -> list[int]:
        """Return the concept and its ancestors, upwards, the root last."""
        out = [concept]
        while self.parent[out[-1]] >= 0:
            out.append(int(self.parent[out[-1]]))
        return out

    def path(self, concept: int, separator: str = "/") -> str:
        """Return the preferred labels from the root down: 'food/fruit/apple'."""
        return separator.join(self.label(c) for c in reversed(self.ancestors(concept)))

    def covers(self, above: int, below: int) -> bool:
        """Tell whether `below` is in the subtree of `above` (itself included)."""
        return above <= below < above + int(self.size[above])

    @cached_property
    def height(self) -> int:
        """Depth of the deepest concept."""
        return int(self.depth.max(initial=0))

    def children(self, concept: int) -> list[int]:
        """Return the children of a concept in order: each follows the subtree of the one before."""
        out, child, end = [], concept + 1, concept + int(self.size[concept])
        while child < end:
            out.append(child)
            child += int(self.size[child])
        return out

    def lca(self, a: int, b: int) -> int:
        """Return the lowest common ancestor of two concepts in the tree; one of them where it covers the other."""
        while not self.covers(a, b):
            a = int(self.parent[a])
        return a

    def ancestor_at_depth(self, depth: int) -> Int32s:
        """Return int32[n]: for every concept its ancestor at a depth, or itself where it is not that deep.

        In depth-first order that is the last concept up to it that is not deeper.
        """
        index = np.arange(len(self), dtype=np.int32)
        return np.maximum.accumulate(np.where(self.depth <= depth, index, ROOT).astype(np.int32))

    def all_parents(self, concept: int) -> list[int]:
        """Return the parents of a concept in the graph: that of the tree first; none for the root."""
        tree = [int(self.parent[concept])] if concept != ROOT else []
        if self.more_parents is None:
            return tree
        child, parent = self.more_parents
        start, end = np.searchsorted(child, [concept, concept + 1])
        return [*tree, *map(int, parent[start:end])]

    @cached_property
    def paths(self) -> list[str]:
        """The preferred labels from the root down for every concept, joined by '/'."""
        out = [self.label(ROOT)]
        for concept, above in enumerate(self.parent[1:].tolist(), 1):
            out.append(f"{out[above]}/{self.label(concept)}")
        return out

    @cached_property
    def all_labels(self) -> frozenset[str]:
        """Every label of every concept, as it is written."""
        return frozenset(label for labels in self.labels for label in labels)

    @cached_property
    def first_sense(self) -> dict[str, int]:
        """The concept of every label, lower-cased: the first sense, or the least deep where there are no senses."""
        label, concept = self._by_sense
        return dict(zip(reversed(label), reversed(concept.tolist()), strict=True))  # the first overwrites the later

    def find(self, label: str) -> list[int]:
        """Return the concepts with this label, the first sense first; case does not matter; none = []."""
        key = label.lower()
        return [self.first_sense[key], *self._further_senses.get(key, ())] if key in self.first_sense else []

    @cached_property
    def _further_senses(self) -> dict[str, list[int]]:
        """Concepts after the first of the labels that have several."""
        label, concept = self._by_sense
        first = np.fromiter(map(self.first_sense.__getitem__, label), np.int64, len(label))
        further: dict[str, list[int]] = {}
        for i in np.flatnonzero(concept != first).tolist():
            found = further.setdefault(label[i], [])
            if int(concept[i]) not in found:  # labels of one concept may differ in case alone
                found.append(int(concept[i]))
        return further

    @cached_property
    def _by_sense(self) -> tuple[list[str], npt.NDArray[np.int64]]:
        """All labels, lower-cased, with their concepts, first senses first."""
        concept = np.repeat(np.arange(len(self)), np.fromiter(map(len, self.labels), np.int64, len(self)))
        label = [label.lower() for labels in self.labels for label in labels]
        order = np.argsort(self.depth[concept] if self.sense is None else self.sense, kind="stable")
        return list(map(label.__getitem__, order.tolist())), concept[order]

    def nearest_labels(self, label: str, n: int = 5) -> list[str]:
        """Return the labels, in lower case, that are spelled most like this one, the nearest first."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        found = process.extract(label.lower(), self.first_sense.keys(), scorer=OSA.normalized_similarity, limit=n)
        return [name for name, _, _ in found]

    def concept(self, label: str) -> int:
        """Return the first sense of a label, or the concept of a path; else UnknownNameError with near labels."""
        senses = self.find(label)
        if senses:
            return senses[0]
        path = label.replace("_", " ")
        if "/" in label and path in self.concept_of_path:
            return self.concept_of_path[path]
        near = ", ".join(repr(name) for name in self.nearest_labels(label))
        raise UnknownNameError(f"There is no concept {label!r} in the taxonomy {self.name}. The nearest are: {near}.")

    @cached_property
    def concept_of_path(self) -> dict[str, int]:
        """The concept of every path of `paths`; the first where several share it."""
        return {path: concept for concept, path in reversed(list(enumerate(self.paths)))}

    @cached_property
    def keys(self) -> list[str]:
        """One name for each concept that no other has: public, and the same wherever this taxonomy is loaded.

        Those of its file, where it has some. Where labels have senses, as WordNet's tools name a synset: the first
        label and the number of its sense, `dog.n.01`. Else the path, with a number where several share it.

        >>> Taxonomy.from_parents([-1, 0, 0], [["river"], ["Avon"], ["Avon"]]).keys
        ['river', 'river/Avon', 'river/Avon#2']
        """
        if self.own_keys is not None:
            return list(self.own_keys)
        if self.sense is not None:
            first = np.cumsum([0, *map(len, self.labels)])[:-1]
            rank = (self.sense[first] + 1).tolist()
            label = (labels[0].lower().replace(" ", "_") for labels in self.labels)
            names = [f"{name}.n.{number:02d}" for name, number in zip(label, rank, strict=True)]
            if len(set(names)) == len(names):
                return names
        return _distinct(self.paths)

    @cached_property
    def concept_of_key(self) -> dict[str, int]:
        """The concept of every key."""
        return {key: concept for concept, key in enumerate(self.keys)}

    @classmethod
    def from_depth_first(
        cls,
        parent: Int32s,
        labels: Sequence[Sequence[str]],
        *,
        name: str,
        more_parents: tuple[Int32s, Int32s] | None = None,
        sense: Int32s | None = None,
        keys: Sequence[str] | pl.Series | None = None,
    ) -> Taxonomy:
        """Take parents that are in depth-first order already; what is derived from them is computed."""
        return cls(name, parent, *shape(parent), labels, more_parents, sense, keys)

    @classmethod
    def from_parents(
        cls,
        parents: Sequence[int] | npt.NDArray[np.integer[Any]],
        labels: Sequence[Sequence[str]],
        *,
        name: str = "taxonomy",
        names: Sequence[str] | None = None,
    ) -> Taxonomy:
        """Put any numbering into depth-first order; children keep their order. Refuses what is not one tree.

        `parents` has -1 for the root; `names` are the keys of the concepts, and used in messages (there the default is
        the first label).
        """
        taxonomy, _ = cls.from_parents_with_order(parents, labels, name=name, names=names)
        return taxonomy

    @classmethod
    def from_parents_with_order(
        cls,
        parents: Sequence[int] | npt.NDArray[np.integer[Any]],
        labels: Sequence[Sequence[str]],
        *,
        name: str = "taxonomy",
        names: Sequence[str] | None = None,
    ) -> tuple[Taxonomy, npt.NDArray[np.int64]]:
        """Like `from_parents`; also returns order: int64[n], the old number of each new index."""
        given = np.asarray(parents, dtype=np.int64)
        order = depth_first(given, names if names is not None else [ls[0] if ls else "?" for ls in labels])
        new_of_old = np.empty(len(given), dtype=np.int64)
        new_of_old[order] = np.arange(len(given))
        parent = np.where(given[order] < 0, -1, new_of_old[given[order]]).astype(np.int32)
        keys = None if names is None else [names[i] for i in order.tolist()]
        return cls.from_depth_first(parent, [labels[i] for i in order.tolist()], name=name, keys=keys), order


def _distinct(names: list[str]) -> list[str]:
    """Add a number to each name that was there before."""
    taken, out, again = set(names), [], set[str]()
    for name in names:
        found, number = name, 2
        while found in again or (found != name and found in taken):
            found, number = f"{name}#{number}", number + 1
        again.add(found)
        out.append(found)
    return out
