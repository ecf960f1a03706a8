"""Mapping over several processes: plain programs that talk through pipes.

A worker is a new Python that imports the mapping and nothing else. It neither inherits threads, as a forked process
would, nor runs the caller's script again, as `multiprocessing` does when it spawns. Blocks of queries go out as they
come and return by number, so that the result does not depend on how many workers there are.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import numpy.typing as npt
    import polars as pl

    from querycloak.mapping.lexicon import Lexicon

__all__ = ["Block", "WorkerError", "Workers", "pack_block", "serve", "workers_for"]

Block = tuple["npt.NDArray[np.int64]", "npt.NDArray[np.int32]"]
"""(units per query, concepts of all units)"""

_WORTH_A_PROCESS: Final = 100_000
"""Queries that one worker should have at least: starting one takes about as long as mapping 50,000."""

_SERVE: Final = "from querycloak.mapping.parallel import serve; serve()"


class WorkerError(Exception):
    """A worker did not start or did not answer; the caller continues without workers."""


def workers_for(queries: int, asked: int | None) -> int:
    """Return the number of processes for so many queries: as asked, or as many as pay."""
    if asked is not None:
        return max(1, asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, queries // _WORTH_A_PROCESS))


def pack_block(units: Sequence[tuple[int, ...]]) -> Block:
    """Put the concepts of queries into two arrays."""
    count = np.fromiter(map(len, units), np.int64, len(units))
    concept = np.fromiter(chain.from_iterable(units), np.int32, int(count.sum()))
    return count, concept


class Workers:
    """Processes that map blocks of queries; a context manager."""

    def __init__(self, lexicon: Lexicon, mode: str, count: int) -> None:
        """Start the processes and send the labels to each."""
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._all: list[subprocess.Popen[bytes]] = []
        task = pickle.dumps((lexicon, mode))
        paths = os.pathsep.join(path for path in sys.path if path)
        try:
            for _ in range(count):
                worker = subprocess.Popen(  # noqa: S603 - our own interpreter, no input in the command
                    [sys.executable, "-c", _SERVE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": paths},
                )
                self._all.append(worker)
                self._idle.put(worker)
                assert worker.stdin is not None
                worker.stdin.write(task)
                worker.stdin.flush()
        except (OSError, ValueError) as error:
            self._end()
            raise WorkerError from error

    def map(self, queries: pl.Series, size: int) -> Iterator[Block]:
        """Map blocks of `size` queries, and yield the results in order."""
        with ThreadPoolExecutor(len(self._all)) as threads:
            starts = range(0, len(queries), size)
            yield from threads.map(lambda start: self._ask(queries[start : start + size].to_list()), starts)

    def _ask(self, texts: list[str]) -> Block:
        worker = self._idle.get()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            pickle.dump(texts, worker.stdin)
            worker.stdin.flush()
            found: Block = pickle.load(worker.stdout)  # noqa: S301 - from our own process
        except (OSError, EOFError, pickle.PickleError) as error:
            raise WorkerError from error
        finally:
            self._idle.put(worker)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        """End the workers."""
        for worker in self._all:
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:  # a worker that died: its unwritten input is of no use
                        continue
            worker.kill()
            worker.wait()


def serve() -> None:
    """Run as a worker: read the labels, then map each block of queries until the input ends."""
    from querycloak.mapping.mapper import map_text

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    lexicon, mode = pickle.load(source)  # noqa: S301 - from the process that started this one
    while True:
        try:
            texts = pickle.load(source)  # noqa: S301
        except EOFError:
            return
        pickle.dump(pack_block([map_text(text, lexicon, mode) for text in texts]), sink)
        sink.flush()
