"""The ends of a run, opened: files and pipes here, brokers by their own modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.errors import ParameterError
from querycloak.live.address import Address
from querycloak.live.pipes import FileSink, FileSource

if TYPE_CHECKING:
    from contextlib import ExitStack

    from querycloak.live.address import Place
    from querycloak.live.ends import Sink, Source
    from querycloak.live.run import Run
    from querycloak.progress import Progress

__all__ = ["open_ends", "open_sink", "open_source"]


def open_ends(run: Run, piece: int, progress: Progress, stack: ExitStack) -> tuple[Source, Sink]:
    """Open the source and prepare the sink of a run, which writes nothing before its `begin`."""
    source = open_source(run.source, piece, run.max_wait, [], progress)
    stack.callback(source.close)
    sink = open_sink(run.output, progress)
    stack.callback(sink.close)
    if source.takes(sink.target):
        problem = f"{run.source} reads what is sent there, and the run would read its own output"
        raise ParameterError(f"{run.output}: {problem}: choose another output.")
    return source, sink


def open_source(place: Place, piece: int, max_wait: float, asked: list[int], progress: Progress) -> Source:
    """Open what records come from: about `piece` bytes at once, or what came within `max_wait` seconds."""
    if isinstance(place, Address):
        from querycloak.live.brokers import broker

        return broker(place).source(place, piece, max_wait, asked, progress)
    return FileSource(place, piece, max_wait, asked)


def open_sink(place: Place, progress: Progress) -> Sink:
    """Prepare what lines go to."""
    if isinstance(place, Address):
        from querycloak.live.brokers import broker

        return broker(place).sink(place, progress)
    return FileSink(place)
