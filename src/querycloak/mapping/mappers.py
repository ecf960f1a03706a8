"""The mappers of this process: one per taxonomy and way of reading queries."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from querycloak.mapping.modes import check_mapping

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.mapper import Mapper

__all__ = ["mapper_of"]


@lru_cache(maxsize=4)
def mapper_of(taxonomy: Taxonomy, mapping: str | None = None) -> Mapper:
    """Return the mapper of a taxonomy; it remembers the queries that it has mapped."""
    from querycloak.mapping.mapper import Mapper

    return Mapper(taxonomy, check_mapping(mapping))
