"""How kernels are compiled: when first called, cached on disk, without the interpreter's lock.

Kernels are in separate files (`_<method>_kernels.py`) and never call across files: a cached kernel does not notice
edits in another file. Types of arguments may come from anywhere, they are part of the cache's key. With
NUMBA_DISABLE_JIT=1 the same functions run in plain Python, so that coverage sees them; results are the same.

**Start-up.** Importing Numba and loading the first cached kernel takes 0.6 s; a log of a hundred rows is read by plain
Python in a tenth of that. So:

- Numba is imported when a kernel is called, not when its file is imported.
- A command that knows its input to be small (`expect_input`) runs the kernels of some files as the Python functions
  that they are. Such a file says `INTERPRET_SMALL = True`: its work grows with the rows of the input and nothing else,
  and its functions have the same results interpreted (`tests/arrays/test_jit.py` compares them). Numba counts in 64
  bits where NumPy keeps the type of an array's element, so this is not true of every kernel.

What happens to a kernel:

.. code-block:: text

    @kernel def f          → Kernel(f)          nothing is imported
    f(...)  small input    → f(...)             as Python
    f(...)  otherwise      → numba.njit(f')     f' is f with the other kernels of its file compiled too
                           → loaded from the cache on disk, or compiled
"""

from __future__ import annotations

import os
import sys
import threading
from functools import update_wrapper, wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Kernel",
    "compiles",
    "expect_input",
    "inlined_kernel",
    "instruction",
    "kernel",
    "lean_kernel",
    "parallel_kernel",
    "tell_compiling",
    "wraps_around",
]

F = TypeVar("F", bound="Callable[..., Any]")

SMALL_INPUT: Final = 32 * 1024
"""Bytes of input up to which interpreting takes less time than loading Numba; they break even at twice that."""


JIT_OFF: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
"""Kernels run as the Python functions that they are."""


def kernel(function: F) -> F:
    """Compile on first use, cache on disk, release the lock while it runs."""
    return _kernel(function, {"nogil": True})


def lean_kernel(function: F) -> F:
    """Like `kernel`, for one that makes no array: without counting references, which costs more than a short helper."""
    return _kernel(function, {"nogil": True, "_nrt": False})


def inlined_kernel(function: F) -> F:
    """Compile a short helper into each lean kernel of the same file that calls it."""
    return _kernel(function, {"nogil": True, "_nrt": False, "forceinline": True}, cached=False)


def parallel_kernel(function: F) -> F:
    """Like `kernel`, with `prange` over the cores. Results must not depend on the number of threads."""
    return _kernel(function, {"nogil": True, "parallel": True})


def instruction(name: str) -> Callable[[F], F]:
    """Compile a function to one instruction of `_instructions.py`; as Python it does what its body says."""

    def made(function: F) -> F:
        return function if JIT_OFF else cast("F", Instruction(function, name))

    return made


def wraps_around(function: F) -> F:
    """Mark a short helper, below its decorator, whose unsigned integers are meant to wrap around: hashes, random words.

    Compiled integers wrap around silently. Without the compiler NumPy's scalars warn, here alone to no purpose.
    """
    if not JIT_OFF:
        return function
    import numpy as np

    @wraps(function)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return cast("F", quiet)


def _kernel(function: F, options: dict[str, Any], *, cached: bool = True) -> F:
    return function if JIT_OFF else cast("F", Kernel(function, options, cached=cached))


class Kernel:
    """A function that is compiled when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], *, cached: bool) -> None:
        self.py_func = function
        """the function as it was written"""
        self._options = options
        self._cached = cached
        self._compiled: Callable[..., Any] | None = None
        self._interpreted: Callable[..., Any] | None = None
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run the kernel: compiled, or as Python where the input is small."""
        if _state.small and self.py_func.__globals__.get("INTERPRET_SMALL"):
            return self._interpret(*args)
        if self._compiled is None:
            _link(self, compiled=True)
        return self._compiled(*args)  # type: ignore[misc]

    def _interpret(self, *args: Any) -> Any:
        import numpy as np

        if self._interpreted is None:
            _link(self, compiled=False)
        with np.errstate(over="ignore"):  # compiled integers wrap around silently
            return self._interpreted(*args)  # type: ignore[misc]

    def is_linked(self, *, compiled: bool) -> bool:
        """Tell whether the function that will be called has been made."""
        return (self._compiled if compiled else self._interpreted) is not None

    def link(self, names: dict[str, Any], *, compiled: bool) -> Callable[..., Any]:
        """Return the function, compiled or as it is, with other globals than its file's."""
        twin = FunctionType(self.py_func.__code__, names, self.py_func.__name__, self.py_func.__defaults__)
        update_wrapper(twin, self.py_func)
        del twin.__wrapped__  # type: ignore[attr-defined]
        if compiled:
            self._compiled = _njit(twin, self._options, cached=self._cached)
            return self._compiled
        self._interpreted = twin
        return twin


