"""A run of a stream with those who watch it: the board behind `/metrics` and `/health`, the log of events."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from querycloak.cli.watch_options import kept_events, shown_door
from querycloak.live.watch.watcher import NOBODY, Watchers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.cli.watch_options import Watch
    from querycloak.live.run import Run
    from querycloak.live.watch.watcher import Watcher
    from querycloak.progress import Progress

__all__ = ["watched_run"]


@contextmanager
def watched_run(watch: Watch, run: Run, progress: Progress) -> Iterator[Watcher]:
    """Open what watches a run, and close it after the run; a run that fails is told as an event, by its kind alone."""
    if watch.door is None and watch.form is None:
        yield NOBODY
        return
    from querycloak.live.watch.board import Board

    board = Board(run.method, run.settings.k)
    with kept_events(watch, run.shard) as events, shown_door(watch.door, board, progress):
        watcher = Watchers([board] if events is None else [board, events])
        try:
            yield watcher
        except KeyboardInterrupt:
            watcher.event("stopped", reason="interrupted")
            raise
        except Exception as error:
            watcher.event("failed", kind=type(error).__name__)
            raise
