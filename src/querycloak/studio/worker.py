"""The child process: takes one order after the other, and keeps the log and its mapping between them.

It ends when its input ends, whatever it is doing: a studio that is killed leaves no child behind. What it prints goes
nowhere, and of an exception that nobody expected only its kind and the line of code are told: its text may hold a
query.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

import msgspec

from querycloak.errors import CheckFailedError, UserError
from querycloak.studio.messages import ORDERS, Count, Failed, Note, Order, Ready, Step, encode

if TYPE_CHECKING:
    from typing import BinaryIO

    from querycloak.studio.messages import Answer

__all__ = ["PipeProgress", "serve"]

NICENESS: Final = 10
"""Whatever the child does, the pages go first."""
BETWEEN_COUNTS: Final = 0.1
"""Seconds between two counts of one step."""
MOST_NOTES: Final = 200
LONGEST: Final = 2000
"""Characters of a text that is sent."""


class PipeProgress:
    """Sends steps, counts and notes through a pipe."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._done, self._notes, self._sent = 0, 0, 0.0

    def send(self, message: Answer) -> None:
        """Send one message."""
        with self._lock:
            self._sink.write(encode(message))
            self._sink.flush()

    def begin(self) -> None:
        """Begin the next order."""
        self._done, self._notes, self._sent = 0, 0, 0.0

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""
        self._done = 0
        self.send(Step(step[:LONGEST], total))

    def advance(self, units: int = 1) -> None:
        """Count units, and send the count now and then."""
        self._done += units
        now = time.monotonic()
        if now - self._sent >= BETWEEN_COUNTS:
            self._sent = now
            self.send(Count(self._done))

    def note(self, text: str) -> None:
        """Send a note."""
        self._notes += 1
        if self._notes <= MOST_NOTES:
            self.send(Note(text[:LONGEST]))


def serve() -> None:
    """Run as the child of a studio."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # standard output is the pipe of the answers
    os.nice(NICENESS)
    os.umask(0o077)
    progress = PipeProgress(sink)
    orders: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(source, orders), daemon=True).start()
    from querycloak.arrays.jit import tell_compiling
    from querycloak.studio.bench import Bench

    tell_compiling(lambda: progress.note("Kernels are compiled, on the first run only: that takes some seconds."))
    bench = Bench(progress)
    bench.warm_up()
    progress.send(Ready())
    while True:
        progress.begin()
        progress.send(_answer(bench, ORDERS.decode(orders.get())))


def _listen(source: BinaryIO, orders: SimpleQueue[bytes]) -> None:
    """Pass orders on; where there are no more, end the process at once."""
    for line in source:
        orders.put(line)
    os._exit(0)


def _answer(bench: object, order: Order) -> Answer:
    """Do what is ordered; whatever goes wrong is told in one sentence."""
    from querycloak.studio.bench import Bench

    assert isinstance(bench, Bench)
    try:
        return bench.do(order)
    except (UserError, CheckFailedError) as error:
        return Failed(str(error)[:LONGEST])
    except MemoryError:
        bench.forget()
        return Failed("There was not enough memory: use a machine with more, or a sample of the users.")
    except (OSError, msgspec.MsgspecError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return Failed(f"A file could not be read or written: {reason.lower()}.")
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Failed(f"Something broke with {type(error).__name__} ({at}); this is a fault of QueryCloak.")
