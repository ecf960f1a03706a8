"""Directories of sites: which category of a taxonomy a site belongs to.

>>> from querycloak.knowledge.directory import SiteDirectory
>>> directory = SiteDirectory.of(["http://www.kings.com/", "kings.com/chess"], ["Top/Arts", "Top/Games/Chess"])
>>> directory
SiteDirectory(2 sites, 4 categories)
>>> directory.sites.rows()
[('kings.com', 1), ('kings.com/chess', 3)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from querycloak.errors import InputError
from querycloak.knowledge.addresses import split_addresses
from querycloak.knowledge.paths import concepts_of_paths, tree_of_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Int32s, Taxonomy

__all__ = ["SiteDirectory"]


@dataclass(frozen=True, eq=False, repr=False)
class SiteDirectory:
    """Sites with one category each, and how many sites a category has."""

    taxonomy: Taxonomy
    """the tree of categories"""
    sites: pl.DataFrame
    """site (distinct: host, or host and path) and category (int32, a concept of `taxonomy`)"""
    site_count: Int32s
    """int32[len(taxonomy)], sites listed in each category itself; a site listed in several counts in each"""

    def __len__(self) -> int:
        return len(self.sites)

    def __repr__(self) -> str:
        return f"SiteDirectory({len(self):,} sites, {len(self.taxonomy):,} categories)"

    @classmethod
    def of(
        cls, addresses: Sequence[str] | pl.Series, paths: Sequence[str] | pl.Series, taxonomy: Taxonomy | None = None
    ) -> SiteDirectory:
        """Build a directory from addresses and the category path of each.

        Without a taxonomy, the categories make their own. With one, a category that it lacks becomes the deepest one
        above it that there is, and a site with none is left out. Of several categories of a site the one with the
        fewest ancestors is taken, then the one with the most sites, then the first in the taxonomy. Papers
        leave this open; the rule is that of ambiguous labels.
        """
        listed = pl.DataFrame(
            {"address": pl.Series(addresses, dtype=pl.String), "path": pl.Series(paths, dtype=pl.String)}
        )
        distinct = listed["path"].unique(maintain_order=True)
        if taxonomy is None:
            taxonomy, concept = tree_of_paths(distinct.to_list(), name="directory")
        else:
            concept = concepts_of_paths(distinct.to_list(), taxonomy)
        categories = pl.DataFrame({"path": distinct, "category": pl.Series(concept, dtype=pl.Int32)})
        parts = split_addresses(listed["address"])
        pairs = (
            listed.select("path", site=parts["host"] + parts["path"])
            .filter(pl.col("site") != "")
            .join(categories, on="path", maintain_order="left")
            .filter(pl.col("category") >= 0)
            .select("site", "category")
            .unique(maintain_order=True)
        )
        if pairs.is_empty():
            raise InputError(
                "The directory has no site with a category of the taxonomy: are its paths those of another?"
            )
        count = np.bincount(pairs["category"].to_numpy(), minlength=len(taxonomy)).astype(np.int32)
        # Categories in order of preference: sorting pairs by one small number is much faster than by three columns.
        preference = np.empty(len(taxonomy), dtype=np.int32)
        preference[np.lexsort((-count, taxonomy.depth))] = np.arange(len(taxonomy), dtype=np.int32)
        order = np.argsort(preference[pairs["category"].to_numpy()], kind="stable")
        sites = pairs[order].unique("site", keep="first", maintain_order=True)
        return cls(taxonomy, sites, count)