class Instruction(Kernel):
    """A function that is one instruction where it is compiled."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(function, {}, cached=False)
        self._name = name

    def link(self, names: dict[str, Any], *, compiled: bool) -> Callable[..., Any]:
        """Return the instruction, or the function as it is."""
        if not compiled:
            return super().link(names, compiled=False)
        _load_numba()
        from querycloak.arrays._instructions import INSTRUCTIONS

        self._compiled = cast("Callable[..., Any]", INSTRUCTIONS[self._name])
        return self._compiled


def _njit(function: Callable[..., Any], options: dict[str, Any], *, cached: bool) -> Callable[..., Any]:
    """Hand a function to Numba, which compiles it, or loads it from the cache on disk, at its first call.

    Where no cache can be written, every process compiles.
    """
    numba = _load_numba()
    try:
        return cast("Callable[..., Any]", numba.njit(cache=cached, **options)(function))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast("Callable[..., Any]", numba.njit(**options)(function))


def _load_numba() -> Any:
    """Import Numba without SciPy's linear algebra.

    Numba imports that, which takes 0.15 s, to learn whether `np.convolve` may use it. No kernel of ours does.
    """
    import numba

    if "scipy.linalg" not in sys.modules and "numba.np.arraymath" not in sys.modules:
        sys.modules["scipy.linalg.cython_blas"] = None  # type: ignore[assignment] # importing it fails
        try:
            import numba.np.arraymath
        finally:
            del sys.modules["scipy.linalg.cython_blas"]
    return numba


class _State:
    """What holds for the whole process."""

    def __init__(self) -> None:
        self.small = False
        self.lock = threading.Lock()
        self.tell: Callable[[], None] | None = None
        self.listens = False


_state: Final = _State()


def expect_input(size: int | None) -> None:
    """Set how many bytes of input this process has (None = unknown): kernels of small inputs are not compiled."""
    _state.small = size is not None and size <= SMALL_INPUT


def compiles() -> bool:
    """Tell whether kernels are compiled in this process, and not run as the Python functions that they are."""
    return not (JIT_OFF or _state.small)


def tell_compiling(tell: Callable[[], None] | None) -> None:
    """Have `tell` called when a kernel is compiled rather than loaded from the cache, once; None = tell nobody."""
    _state.tell = tell


def _link(wanted: Kernel, *, compiled: bool) -> None:
    """Link all kernels of a file: what a compiled kernel calls must be compiled too.

    The file itself keeps its `Kernel`s. The functions made of them share a copy of its globals, in which every `Kernel`
    is replaced by the function made of it.
    """
    with _state.lock:
        if wanted.is_linked(compiled=compiled):  # by another thread, meanwhile
            return
        if compiled:
            _listen()
        names = wanted.py_func.__globals__
        seen = dict(names)
        for name, value in names.items():
            if isinstance(value, Kernel) and value.py_func.__globals__ is names:
                seen[name] = value.link(seen, compiled=compiled)
        if not wanted.is_linked(compiled=compiled):  # a kernel that its file has no name for
            wanted.link(seen, compiled=compiled)


def _listen() -> None:
    """Have Numba report its real compilations, of which the first is told; a kernel from the cache is silent."""
    if _state.tell is None or _state.listens:
        return
    from numba.core import event

    _state.listens = True

    class Listener(event.Listener):
        def on_start(self, _event: object) -> None:
            tell, _state.tell = _state.tell, None  # whoever asked last, and once
            if tell is not None:
                tell()

        def on_end(self, _event: object) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
