"""From the text of a query to the concepts it is about."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from querycloak.mapping.mapper import Mapper, QueryConcepts, map_log
    from querycloak.mapping.trace import Trace

__all__ = ["Mapper", "QueryConcepts", "Trace", "map_log"]

_HOME = {"Mapper": "mapper", "QueryConcepts": "mapper", "map_log": "mapper", "Trace": "trace"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
