"""How kernels are compiled: once, cached on disk, without the interpreter's lock.

Kernels are in separate files (`_<method>_kernels.py`) and never call across files, nor import constants from another
one: a cached kernel does not notice edits there. Types of arguments may come from anywhere, they are part of the
cache's key. With NUMBA_DISABLE_JIT=1 the same functions run in plain Python, so that coverage sees them; results are
the same.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["inlined_kernel", "kernel", "lean_kernel", "parallel_kernel", "tell_compiling", "wraps_around"]

F = TypeVar("F", bound="Callable[..., Any]")


def kernel(function: F) -> F:
    """Compile on first use, cache on disk, release the lock while it runs."""
    return _compiled(function, parallel=False)


def lean_kernel(function: F) -> F:
    """Like `kernel`, for one that makes no array: without counting references, which costs more than a short helper."""
    return cast("F", numba.njit(cache=True, nogil=True, _nrt=False)(function))  # type: ignore[call-overload]


def inlined_kernel(function: F) -> F:
    """Compile a short helper into each lean kernel of the same file that calls it."""
    return cast("F", numba.njit(nogil=True, _nrt=False, forceinline=True)(function))  # type: ignore[call-overload]


def parallel_kernel(function: F) -> F:
    """Like `kernel`, with `prange` over the cores. Results must not depend on the number of threads."""
    return _compiled(function, parallel=True)


def wraps_around(function: F) -> F:
    """Mark a short helper, below its decorator, whose unsigned integers are meant to wrap around: hashes, random words.

    Compiled integers wrap around silently. Without the compiler NumPy's scalars warn, here alone to no purpose.
    """
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return cast("F", quiet)


def _compiled(function: F, *, parallel: bool) -> F:
    """Compile with a cache where one can be written; a user without a writable home compiles in every process."""
    try:
        return cast("F", numba.njit(cache=True, nogil=True, parallel=parallel)(function))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast("F", numba.njit(nogil=True, parallel=parallel)(function))


class _Listener(event.Listener):
    """Calls `tell` at the first real compilation of this process; a kernel from the cache is silent."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, _event: object) -> None:
        if self._tell is not None:
            tell, self._tell = self._tell, None
            tell()

    def on_end(self, _event: object) -> None:
        pass


def tell_compiling(tell: Callable[[], None]) -> None:
    """Have `tell` called when a kernel is compiled for the first time rather than loaded from the cache."""
    event.register("numba:compile", _Listener(tell))  # type: ignore[no-untyped-call]
