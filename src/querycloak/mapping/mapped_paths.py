"""Paths for queries without a category, by the mapping; recent queries are remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.mapping.row_paths import concept_path, first_concept

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.mapping import Mapper

__all__ = ["LazyPaths", "MappedPaths"]

REMEMBERED: Final = 200_000
"""Queries kept at most; then the older half is forgotten."""


class MappedPaths:
    """Finds the path of a query in a taxonomy; a query that is remembered is not mapped again."""

    def __init__(self, mapper: Mapper) -> None:
        self._mapper = mapper
        self._known: dict[str, tuple[str, ...]] = {}
        self._path_of: dict[int, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"MappedPaths({self._mapper!r})"

    @property
    def mapping(self) -> str:
        """The mapping that is used."""
        return self._mapper.mapping

    def path(self, query: str) -> tuple[str, ...]:
        """Return the path of the query's first concept, or () where it has none."""
        found = self._known.pop(query, None)
        if found is None:
            concept = first_concept(self._mapper.concepts(query))
            found = self._path_of.get(concept)
            if found is None:
                found = self._path_of[concept] = concept_path(self._mapper.taxonomy, concept)
            if len(self._known) >= REMEMBERED:
                for old in list(self._known)[: REMEMBERED // 2]:
                    del self._known[old]
        self._known[query] = found  # the most recently used come last
        return found


class LazyPaths:
    """Like `MappedPaths`; the mapper is made when the first query asks for it."""

    def __init__(self, make: Callable[[], Mapper]) -> None:
        self._make = make
        self._made: MappedPaths | None = None

    @property
    def mapping(self) -> str:
        """The mapping that is used."""
        return self._paths().mapping

    def path(self, query: str) -> tuple[str, ...]:
        """Return the path of the query's first concept, or () where it has none."""
        return self._paths().path(query)

    def _paths(self) -> MappedPaths:
        if self._made is None:
            self._made = MappedPaths(self._make())
        return self._made
