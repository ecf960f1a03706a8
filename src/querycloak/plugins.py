"""Methods, attacks, measures, knowledge and formats of other packages, found through their entry points.

A package joins by naming an entry in its `pyproject.toml`:

.. code-block:: toml

    [project.entry-points."querycloak.methods"]
    popular-queries = "querycloak_example.catalog:POPULAR_QUERIES"

Entry points are looked for when a name is asked for that is not built in, or when everything is listed. A package that
cannot be used is left out with a `PluginWarning` that names it; everything else works. Asking for its entry by name
raises a `PluginError` with the reason.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from querycloak.errors import PluginError, PluginWarning, UnknownNameError
from querycloak.names import match_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUPS", "Catalog", "forget_plugins"]

GROUPS: Final = {
    "method": "querycloak.methods",
    "attack": "querycloak.attacks",
    "measure": "querycloak.measures",
    "taxonomy": "querycloak.knowledge",
    "format": "querycloak.formats",
}
"""What an entry is → the group of entry points that it joins through."""


class Entry(Protocol):
    """What every entry of a catalog has; entries are frozen dataclasses."""

    @property
    def name(self) -> str:
        """The name it is asked for by."""

    @property
    def package(self) -> str:
        """The package it comes from, with its version; empty = QueryCloak itself."""


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True)
class _Found(Generic[E]):
    """What the entry points of one group gave."""

    entries: dict[str, E]
    refused: dict[str, str]
    """name → why it cannot be used, as a sentence"""


class Catalog(Mapping[str, E], Generic[E]):
    """Entries by name: those built in, then those of other packages.

    Looking up a built-in name never looks for other packages.
    """

    def __init__(
        self, what: str, kind: type[E], built_in: tuple[E, ...], *, reserved: frozenset[str] = frozenset()
    ) -> None:
        self.what = what
        """what an entry is, for messages: `method`"""
        self.kind = kind
        self.reserved = reserved
        """further names that are taken"""
        self.built_in: Final = {entry.name: entry for entry in built_in}

    def __getitem__(self, name: str) -> E:
        if name in self.built_in:
            return self.built_in[name]
        return self._joined().entries[name]

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self._joined().entries

    def __len__(self) -> int:
        return len(self.built_in) + len(self._joined().entries)

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._joined().entries

    def __or__(self, other: Mapping[str, E]) -> dict[str, E]:
        return {**self, **other}

    def find(self, name: str) -> E:
        """Return an entry; an unknown name is refused with the nearest one, a broken plugin with the reason.

        Built-in names are looked at first, so that finding one never looks for other packages.
        """
        meant = match_name(name, self.built_in) or match_name(name, self)
        if meant is not None:
            return self[meant]
        refused = self._joined().refused
        if name in refused:
            raise PluginError(refused[name])
        raise UnknownNameError.of(self.what, name, self)

    @property
    def plugins(self) -> dict[str, E]:
        """The entries of other packages."""
        return self._joined().entries

    def _joined(self) -> _Found[E]:
        return _join(self)

    # A catalog is one of a kind: `_join` remembers what it found by identity.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@cache
def _join(catalog: Catalog[Any]) -> _Found[Any]:
    """Load the entry points of a catalog's group; every one that cannot be used gives one warning."""
    found: _Found[Any] = _Found({}, {})
    for point in _entry_points(GROUPS[catalog.what]):
        package = _package(point)
        try:
            entry = _load(catalog, point, package, found.entries)
        except PluginError as error:
            found.refused.setdefault(point.name, str(error))
            warnings.warn(str(error), PluginWarning, stacklevel=2)
        else:
            found.entries[entry.name] = entry
    return found


def _load(catalog: Catalog[Any], point: EntryPoint, package: str, others: Mapping[str, Any]) -> Any:
    """Load one entry point, and refuse what is not an entry, or has a name that is taken."""
    what = f"{package}: its {catalog.what} {point.name!r}"
    if point.name in catalog.built_in or point.name in catalog.reserved:
        raise PluginError(f"{what} is left out: QueryCloak has one of that name.")
    if point.name in others:
        raise PluginError(f"{what} is left out: {others[point.name].package} has one of that name.")
    try:
        entry = point.load()
    except Exception as error:  # whatever another package does when it is imported
        raise PluginError(f"{what} cannot be loaded ({type(error).__name__}: {error}).") from error
    if not isinstance(entry, catalog.kind):
        expected = f"a querycloak.{catalog.kind.__name__}"
        raise PluginError(f"{what} cannot be used: expected {expected}, found {type(entry).__name__}.")
    if entry.name != point.name:
        raise PluginError(f"{what} cannot be used: it calls itself {entry.name!r}; use one name.")
    return replace(entry, package=package)


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, by package and name, so that the order of installing does not matter."""
    if not _any_installed():
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda point: (_package(point), point.name))


@lru_cache(maxsize=1)
def _any_installed() -> bool:
    """Look whether any installed package may have entry points for us.

    Importing `importlib.metadata` takes 30 ms, this takes 3 ms: it looks into the `entry_points.txt` files for our
    name. Packages inside a zip file, or found by another finder, cannot be seen this way: then the answer is yes.
    """
    if any(hasattr(finder, "find_distributions") and finder.__module__ != _PATH_FINDER for finder in _finders()):
        return True
    for folder in dict.fromkeys(sys.path):
        if os.path.isfile(folder):  # noqa: PTH113 - pathlib would double the time
            return True
        try:
            with os.scandir(folder or ".") as inside:
                if any(_joins(item.path) for item in inside if item.name.endswith((".dist-info", ".egg-info"))):
                    return True
        except OSError:
            continue
    return False


_PATH_FINDER: Final = "_frozen_importlib_external"


def _finders() -> list[Any]:
    return [finder for finder in sys.meta_path if hasattr(finder, "__module__")]


def _joins(folder: str) -> bool:
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123
            return b"[querycloak." in file.read()
    except OSError:
        return False


def forget_plugins() -> None:
    """Look for plugins again at the next question: after a package was installed into the running process."""
    _join.cache_clear()
    _any_installed.cache_clear()
