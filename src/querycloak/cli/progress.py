"""Progress on a terminal, quiet in a pipe. All of it goes to standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ShownProgress"]


class ShownProgress:
    """Shows steps as bars on a terminal; notes are shown always, unless `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True)
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=quiet or not sys.stderr.isatty(),
            transient=True,
        )
        self._task = None if self._bars.disable else self._bars.add_task("", total=None, visible=False)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""
        if self._task is not None:
            self._bars.reset(self._task, description=step, total=total, visible=True)

    def advance(self, units: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._bars.advance(self._task, units)

    def note(self, text: str) -> None:
        """Print one line, however long."""
        if not self._quiet:
            self._console.print(text, style="dim", highlight=False, markup=False, soft_wrap=True)

    def tell_compiling(self) -> None:
        """Say so when kernels are compiled on the first run."""
        from querycloak.arrays.jit import tell_compiling

        tell_compiling(lambda: self.note("compiling kernels (on the first run only, some seconds) …"))
