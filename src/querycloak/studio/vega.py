"""Vega for the frontier, from the copy inside `vl-convert`: nothing is fetched, and nothing of it is in our package.

To put it together takes about two seconds, during which Python does nothing else. So a child process does it, once for
each version, and leaves a file in the work folder. A page that asks for it before that gets an empty script at once
and asks again.
"""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version
from pathlib import Path

__all__ = ["VegaFile", "write_bundle"]

SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""What the page uses; it brings Vega and Vega-Lite with it."""


def write_bundle(path: Path) -> None:
    """Write Vega, Vega-Lite and vega-embed as one script."""
    import vl_convert

    from querycloak.logs.atomic import write_text

    write_text(path, vl_convert.javascript_bundle(SNIPPET))


class VegaFile:
    """The script, which may still be in the making."""

    def __init__(self, work: Path) -> None:
        self._path = work / f"vega-{version('vl-convert-python')}.js"
        self._making: asyncio.Task[None] | None = None
        self._child: asyncio.subprocess.Process | None = None

    def start(self) -> None:
        """Begin to make it, if it is not there."""
        if self._making is None and not self._path.exists():
            self._making = asyncio.create_task(self._make())

    def path(self) -> Path | None:
        """Return where it is; None while it is being made, which begins again where it failed."""
        if self._path.exists():
            return self._path
        if self._making is not None and self._making.done():
            self._making = None
        self.start()
        return None

    async def stop(self) -> None:
        """End the child that makes it, if it is still at work."""
        if self._child is not None and self._child.returncode is None:
            self._child.kill()
            await self._child.wait()

    async def _make(self) -> None:
        self._child = await asyncio.create_subprocess_exec(sys.executable, "-m", __name__, str(self._path))
        await self._child.wait()


if __name__ == "__main__":
    write_bundle(Path(sys.argv[1]))
