"""The options of commands that run for long and are watched: `--metrics`, `--log`, `--log-format`.

A command asks for them by a keyword-only parameter `watch: Watch`; `@is_watched` adds them to it.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from querycloak.cli import completion
from querycloak.cli.log_options import with_options
from querycloak.cli.say import say
from querycloak.errors import OutputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from querycloak.live.shards import Shard
    from querycloak.live.watch.door import DoorAddress, Shown
    from querycloak.live.watch.event_log import EventLog, LogFormat
    from querycloak.progress import Progress

__all__ = ["LOG_FORMATS", "MetricsOption", "Watch", "is_watched", "kept_events", "shown_door"]

LOG_FORMATS: Final = ("json", "text")
LAST_PORT: Final = 65535
MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Answer `/metrics` (Prometheus) and `/health` at this PORT of 127.0.0.1, or at HOST:PORT, while it runs.",
        metavar="PORT|HOST:PORT",
        show_default=False,
    ),
]

OPTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "metrics": (MetricsOption, None),
    "log": (
        Annotated[
            Path | None,
            typer.Option(
                "--log",
                help="Append what happens to this file, one line per event: figures, never a record.",
                show_default=False,
            ),
        ],
        None,
    ),
    "log_format": (
        Annotated[
            str | None,
            typer.Option(
                "--log-format",
                help="How events are written: `json` or `text`. Without --log they replace the notes on standard "
                "error. Default: json in a file, notes for people on standard error.",
                autocompletion=completion.choices(LOG_FORMATS),
                show_default=False,
            ),
        ],
        None,
    ),
}
"""name → its option, and the default"""


@dataclass(frozen=True)
class Watch:
    """How a run is watched."""

    door: DoorAddress | None = None
    log: Path | None = None
    form: LogFormat | None = None

    @property
    def instead_of_notes(self) -> bool:
        """Events go to standard error, and nothing else does."""
        return self.form is not None and self.log is None

    def of_shard(self, shard: Shard) -> Watch:
        """Return how one of several shards is watched: each at a port of its own, PORT + i, and with its own log."""
        door = self.door
        if door is not None and door.port:
            if door.port + shard.index > LAST_PORT:
                raise ParameterError.of(
                    "--metrics", f"a port below {LAST_PORT - shard.index:,} for this shard", door.port
                )
            door = replace(door, port=door.port + shard.index)
        return replace(self, door=door, log=None if self.log is None else shard.path(self.log))

    def check_shards(self, count: int) -> None:
        """Refuse ports at which one of so many shards cannot listen, before any of them begins."""
        from querycloak.live.shards import Shard
        from querycloak.live.watch.door import check_door

        for index in range(count):
            door = self.of_shard(Shard(index, count)).door
            if door is not None:
                check_door(door)


def is_watched(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameter `watch` of a command by the options on the command line that make it."""
    return with_options(command, "watch", OPTIONS, chosen_watch)


def chosen_watch(metrics: str | None, log: Path | None, log_format: str | None) -> Watch:
    """Return how the run is watched; what cannot be is refused before any work is done."""
    if log_format not in {None, *LOG_FORMATS}:
        raise ParameterError.of("--log-format", " or ".join(LOG_FORMATS), log_format)
    form = log_format if log_format is not None or log is None else "json"
    door = None
    if metrics is not None:
        from querycloak.live.watch.door import read_door_address

        door = read_door_address(metrics)
    return Watch(door, log, cast("LogFormat | None", form))


@contextmanager
def shown_door(address: DoorAddress | None, shown: Shown, progress: Progress) -> Iterator[None]:
    """Answer `/metrics` and `/health` meanwhile, and say where."""
    from querycloak.live.watch.door import opened_door

    with opened_door(address, shown) as door:
        if door is not None:
            progress.note(f"metrics at http://{door.address}/metrics, health at http://{door.address}/health")
            if not door.address.is_loopback:
                progress.note(f"{door.address} can be reached from outside: whoever does reads these figures.")
        yield


@contextmanager
def kept_events(watch: Watch, shard: Shard | None = None) -> Iterator[EventLog | None]:
    """Open the log of events, which names the shard whose it is; None = there is none."""
    if watch.form is None:
        yield None
        return
    from querycloak.live.watch.event_log import EventLog

    who = None if shard is None else str(shard)
    with ExitStack() as stack:
        if watch.log is None:
            yield EventLog(lambda line: say(line, err=True), watch.form, shard=who)
            return
        try:
            # Without a buffer: after a crash the last event is there.
            file = stack.enter_context(open(watch.log, "ab", buffering=0, opener=_private))
        except OSError as error:
            raise OutputError(f"{watch.log}: cannot be written ({error.strerror}).") from None
        yield EventLog(lambda line: file.write(line.encode() + b"\n"), watch.form, shard=who)


def _private(path: str, flags: int) -> int:
    """Open a file that others may not read, if it is new."""
    return os.open(path, flags, 0o640)
