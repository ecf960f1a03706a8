"""Events of a run, one line each: JSON for machines, or text. Figures and fixed words alone, never a record.

{"time": "2026-01-31T12:00:00.000Z", "event": "saved", "state_bytes": 1048576, "seconds": 0.012}
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.live.watch.figures import Figures
    from querycloak.live.watch.watcher import Told

__all__ = ["EventLog", "LogFormat"]

LogFormat = Literal["json", "text"]
SKIPPED_SECONDS: Final = 10.0
"""Lines that are skipped are told once in so many seconds."""


class EventLog:
    """Writes events as lines."""

    watches = True

    def __init__(
        self,
        write: Callable[[str], object],
        form: LogFormat = "json",
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        shard: str | None = None,
    ) -> None:
        """`write` takes one line without its end; what goes wrong there is not the run's business.

        `shard`: which one speaks, where several write to the same place.
        """
        self._who: dict[str, Told] = {} if shard is None else {"shard": shard}
        self._write, self._form, self._clock, self._now = write, form, clock, now
        self._skipped: dict[str, int] = {}
        self._skipped_at = float("-inf")
        self._figures: Figures | None = None

    def event(self, name: str, **told: Told) -> None:
        """Write an event; the last one of a run carries its figures."""
        if name in {"stopped", "finished", "failed"}:
            self._tell_skipped(at_once=True)
            told = {**self._flow(), **told}
        self._line(name, told)

    def taken(self, size: int, pending: int | None = None) -> None:
        """Write nothing: input comes all the time."""

    def batch(self, figures: Figures) -> None:
        """Write where lines were skipped."""
        self._figures = figures
        self._tell_skipped(at_once=False)

    def saved(self, size: int, seconds: float) -> None:
        """Write that the state was saved."""
        self._line("saved", {"state_bytes": size, "seconds": round(seconds, 3), **self._flow()})

    def _flow(self) -> dict[str, Told]:
        f = self._figures
        if f is None:
            return {}
        return {
            "records_in": f.records_in,
            "records_out": f.records_out,
            "records_waiting": f.records_waiting,
            "records_in_epoch": f.records_in_epoch,
            "records_dropped": sum(f.records_dropped.values()),
            "lines_skipped": sum(f.lines_skipped.values()),
        }

    def _tell_skipped(self, *, at_once: bool) -> None:
        """Write how many lines were skipped, where there are more than were told."""
        skipped = {} if self._figures is None else self._figures.lines_skipped
        due = at_once or self._clock() - self._skipped_at >= SKIPPED_SECONDS
        if due and skipped and skipped != self._skipped:
            self._skipped, self._skipped_at = dict(skipped), self._clock()
            self._line("skipped", {"lines": sum(skipped.values()), "by_reason": dict(skipped)})

    def _line(self, name: str, told: dict[str, Told]) -> None:
        told = {**self._who, **told}
        when = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._form == "json":
            line = json.dumps({"time": when, "event": name, **told})
        else:
            line = " ".join([when, name, *(f"{key}={_word(value)}" for key, value in told.items())])
        with suppress(OSError):  # a full disk or a closed terminal ends the log, not the run
            self._write(line)


def _word(value: Told) -> str:
    """Return a value as one word."""
    return value if isinstance(value, str) and value.isalnum() else json.dumps(value)
