"""Ctrl-C at any moment: one line, exit code 130, and nothing half written.

An interrupt as Python has it, an exception in the main thread, comes late while a kernel runs, can be lost in a
callback, and shows a traceback during imports. Here a thread waits for the signal instead. It lets files that are just
getting their names get them, removes what is unfinished, says what was written, and ends the process. Nothing else is
needed: a process may be killed at any moment without harm (`logs.atomic`, the ledger's transactions).

`querycloak stream` stops politely instead while it runs (`live.pipes.stopping`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Final

from querycloak.visible import visible

__all__ = ["end_on_signals", "ignore_signals"]

WORDS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
SHOWN: Final = 3
"""Files that are named in the last line."""


def end_on_signals() -> None:
    """End this process, from now on, as soon as a signal asks for it."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    for number in WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup, or in the background of a script
            signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(read,), name="signals", daemon=True).start()


def ignore_signals() -> None:
    """Let nothing interrupt the last milliseconds: the work is done, and Python is shutting down."""
    for number in WORDS:
        signal.signal(number, signal.SIG_IGN)


def _wait(read: int) -> None:
    while True:
        number = os.read(read, 1)[0]
        if number in WORDS:
            _end(number)


def _end(number: int) -> None:
    """Clean up and end the process. Modules are looked up, not imported: the main thread may be importing them."""
    atomic, locks = (sys.modules.get(f"querycloak.logs.{name}") for name in ("atomic", "locks"))
    written: list[object] = []
    if atomic is not None and hasattr(atomic, "remove_temporary_files"):
        written = atomic.remove_temporary_files()
    if locks is not None and hasattr(locks, "remove_lock_files"):
        locks.remove_lock_files()
    clear = b"\r\x1b[2K\x1b[?25h" if os.isatty(2) else b""  # the line of the progress bar, and the cursor it hid
    message = f"{WORDS[signal.Signals(number)]}; {_told(written)}."
    output = sys.modules.get("querycloak.cli.output")
    if output is not None and hasattr(output, "error_text"):
        text = output.error_text(message, 128 + number, "Interrupted")
    else:
        text = visible(f"querycloak: {message}")
    with suppress(OSError):  # whoever read it is gone: the process must end all the same
        os.write(2, clear + f"{text}\n".encode(errors="replace"))
    os._exit(128 + number)


def _told(written: list[object]) -> str:
    if not written:
        return "nothing was written"
    more = f" and {len(written) - SHOWN} more" if len(written) > SHOWN else ""
    return f"written before: {', '.join(str(path) for path in written[:SHOWN])}{more}"
