"""What the shell completes: names of methods, attacks, measures, tasks, papers, presets and formats.

A shell asks on every Tab, so nothing heavy is loaded here: a second of waiting is worse than no completion.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
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


def methods(incomplete: str) -> Found:
    """Return the methods of `anonymize`, and the presets of `policy`."""
    from querycloak.catalog import METHODS, STREAM_METHODS

    if incomplete.startswith("policy:"):
        return [(f"policy:{name}", about) for name, about in presets(incomplete)]
    return _named(METHODS | STREAM_METHODS)


def several_methods(incomplete: str) -> Found:
    """Return the methods of `compare`, separated by commas."""
    return _several(incomplete, [("all", "every method"), *methods("")])


def private_methods(incomplete: str) -> Found:  # noqa: ARG001 - the shell's names
    """Return the differentially private methods."""
    from querycloak.catalog import METHODS

    return [(name, m.summary) for name, m in METHODS.items() if "differential privacy" in m.guarantee]


def stream_methods(incomplete: str) -> Found:  # noqa: ARG001
    """Return the methods of `stream`."""
    from querycloak.catalog import STREAM_METHODS

    return _named(STREAM_METHODS)


def attacks(incomplete: str) -> Found:
    """Return the attacks, separated by commas."""
    from querycloak.catalog import ATTACKS

    return _several(incomplete, _named(ATTACKS))


def measures(incomplete: str) -> Found:
    """Return the measures, separated by commas."""
    from querycloak.catalog import MEASURES

    return _several(incomplete, _named(MEASURES))


def tasks(incomplete: str) -> Found:
    """Return the tasks, separated by commas."""
    from querycloak.tasks.task import TASKS

    return _several(incomplete, [(name, "") for name in TASKS])


def papers(incomplete: str) -> Found:  # noqa: ARG001
    """Return the papers."""
    from querycloak.evaluation.reproduce.papers import PAPERS

    return [(name, "") for name in PAPERS]


def presets(incomplete: str) -> Found:  # noqa: ARG001
    """Return the presets of rules."""
    from querycloak.methods.policy.presets_list import PRESETS

    return [(name, "") for name in PRESETS]


def formats(incomplete: str) -> Found:  # noqa: ARG001
    """Return the formats of logs."""
    from querycloak.logs.read_options import FORMATS

    return [(name, "") for name in FORMATS]


def taxonomies(incomplete: str) -> Found:  # noqa: ARG001
    """Return the taxonomies that have a name; a file is completed by the shell."""
    return [("wordnet", "82,115 nouns"), ("topics", "327 topics of web search")]


def mappings(incomplete: str) -> Found:  # noqa: ARG001
    """Return the ways of reading queries."""
    return [(name, "") for name in ("layers", "certain", "segments", "phrases")]


def choices(names: Iterable[str]) -> Callable[[str], Found]:
    """Return what completes one of a few words."""
    found = [(name, "") for name in names]

    def complete(incomplete: str) -> Found:  # noqa: ARG001
        return found

    return complete


def _named(catalog: Mapping[str, Any]) -> Found:
    return [(name, entry.summary) for name, entry in catalog.items()]


def _several(incomplete: str, names: Found) -> Found:
    """Complete the last of several names; those before it stay, and are not named twice."""
    before, comma, _ = incomplete.rpartition(",")
    taken = {name.strip() for name in before.split(",")}
    return [(f"{before}{comma}{name}", about) for name, about in names if name not in taken]
