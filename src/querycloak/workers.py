"""Several processes: plain programs that talk through pipes.

A worker is a new Python that imports what it serves and nothing else. It neither inherits threads, as a forked process
would, nor runs the caller's script again, as `multiprocessing` does when it spawns. Tasks go out as workers are free,
and results come back in the order of the tasks, so that the result does not depend on how many workers there are.

What is unpickled here comes from our own processes over pipes, never from a file or a network.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

__all__ = ["WorkerError", "Workers", "cores", "serve"]


class WorkerError(Exception):
    """A worker did not start or did not answer; the caller continues without workers."""


def cores() -> int:
    """Return how many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """Processes that answer tasks; a context manager.

    `served`: `module:function`, a function without arguments that calls `serve`. `setup` is sent to each worker once.
    """

    def __init__(self, served: str, setup: object, count: int) -> None:
        """Start the processes and send the setup to each."""
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._all: list[subprocess.Popen[bytes]] = []
        module, _, function = served.partition(":")
        paths = os.pathsep.join(path for path in sys.path if path)
        sent = pickle.dumps(setup)
        try:
            for _ in range(count):
                worker = subprocess.Popen(  # noqa: S603 - our own interpreter, no input in the command
                    [sys.executable, "-c", f"from {module} import {function}; {function}()"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    # What lies in the current folder is never imported for one of our modules.
                    env={**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
                )
                self._all.append(worker)
                self._idle.put(worker)
                assert worker.stdin is not None
                worker.stdin.write(sent)
                worker.stdin.flush()
        except (OSError, ValueError) as error:
            self._end()
            raise WorkerError from error

    def map(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Answer tasks, and yield the results in order."""
        with ThreadPoolExecutor(len(self._all)) as threads:
            yield from threads.map(self._ask, tasks)

    def _ask(self, task: object) -> Any:
        worker = self._idle.get()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            pickle.dump(task, worker.stdin)
            worker.stdin.flush()
            return pickle.load(worker.stdout)  # noqa: S301 - from our own process
        except (OSError, EOFError, pickle.PickleError) as error:
            raise WorkerError from error
        finally:
            self._idle.put(worker)

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


def serve(make: Callable[[Any], Callable[[Any], object]]) -> None:
    """Run as a worker: make what answers from the setup, then answer each task until the input ends.

    What is printed on the way goes nowhere: standard output is the pipe of the answers.
    """
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    answer = make(pickle.load(source))  # noqa: S301 - from the process that started this one
    while True:
        try:
            task = pickle.load(source)  # noqa: S301
        except EOFError:
            return
        pickle.dump(answer(task), sink)
        sink.flush()
