"""What the shell completes: names of methods, attacks, measures, tasks, papers, presets and formats.

A shell asks on every Tab, so nothing heavy is loaded here: a second of waiting is worse than no completion.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "COMPLETE",
    "attacks",
    "choices",
    "formats",
    "load_lazily",
    "mappings",
    "measures",
    "methods",
    "papers",
    "presets",
    "private_methods",
    "several_methods",
    "stream_methods",
    "tasks",
    "taxonomies",
]

HEAVY: Final = ("numba", "polars", "scipy")
Found = list[tuple[str, str]]
"""names, each with a line about it"""
Completer = Callable[[str], Found]
COMPLETE: Final = "_QUERYCLOAK_COMPLETE"
"""Set by the shell where it asks for completions."""


def _when_asked(function: Completer) -> Completer | None:
    """Return a function while the shell asks, else nothing: Typer looks at each one at every start, 10 ms in all."""
    return function if COMPLETE in os.environ else None


def load_lazily() -> None:
    """Let heavy packages be imported when something of them is used: settings of methods use nothing of them."""
    for name in HEAVY:
        if name not in sys.modules:
            sys.modules[name] = _Later(name)


class _Later(ModuleType):
    """Holds the place of a package until something of it is asked for.

    `importlib.util.LazyLoader` does not do: Python asks every module that is imported again for its `__spec__`, which
    makes that one load.
    """

    __spec__ = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@_when_asked
def methods(incomplete: str) -> Found:
    """Return the methods of `anonymize`, and the presets of `policy`."""
    from querycloak.catalog import METHODS, STREAM_METHODS

    if incomplete.startswith("policy:"):
        return [(f"policy:{name}", about) for name, about in _presets()]
    return _named(METHODS | STREAM_METHODS)


@_when_asked
def several_methods(incomplete: str) -> Found:
    """Return the methods of `compare`, separated by commas."""
    from querycloak.catalog import METHODS, STREAM_METHODS

    return _several(incomplete, [("all", "every method"), *_named(METHODS | STREAM_METHODS)])


@_when_asked
def private_methods(incomplete: str) -> Found:  # noqa: ARG001 - the shell's names
    """Return the differentially private methods."""
    from querycloak.catalog import METHODS

    return [(name, m.summary) for name, m in METHODS.items() if "differential privacy" in m.guarantee]


@_when_asked
def stream_methods(incomplete: str) -> Found:  # noqa: ARG001
    """Return the methods of `stream`."""
    from querycloak.catalog import STREAM_METHODS

    return _named(STREAM_METHODS)


@_when_asked
def attacks(incomplete: str) -> Found:
    """Return the attacks, separated by commas."""
    from querycloak.catalog import ATTACKS

    return _several(incomplete, _named(ATTACKS))


@_when_asked
def measures(incomplete: str) -> Found:
    """Return the measures, separated by commas."""
    from querycloak.catalog import MEASURES

    return _several(incomplete, _named(MEASURES))


@_when_asked
def tasks(incomplete: str) -> Found:
    """Return the tasks, separated by commas."""
    from querycloak.tasks.task import TASKS

    return _several(incomplete, [(name, "") for name in TASKS])


@_when_asked
def papers(incomplete: str) -> Found:  # noqa: ARG001
    """Return the papers."""
    from querycloak.evaluation.reproduce.papers import PAPERS

    return [(name, "") for name in PAPERS]


@_when_asked
def presets(incomplete: str) -> Found:  # noqa: ARG001
    """Return the presets of rules."""
    return _presets()


@_when_asked
def formats(incomplete: str) -> Found:  # noqa: ARG001
    """Return the formats of logs."""
    from querycloak.logs.read_options import FORMATS

    return [(name, "") for name in FORMATS]


@_when_asked
def taxonomies(incomplete: str) -> Found:  # noqa: ARG001
    """Return the taxonomies that have a name; a file is completed by the shell."""
    return [("wordnet", "82,115 nouns"), ("topics", "327 topics of web search")]


@_when_asked
def mappings(incomplete: str) -> Found:  # noqa: ARG001
    """Return the ways of reading queries."""
    return [(name, "") for name in ("layers", "certain", "segments", "phrases")]


def choices(names: Iterable[str]) -> Completer | None:
    """Return what completes one of a few words."""
    found = [(name, "") for name in names]

    def complete(incomplete: str) -> Found:  # noqa: ARG001
        return found

    return _when_asked(complete)


def _presets() -> Found:
    from querycloak.methods.policy.presets_list import PRESETS

    return [(name, "") for name in PRESETS]


def _named(catalog: Mapping[str, Any]) -> Found:
    return [(name, entry.summary) for name, entry in catalog.items()]


def _several(incomplete: str, names: Found) -> Found:
    """Complete the last of several names; those before it stay, and are not named twice."""
    before, comma, _ = incomplete.rpartition(",")
    taken = {name.strip() for name in before.split(",")}
    return [(f"{before}{comma}{name}", about) for name, about in names if name not in taken]
