"""What a run tells whoever watches it, and one watcher that does nothing.

All calls are cheap and none may fail the run. `taken` comes from the thread that reads, all others from the run's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.live.watch.figures import Figures

__all__ = ["NOBODY", "Told", "Watcher", "Watchers"]

Told = str | int | float | bool | dict[str, int] | None
"""What an event may carry: figures and fixed words; never a text of a record, a user id, an address or a password."""


class Watcher(Protocol):
    """What is told while a stream runs."""

    watches: bool
    """False = figures need not be made"""

    def event(self, name: str, **told: Told) -> None:
        """Hear what happened: started, resumed, stopped, finished, failed."""

    def taken(self, size: int, pending: int | None = None) -> None:
        """Hear that `size` bytes were taken in; `pending` messages wait at the source, where it knows."""

    def batch(self, figures: Figures) -> None:
        """Hear the figures after a batch was let in, and what left by it was handed to the sink."""

    def saved(self, size: int, seconds: float) -> None:
        """Hear that the state was saved: its bytes, and how long that took."""


class _Nobody:
    """Listens to nothing."""

    watches = False

    def event(self, name: str, **told: Told) -> None:
        pass

    def taken(self, size: int, pending: int | None = None) -> None:
        pass

    def batch(self, figures: Figures) -> None:
        pass

    def saved(self, size: int, seconds: float) -> None:
        pass


NOBODY: Final[Watcher] = _Nobody()
"""The watcher that does nothing, the default of every run."""


class Watchers:
    """Tells several watchers the same."""

    watches = True

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def event(self, name: str, **told: Told) -> None:
        """Pass an event on."""
        for watcher in self._watchers:
            watcher.event(name, **told)

    def taken(self, size: int, pending: int | None = None) -> None:
        """Pass on that input was taken in."""
        for watcher in self._watchers:
            watcher.taken(size, pending)

    def batch(self, figures: Figures) -> None:
        """Pass on the figures after a batch."""
        for watcher in self._watchers:
            watcher.batch(figures)

    def saved(self, size: int, seconds: float) -> None:
        """Pass on that the state was saved."""
        for watcher in self._watchers:
            watcher.saved(size, seconds)
