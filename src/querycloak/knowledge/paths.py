"""A taxonomy from paths such as 'Top/Arts/Animation': the tables and dumps of the Open Directory.

>>> from querycloak.knowledge.paths import tree_of_paths
>>> tree, concept = tree_of_paths(["Top/Arts", "Top/Kids_and_Teens/School"], name="odp")
>>> tree.paths
['Top', 'Top/Arts', 'Top/Kids and Teens', 'Top/Kids and Teens/School']
>>> concept.tolist()
[1, 3]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.errors import TaxonomyError
from querycloak.knowledge.taxonomy import Int32s, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["concepts_of_paths", "tree_of_paths"]

_MAX_LEVELS: Final = 100  # the deepest path of the Open Directory has 15
_NO_TITLES: Final[Mapping[str, str]] = {}


def tree_of_paths(
    paths: Sequence[str], *, name: str, titles: Mapping[str, str] = _NO_TITLES
) -> tuple[Taxonomy, Int32s]:
    """Build the tree of paths, and give the concept of each: int32[len(paths)].

    Paths in between that are not listed are made. Several roots are joined under 'Top'. The label of a concept is the
    last part of its path with spaces for underscores; `titles` (path → title) give a second label where they differ.
    """
    if not len(paths):
        raise TaxonomyError("The taxonomy is empty: it needs at least one path.")
    number = {"": 0}  # an origin above all roots
    parents, labels = [-1], [["Top"]]
    for path in paths:
        if path not in number:
            _add(path.strip("/"), number, parents, labels)
    concepts = np.array([number[path if path in number else path.strip("/")] for path in paths], dtype=np.int64)
    for path, title in titles.items():
        known = labels[number[path]] if path in number else None
        if known is not None and title and title not in known:
            known.append(title)
    parent = np.array(parents, dtype=np.int64)
    tops = np.flatnonzero(parent == 0)
    if len(tops) == 1 or "Top" in number:  # no origin needed: the one root, or Top, takes its place
        root = int(tops[0]) if len(tops) == 1 else number["Top"]
        parent[tops] = root
        parent[root] = -1
        concepts[concepts == 0] = root
        parent = np.where(parent[1:] > 0, parent[1:] - 1, -1)
        labels, concepts = labels[1:], concepts - 1
    tree, order = Taxonomy.from_parents_with_order(parent, labels, name=name)
    new_of_old = np.empty(len(order), dtype=np.int32)
    new_of_old[order] = np.arange(len(order), dtype=np.int32)
    return tree, new_of_old[concepts]


def _add(path: str, number: dict[str, int], parents: list[int], labels: list[list[str]]) -> None:
    """Add a path and those above it that are missing."""
    if path.count("/") >= _MAX_LEVELS:
        raise TaxonomyError(f"The taxonomy has a path of more than {_MAX_LEVELS} levels: is it a table of paths?")
    missing = []
    while path not in number:
        missing.append(path)
        path = path.rpartition("/")[0].rstrip("/")
    for child in reversed(missing):
        number[child] = len(parents)
        parents.append(number[path])
        labels.append([child.rpartition("/")[2].replace("_", " ")])
        path = child


def concepts_of_paths(paths: Sequence[str], taxonomy: Taxonomy) -> Int32s:
    """Find paths in a taxonomy: int32[len(paths)], the deepest concept on the path that there is; -1 where none is."""
    found = np.full(len(paths), -1, dtype=np.int32)
    for i, path in enumerate(paths):
        above = path.strip("/").replace("_", " ")
        while above and above not in taxonomy.concept_of_path:
            above = above.rpartition("/")[0]
        found[i] = taxonomy.concept_of_path.get(above, -1)
    return found
