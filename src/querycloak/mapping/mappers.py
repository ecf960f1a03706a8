"""The mappers of this process: one per taxonomy and way of reading queries."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from querycloak.mapping.modes import check_mapping

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.mapper import Mapper

__all__ = ["mapper_of"]


def mapper_of(taxonomy: Taxonomy, mapping: str | None = None) -> Mapper:
    """Return the mapper of a taxonomy; it remembers the queries that it has mapped."""
    from querycloak.mapping.modes import stated_mapping

    name = check_mapping(mapping)
    return _mapper(taxonomy, name, stated_mapping(name))


@lru_cache(maxsize=4)
def _mapper(taxonomy: Taxonomy, mapping: str, _stated: str) -> Mapper:
    """Make a mapper once; `_stated` has the digest of vectors of one's own, so that a file that changed is another."""
    from querycloak.mapping import Mapper

    return Mapper(taxonomy, mapping)
