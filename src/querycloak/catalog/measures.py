"""Measures by name."""

from __future__ import annotations

from typing import Final

from querycloak.catalog.entries import ALL as _ALL
from querycloak.catalog.entries import LOGS as _LOGS
from querycloak.catalog.entries import TEXTS as _TEXTS
from querycloak.catalog.entries import Check
from querycloak.catalog.entries import check_entry as _check
from querycloak.plugins import Catalog

__all__ = ["MEASURES"]

MEASURES: Final = Catalog(
    "measure",
    Check,
    (
        _check("measures/kept", "share of query volume and of distinct queries kept; rows per user", _TEXTS),
        _check(
            "measures/information-loss",
            "do users fall into the same clusters as before",
            _LOGS,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/srp",
            "share of queries whose category remains in the user's published log; the same one for one",
            ("log",),
            "concepts",
            "taxonomy",
            "directory",
            "resolver",
            "click_categories",
        ),
        _check(
            "measures/category-emd",
            "how far each user's categories have moved on the tree",
            ("stream",),
            "paths",
            "release_paths",
        ),
        _check("measures/stream-flow", "records that left, delay, bag sizes, users waiting", ("stream",)),
        _check("measures/top-queries", "rank correlation of the most frequent queries", _TEXTS),
        _check(
            "measures/topics",
            "how far the shares of topics have moved",
            _ALL,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/generalization",
            "distortion by generalizing and suppressing concepts; length and level of what is published",
            ("items",),
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/profile-divergence",
            "how far each user's topic profile has moved",
            _LOGS,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/paper-divergence",
            "how far each user's profile over 19 topics has moved, the utility loss of the paper on semantic-dp",
            _LOGS,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/unchanged",
            "share of queries that came out as they went in",
            _LOGS,
            "concepts",
            "release_concepts",
        ),
    ),
)
"""Measures by name: what a release is still good for."""
