"""Progress of long work, as an argument: a method reports it, and the caller shows it."""

from __future__ import annotations

from typing import Protocol

__all__ = ["QUIET", "Progress"]


class Progress(Protocol):
    """What long work reports while it runs."""

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step of `total` units (None = unknown)."""

    def advance(self, units: int = 1) -> None:
        """Report that so many more units are done."""

    def note(self, text: str) -> None:
        """Report one thing that the user should know. Never a query, never a user id."""


class _Quiet:
    """Shows nothing."""

    def start(self, step: str, total: int | None = None) -> None:
        pass

    def advance(self, units: int = 1) -> None:
        pass

    def note(self, text: str) -> None:
        pass


QUIET: Progress = _Quiet()
"""The progress that shows nothing, the default of every function."""
