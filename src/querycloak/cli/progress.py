"""Progress on a terminal, quiet in a pipe. All of it goes to standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from querycloak.cli.say import say
from querycloak.visible import visible

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ShownProgress"]


class ShownProgress:
    """Shows steps as bars on a terminal; notes are shown always, unless `quiet`.

    Rich is imported only for a terminal: in a pipe, which draws no bars, that would be a tenth of a short run.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bars: Any = None
        self._task: Any = None
        if sys.stderr.isatty() and not quiet:
            self._bars = _bars()
            self._task = self._bars.add_task("", total=None, visible=False)

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        from querycloak.arrays.jit import tell_compiling

        tell_compiling(None)  # what compiles after this command is not its business
        if self._bars is not None:
            self._bars.stop()

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""
        if self._task is not None:
            self._bars.reset(self._task, description=visible(step), total=total, visible=True)

    def advance(self, units: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._bars.advance(self._task, units)

    def note(self, text: str) -> None:
        """Print one line, however long."""
        if self._quiet:
            return
        if self._bars is None:
            say(text, err=True)
        else:
            self._bars.console.print(visible(text), style="dim", highlight=False, markup=False, soft_wrap=True)

    def tell_compiling(self) -> None:
        """Say so when kernels are compiled on the first run."""
        from querycloak.arrays.jit import tell_compiling

        tell_compiling(lambda: self.note("compiling kernels (on the first run only, some seconds) …"))


def _bars() -> Any:
    """Return the bars of a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
