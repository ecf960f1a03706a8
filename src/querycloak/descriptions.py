"""What a method promises and which settings it takes, as text and as values."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Any

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings
from querycloak.catalog import method as find_method

if TYPE_CHECKING:
    from querycloak.catalog import Method

__all__ = ["MethodDescription", "SettingDescription", "describe_method", "list_methods"]

KNOWLEDGE = ("taxonomy", "directory", "resolver")
"""What a user can give to a method next to the log."""


@dataclass(frozen=True)
class SettingDescription:
    """One setting of a method."""

    name: str
    type: type
    default: Any
    """`dataclasses.MISSING` = it must be given"""
    help: str
    shown: str = ""
    """the default in words, where it follows from other settings"""

    def __str__(self) -> str:
        default = "" if self.default is MISSING else f" = {self.shown or repr(self.default)}"
        return f"{self.name}: {self.type.__name__}{default}\n    {self.help}"


@dataclass(frozen=True)
class MethodDescription:
    """A method with its guarantee and its settings; `print` shows it as a page."""

    name: str
    summary: str
    guarantee: str
    takes: tuple[str, ...]
    """arguments of `anonymize` that it uses: taxonomy, directory, resolver"""
    settings_class: str
    settings: tuple[SettingDescription, ...]
    package: str
    """the package it comes from; empty = QueryCloak itself"""

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.summary}", f"guarantee: {self.guarantee}"]
        if self.takes:
            lines.append(f"also takes: {', '.join(self.takes)}")
        if self.package:
            lines.append(f"from: {self.package}")
        return "\n".join([*lines, *map(str, self.settings)])


def list_methods() -> dict[str, MethodDescription]:
    """Return every method by name, those of installed packages too.

    >>> list_methods()["clump"].guarantee
    "k-anonymity of users' generalized transactions"
    """
    return {name: _describe(entry) for name, entry in (METHODS | STREAM_METHODS).items()}


def describe_method(name: str) -> MethodDescription:
    """Return what a method promises and its settings.

    >>> print(describe_method("fixed-depth").settings[0])
    k: int = 10
        distinct users, other than the asker, among which the new user is drawn
    """
    return _describe(find_method(name))


def _describe(entry: Method) -> MethodDescription:
    settings = [
        SettingDescription(s["name"], s["type"], s["default"], s["help"], s["shown"])
        for s in describe_settings(entry.settings)
    ]
    takes = tuple(need for need in KNOWLEDGE if need in entry.needs or (need == "taxonomy" and "paths" in entry.needs))
    return MethodDescription(
        entry.name, entry.summary, entry.guarantee, takes, entry.settings_name, tuple(settings), entry.package
    )
