"""What goes wrong while a file is read, in one sentence. Polars is not loaded for it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["guarded"]


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Tell in one sentence whatever goes wrong while a file is read."""
    if "\0" in str(path):
        raise InputError("The name of the file to read has a NUL character in it.")
    try:
        yield
    except FileNotFoundError:
        raise InputError.at(path, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.at(path, "expected a file, found a directory") from None
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({error.strerror or type(error).__name__})") from None
    except MemoryError:
        raise InputError.at(path, "does not fit into memory; use a larger machine, or split the log by user") from None
    except BaseException as error:
        polars = sys.modules.get("polars")
        if polars is None or not isinstance(error, (polars.exceptions.PolarsError, polars.exceptions.PanicException)):
            raise
        # The message of the library may quote the file, so only its kind is told.
        raise InputError.at(path, f"cannot be read as a log ({type(error).__name__})") from None
