"""Walks over the commands of the program: for its reference, its config file, and the tests of what all must have."""

from __future__ import annotations

from typing import Any

__all__ = ["all_commands"]


def all_commands(group: Any, above: str = "") -> dict[str, Any]:
    """Return the commands of a group by their words, those of a group inside as `group command`."""
    found: dict[str, Any] = {}
    for name, command in sorted(group.commands.items()):
        found |= all_commands(command, f"{name} ") if hasattr(command, "commands") else {above + name: command}
    return found
