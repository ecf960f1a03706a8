"""How kernels are compiled: once, cached on disk, without the interpreter's lock.

Kernels stand in files of their own (`_<method>_kernels.py`) and never call across files: a cached kernel does not
notice edits in another file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
from numba.core import event

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["inlined_kernel", "kernel", "lean_kernel", "parallel_kernel", "tell_compiling"]

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
