"""The command line: parse, call, translate errors. One file per subcommand, none with an algorithm inside."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["main", "run"]


def run() -> None:
    """Be the command `querycloak`: a signal ends this process from here on, even while the rest is imported."""
    from querycloak.cli.interrupts import end_on_signals, ignore_signals

    sys.excepthook = _crash
    end_on_signals()
    try:
        main()
    finally:
        ignore_signals()


def main() -> None:
    """Run the command line in this process, whose signals are left alone.

    Exit codes: 0 done, 1 a check failed, 2 the user's mistake, 3 a check needs a human, 130 interrupted, 141 the reader
    of the output went away.
    """
    import typer

    from querycloak.arrays.jit import expect_input
    from querycloak.cli.completion import COMPLETE, load_lazily
    from querycloak.cli.output import expect_json

    if COMPLETE in os.environ:
        load_lazily()
    from querycloak.cli.app import app
    from querycloak.errors import CheckFailedError, UserError

    warnings.showwarning = _warn
    expect_json("--json" in sys.argv)
    usage_error = typer.BadParameter.__mro__[2]  # what typer raises for a wrong command line; it has no public name
    output = sys.stdout
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        _fail(_as_option(str(error)), 2, type(error).__name__)
    except CheckFailedError as error:
        _fail(str(error), 1, type(error).__name__)
    except MemoryError:
        _fail(
            "There is not enough memory for this. Cut the log into parts, or use a machine with more.", 2, "MemoryError"
        )
    except (KeyboardInterrupt, typer.Abort):
        _fail("Interrupted; nothing was written.", 130, "Interrupted")
    except SystemExit:
        # Typer wraps standard output and exits with 1 where the reader went away; here 1 means that a check failed.
        if sys.stdout is output:
            raise
        _end_unread(output)
    except BrokenPipeError:
        _end_unread(output)
    except OSError as error:
        _fail(f"Cannot go on: {(error.strerror or str(error)).lower()}.", 2, "OSError")
    except Exception as error:
        if not isinstance(error, usage_error):
            raise
        _fail(f"{error.format_message()} See `querycloak --help`.", 2, "UsageError")  # type: ignore[attr-defined]
    else:
        sys.exit(code if isinstance(code, int) else 0)
    finally:
        expect_input(None)


def _end_unread(output: TextIO) -> None:
    """End where nobody reads what is left to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
    sys.exit(141)


def _as_option(message: str) -> str:
    """Name a setting by its option: `Clump.k must be …` becomes `--k must be …`."""
    return re.sub(r"^[A-Z]\w+\.(\w+) must be", lambda m: f"--{m[1].replace('_', '-')} must be", message)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning, such as that of a plugin that cannot be used, as one line."""
    from querycloak.cli.say import complain

    complain(str(message))


def _crash(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
    from querycloak.cli.say import say_crash

    say_crash(kind, error, at)


def _fail(message: str, code: int, kind: str) -> None:
    from querycloak.cli.output import error_text
    from querycloak.cli.say import say_error
    from querycloak.live.address import message_without_credentials

    say_error(error_text(message_without_credentials(message), code, kind))
    sys.exit(code)
