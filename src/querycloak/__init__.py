"""QueryCloak: publish, share or analyse a web-search query log without exposing the people who searched.

The public names are in `querycloak.api` and are loaded when first used, so that importing the package is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak._version import __version__

if TYPE_CHECKING:
    from querycloak.api import (
        QueryLog,
        Release,
        anonymize,
        attack,
        generate,
        load_directory,
        load_resolver,
        load_taxonomy,
        map_log,
        measure,
        read_log,
        read_release,
        read_truth,
        verify,
        write_generated,
        write_log,
        write_release,
        write_truth,
    )

__all__ = [
    "QueryLog",
    "Release",
    "__version__",
    "anonymize",
    "attack",
    "generate",
    "load_directory",
    "load_resolver",
    "load_taxonomy",
    "map_log",
    "measure",
    "read_log",
    "read_release",
    "read_truth",
    "verify",
    "write_generated",
    "write_log",
    "write_release",
    "write_truth",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from querycloak import api

        return getattr(api, name)
    raise AttributeError(f"module 'querycloak' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
