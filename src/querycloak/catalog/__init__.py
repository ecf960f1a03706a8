"""What there is, by name: methods, attacks and measures. Nothing heavy is loaded until one is used.

To add a method: write `methods/<family>/<name>.py` with a settings class and a function
`function(log, settings, random, progress, **needs) -> Release`, add one entry to `catalog/methods.py`, and a card in
`docs/methods/`. The contract suite (`tests/contract/`) then checks it like all others. Other packages add entries
through entry points (`querycloak.plugins`, docs/plugins.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak.catalog.attacks import ATTACKS
from querycloak.catalog.entries import Check, Method, Need
from querycloak.catalog.measures import MEASURES
from querycloak.catalog.methods import METHODS, STREAM_METHODS, method

if TYPE_CHECKING:
    from querycloak.settings import Settings

__all__ = ["ATTACKS", "MEASURES", "METHODS", "STREAM_METHODS", "Check", "Method", "Need", "describe_settings", "method"]


def describe_settings(settings: type[Settings]) -> list[dict[str, Any]]:
    """Return name, type, default and help of each setting, for command lines and docs."""
    from dataclasses import fields

    from querycloak.settings import setting_type

    return [
        {"name": f.name, "type": setting_type(settings, f.name), "default": f.default, **f.metadata}
        for f in fields(settings)
    ]
