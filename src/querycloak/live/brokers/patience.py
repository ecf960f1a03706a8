"""A broker that is away is asked again, after growing pauses, until it is back or patience ends."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final, TypeVar

from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.live.address import Address
    from querycloak.progress import Progress

__all__ = ["AwayError", "Patience", "credentials"]

T = TypeVar("T")

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
PATIENCE: Final = 600.0
"""Seconds after which a run gives up; its state stays, and the same command goes on from there."""
TICK: Final = 0.1


class AwayError(Exception):
    """The broker cannot be reached just now; the message says why, without credentials."""


class Patience:
    """Repeats what failed because the broker was away."""

    def __init__(self, address: Address, progress: Progress) -> None:
        self.asked: list[int] = []
        """holds the number of a signal as soon as the run is to stop"""
        self.reconnects = 0
        """times that the connection was lost"""
        self._address, self._progress = address, progress

    def __call__(self, action: Callable[[], T], repair: Callable[[], None]) -> T:
        """Return what the action returns; where the broker is away, pause, repair the connection, and try again.

        UserError where the broker stays away, or the user asks to stop meanwhile.
        """
        pause, since, broken = FIRST_PAUSE, 0.0, False
        while True:
            try:
                if broken:
                    repair()
                    broken = False
                found = action()
            except AwayError as error:
                self.reconnects += not since
                broken, now = True, time.monotonic()
                since = since or now
                if now - since >= PATIENCE:
                    raise UserError(f"{self._address}: cannot be reached for {PATIENCE:,.0f} s ({error}).") from None
                if pause in {FIRST_PAUSE, LONGEST_PAUSE}:
                    self._progress.note(f"{self._address}: cannot be reached ({error}); trying again.")
                self._sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                if since:
                    self._progress.note(f"{self._address}: is back after {time.monotonic() - since:,.1f} s.")
                return found

    def once(self, action: Callable[[], T]) -> T:
        """Return what the action returns; where the broker is away, say so at once: the address may be wrong."""
        try:
            return action()
        except AwayError as error:
            raise UserError(f"{self._address}: cannot be reached ({error}); is it running, and at this port?") from None

    def _sleep(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(self.asked):  # a signal; a reader that is told that there is no more finds 0
                problem = (
                    "cannot be reached while the run was asked to stop; the same command goes on from its checkpoint"
                )
                raise UserError(f"{self._address}: {problem}.")
            time.sleep(min(TICK, seconds))


def credentials(address: Address) -> tuple[str | None, str | None]:
    """Return user and password: of the address, else of the environment (QUERYCLOAK_NATS_USER, …_PASSWORD)."""
    begin = f"QUERYCLOAK_{address.scheme.upper()}"
    user, password = os.environ.get(f"{begin}_USER"), os.environ.get(f"{begin}_PASSWORD")
    return address.user or user or None, address.password or password or None
