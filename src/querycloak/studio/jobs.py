"""Jobs: one queue, one thread that waits for it, one child process that does the work.

A job that is cancelled, or a studio that is closed, kills the child with all that it started (a process group of its
own) and does not ask: methods are long loops of compiled code that look at nothing. The next job gets a new child. A
child that dies by itself, for want of memory or by somebody's hand, fails its job with one sentence.

Whoever ends a job first decides how it ended: `_end` is the only way to a last state.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from querycloak.studio.messages import ANSWERS, Count, Failed, Note, Ready, Step, encode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from querycloak.studio.messages import Order, Result
    from querycloak.studio.model import Job, State

__all__ = ["Jobs"]

CHILD: Final = "from querycloak.studio.worker import serve; serve()"
STARTING: Final = "starting"
FIRST: Final = ("generate", "look", "expose")
"""Kinds of jobs that somebody waits for in front of a page: they go before runs that wait."""
LONGEST_LINE: Final = 1 << 24


@dataclass
class _Entry:
    """A job with what it takes to do it."""

    job: Job
    order: Order
    done: Callable[[Job, Result | None], None]
    """called once, when the job has ended; with the answer where it is done"""
    clean: Callable[[], None]
    """removes what a job left unfinished; called after the child is dead"""


class Jobs:
    """The jobs of a studio, and its child."""

    def __init__(self, cwd: Path, lock: threading.RLock, changed: Callable[[Job], None]) -> None:
        """Take no job yet. `changed` is called when a job changes, from any thread, with the lock held.

        The lock is that of the desk: with two of them, each could wait for the other.
        """
        self._cwd = cwd
        self._lock = lock
        self._changed = changed
        self._news = threading.Condition(lock)
        self._waiting: list[_Entry] = []
        self._entry: _Entry | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._warm = False
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="studio jobs", daemon=True)
        self._thread.start()

    def submit(
        self,
        job: Job,
        order: Order,
        done: Callable[[Job, Result | None], None],
        clean: Callable[[], None] = lambda: None,
    ) -> None:
        """Put a job into the queue."""
        with self._news:
            self._waiting.append(_Entry(job, order, done, clean))
            self._news.notify()

    def warm_up(self) -> None:
        """Start the child where there is none."""
        with self._news:
            self._warm = True
            self._news.notify()

    def cancel(self, job_id: str) -> bool:
        """Cancel a job that waits or runs; False where there is none of this id."""
        with self._lock:
            if self._entry is not None and self._entry.job.id == job_id:
                self._end(self._entry, "cancelled", "It was cancelled.")
                self._kill()
                self._warm = True  # the next job need not wait for imports
                return True
            for entry in self._waiting:
                if entry.job.id == job_id:
                    self._waiting.remove(entry)
                    self._end(entry, "cancelled", "It was cancelled.")
                    return True
        return False

    def close(self) -> None:
        """Cancel everything and end the child."""
        with self._news:
            self._closed = True
            entries = [*([self._entry] if self._entry is not None else []), *self._waiting]
            self._waiting.clear()
            for entry in entries:
                self._end(entry, "cancelled", "The studio was closed before this was done; start it again.")
            self._kill()
            self._news.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    @property
    def pid(self) -> int | None:
        """The id of the child's process; None where there is none."""
        with self._lock:
            return None if self._child is None else self._child.pid

    def _work(self) -> None:
        """Do one job after the other: the thread of the queue."""
        while True:
            with self._news:
                while not (self._waiting or self._warm or self._closed):
                    self._news.wait()
                if self._closed:
                    self._kill()
                    self._reap()
                    return
                entry = self._next()
                self._warm = False
                if entry is not None:
                    self._entry = entry
                    self._change(entry, replace(entry.job, state="running", step=STARTING, started=time.time()))
                try:
                    self._start_child()
                except OSError:
                    self._cannot_start(entry)
                    continue
            if entry is not None:
                self._do(entry)

    def _next(self) -> _Entry | None:
        """Take the next job out of the queue: those that somebody waits for first."""
        entry = min(self._waiting, key=lambda e: e.job.kind not in FIRST, default=None)
        if entry is not None:
            self._waiting.remove(entry)
        return entry

    def _do(self, entry: _Entry) -> None:
        """Give an order to the child, and follow its answers to the end of the job or of the child."""
        child = self._child
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(OSError):  # a child that died: its output has ended too
            child.stdin.write(encode(entry.order))
            child.stdin.flush()
        ended = False
        while not ended:
            line = child.stdout.readline(LONGEST_LINE)
            try:
                answer = ANSWERS.decode(line) if line else None
            except msgspec.MsgspecError:
                answer = None
            if answer is None:  # the child is dead, or does not speak our language any more
                self._lost(entry)
                return
            ended = self._hear(entry, answer)
        if entry.job.state == "cancelled":  # while its last answer was on the way
            self._lost(entry)
        with self._lock:
            self._entry = None

    def _cannot_start(self, entry: _Entry | None) -> None:
        if entry is not None:
            self._end(entry, "failed", "No process for the work could be started: is the machine out of memory?")
            self._entry = None

    def _hear(self, entry: _Entry, answer: object) -> bool:
        """Take one answer of the child; True where it ends the job."""
        with self._lock:
            if isinstance(answer, Step):
                self._change(entry, replace(entry.job, step=answer.text, done=0, total=answer.total))
            elif isinstance(answer, Count):
                self._change(entry, replace(entry.job, done=answer.done))
            elif isinstance(answer, Note):
                self._change(entry, replace(entry.job, notes=(*entry.job.notes, answer.text)))
            elif isinstance(answer, Failed):
                self._end(entry, "failed", answer.error)
                entry.clean()
                return True
            elif not isinstance(answer, Ready):
                self._end(entry, "done", "", answer)  # type: ignore[arg-type]
                return True
        return False

    def _lost(self, entry: _Entry) -> None:
        """Handle a child that is gone: cancelled, or died."""
        self._kill()
        code = self._reap()
        how = f"by {_signal(-code)}, perhaps for want of memory" if code < 0 else f"by itself, with code {code}"
        with self._lock:
            self._end(entry, "failed", f"The process that did the work was ended {how}; start it again.")
            self._entry = None
        entry.clean()

    def _change(self, entry: _Entry, job: Job) -> None:
        if entry.job.active:
            entry.job = job
            self._changed(job)

    def _end(self, entry: _Entry, state: State, error: str, answer: Result | None = None) -> None:
        """Say how a job ended, unless it has ended before."""
        if entry.job.active:
            entry.job = replace(entry.job, state=state, error=error, ended=time.time())
            self._changed(entry.job)
            entry.done(entry.job, answer)

    def _start_child(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        self._reap()
        paths = os.pathsep.join(path for path in sys.path if path)
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter, no input in the command
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._cwd,
            # What lies in a folder of logs is never imported, by the child or by the processes that it starts.
            env={**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
            start_new_session=True,
        )

    def _kill(self) -> None:
        """Kill the child and all that it started, and return at once; the thread of the queue cleans up."""
        child = self._child
        if child is not None and child.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)

    def _reap(self) -> int:
        """Wait for a child that has ended or was killed, and return how it ended."""
        child = self._child
        if child is None:
            return 0
        code = child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with self._lock:
            self._child = None
        return code


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
