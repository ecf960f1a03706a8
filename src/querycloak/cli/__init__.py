"""The command line: parse, call, translate errors. One file per subcommand, none with an algorithm inside."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a check failed, 2 the user's mistake, 130 interrupted."""
    from querycloak.cli.app import app
    from querycloak.errors import CheckFailedError, UserError

    try:
        app()
    except UserError as error:
        _fail(str(error), 2)
    except CheckFailedError as error:
        _fail(str(error), 1)
    except MemoryError:
        _fail("There is not enough memory for this. Cut the log into parts, or use a machine with more.", 2)
    except KeyboardInterrupt:
        _fail("Interrupted; nothing was written.", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    print(f"querycloak: {message}", file=sys.stderr)
    sys.exit(code)
