"""The category path of each row: the category column where there is one, else the concept of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.category_tree import UNCLASSIFIED, split_path

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.category_tree import CategoryTree
    from querycloak.mapping.concept_log import ConceptLog

__all__ = ["PathsOf", "RowPaths", "concept_path", "first_concept", "row_paths"]


@dataclass(frozen=True, eq=False)
class RowPaths:
    """Distinct paths and the path of each row."""

    code: npt.NDArray[np.int32]
    """int32[n], into `paths`"""
    paths: list[tuple[str, ...]]
    taxonomy: Taxonomy | None = None
    """whose concepts the levels of paths are, by number; None = they are names of categories"""

    @property
    def named_paths(self) -> list[tuple[str, ...]]:
        """The paths with the names of their levels."""
        if self.taxonomy is None:
            return self.paths
        return [tuple(self.taxonomy.label(int(concept)) for concept in path) for path in self.paths]

    def nodes(self, tree: CategoryTree) -> npt.NDArray[np.int32]:
        """Return the node of each row, cut to the depth of the tree: int32[n]."""
        node = tree.nodes(self.paths)
        return node[self.code] if len(node) else np.zeros(0, dtype=np.int32)

    def classified(self) -> npt.NDArray[np.bool_]:
        """Return whether each row has a category: bool[n]."""
        known = np.array([path != UNCLASSIFIED for path in self.paths], dtype=np.bool_)
        return known[self.code] if len(known) else np.zeros(0, dtype=np.bool_)


PathsOf = Callable[[str], RowPaths]
"""Finds the paths of the rows of a log, given what separates the levels."""


def first_concept(concepts: tuple[int, ...] | list[int]) -> int:
    """Return the first concept of a query that the taxonomy has, or -1: a record goes to one node."""
    return next((c for c in concepts if c != NO_CODE), NO_CODE)


def concept_path(taxonomy: Taxonomy, concept: int) -> tuple[str, ...]:
    """Return the path of a concept without the root, by number: two concepts may share a label."""
    if concept == NO_CODE:
        return UNCLASSIFIED
    return tuple(str(c) for c in reversed(taxonomy.ancestors(concept)[:-1]))


def row_paths(
    log: QueryLog, separator: str = "/", concepts: ConceptLog | None = None, taxonomy: Taxonomy | None = None
) -> RowPaths:
    """Find the path of every row of a log; a path with an empty level counts as unclassified.

    Without a category column, `concepts` over `taxonomy` are needed; a query with several takes the first.
    """
    if log.category is not None and log.categories is not None:
        paths = [UNCLASSIFIED, *(split_path(text, separator) or UNCLASSIFIED for text in log.categories.to_list())]
        return RowPaths((log.category + 1).astype(np.int32), paths)
    if concepts is None or taxonomy is None:
        raise ValueError("a log without categories needs concepts and a taxonomy")
    of_query = np.full(len(log.queries), NO_CODE, dtype=np.int32)
    known = concepts.known()
    queries, first = np.unique(known.query, return_index=True)
    of_query[queries] = known.concept[first]
    used, code = np.unique(of_query[log.query], return_inverse=True)
    return RowPaths(code.astype(np.int32), [concept_path(taxonomy, int(c)) for c in used], taxonomy)
