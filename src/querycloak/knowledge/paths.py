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
import polars as pl

from querycloak.errors import TaxonomyError
from querycloak.knowledge.taxonomy import Int32s, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["concepts_of_paths", "tree_of_paths"]

_MAX_LEVELS: Final = 100  # far above any real directory
_ABOVE: Final = r"/[^/]*$"


def tree_of_paths(
    paths: Sequence[str] | pl.Series, *, name: str, titles: pl.DataFrame | None = None
) -> tuple[Taxonomy, Int32s]:
    """Build the tree of paths, siblings by name, and return the concept of each path: int32[len(paths)].

    Paths in between that are not listed are made. Several roots are joined under 'Top'. The label of a concept is the
    last part of its path with spaces for underscores; `titles` (columns path, title) give a second where they differ.
    """
    given = _clean(pl.Series("path", paths, dtype=pl.String))
    if given.is_empty():
        raise TaxonomyError("The taxonomy is empty: it needs at least one path.")
    roots = given.str.splitn("/", 2).struct.field("field_0").unique()
    root = "Top" if len(roots.filter(roots != "")) != 1 else str(roots.filter(roots != "")[0])
    given = _under(given, root)
    nodes = _with_ancestors(given.unique()).to_frame("path").with_columns(above=pl.col("path").str.replace(_ABOVE, ""))
    # '/' sorts before all that a part may hold: that is depth-first order
    nodes = nodes.sort(pl.col("path").str.replace_all("/", "\0", literal=True)).with_row_index("node")
    numbers = nodes.select("path", "node")
    parent = nodes.join(numbers, left_on="above", right_on="path", how="left", maintain_order="left")["node_right"]
    up = parent.to_numpy().astype(np.int32)
    up[0] = -1
    concept = given.to_frame("path").join(numbers, on="path", how="left", maintain_order="left")["node"]
    names = nodes["path"].str.extract(r"([^/]*)$").str.replace_all("_", " ", literal=True)
    labels: list[tuple[str, ...]] = list(zip(names.to_list(), strict=True))
    if titles is not None:
        called = titles.with_columns(_under(_clean(titles["path"]), root)).join(numbers, on="path")
        called = called.with_columns(pl.col("title").str.replace_all("_", " ", literal=True))
        called = called.filter(pl.col("title") != names.gather(called["node"]), pl.col("title") != "")
        for node, title in called.unique("node", keep="first", maintain_order=True).select("node", "title").iter_rows():
            labels[node] = (*labels[node], title)
    return Taxonomy.from_depth_first(up, labels, name=name, keys=nodes["path"]), concept.to_numpy().astype(np.int32)


def concepts_of_paths(paths: Sequence[str], taxonomy: Taxonomy) -> Int32s:
    """Find paths in a taxonomy: int32[len(paths)], the deepest concept of the path that exists; -1 where none does."""
    found = np.full(len(paths), -1, dtype=np.int32)
    for i, path in enumerate(_clean(pl.Series(paths, dtype=pl.String)).to_list()):
        above = path.replace("_", " ")
        while above and above not in taxonomy.concept_of_path:
            above = above.rpartition("/")[0]
        found[i] = taxonomy.concept_of_path.get(above, -1)
    return found


def _clean(paths: pl.Series) -> pl.Series:
    """Take out NUL, which the order of the tree needs, spaces around parts, and empty parts."""
    clean = paths.str.replace_all("\0", "", literal=True).str.replace_all(r"\s*/[\s/]*", "/")
    return clean.str.strip_chars().str.strip_chars("/")


def _under(paths: pl.Series, root: str) -> pl.Series:
    """Put paths that have another root, or none, under the root."""
    column = pl.col("path")
    below = (column == root) | column.str.starts_with(f"{root}/")
    moved = pl.when(below).then(column).when(column == "").then(pl.lit(root)).otherwise(f"{root}/" + column)
    return paths.to_frame("path").select(moved.alias("path")).to_series()


def _with_ancestors(paths: pl.Series) -> pl.Series:
    """Add the paths above, level by level."""
    levels = [paths]
    while len(levels[-1]):
        if len(levels) > _MAX_LEVELS:
            raise TaxonomyError(f"The taxonomy has a path of more than {_MAX_LEVELS} levels: is it a table of paths?")
        deeper = levels[-1].filter(levels[-1].str.contains("/", literal=True))
        levels.append(deeper.str.replace(_ABOVE, "").unique())
    return pl.concat(levels).unique()
