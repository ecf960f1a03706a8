"""Wrong lines in this very process: the code of a module's functions is exchanged, and put back afterwards.

The same faults as in tests/mutation (a text of the source and what it becomes), without a process for each: what an
audit needs are thousands of runs, and those should not wait for imports and compilers.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types

from mutation.run import PACKAGE, changed


@contextlib.contextmanager
def applied(fault):
    """Let a fault be there for a while; it must be in the body of a function that is not compiled by Numba."""
    file, text = changed(fault)
    name = ".".join(("querycloak", *file.relative_to(PACKAGE).with_suffix("").parts))
    module = importlib.import_module(name)
    wrong = types.ModuleType(name)
    wrong.__file__ = str(file)
    exec(compile(text, str(file), "exec"), wrong.__dict__)
    right = dict(_functions(module, name))
    old = {path: function.__code__ for path, function in right.items()}
    new = {path: function.__code__ for path, function in _functions(wrong, name)}
    exchanged = [path for path in old if _differs(old[path], new[path])]
    assert exchanged, f"{fault.name!r} changes no function"
    try:
        _forget()
        for path in exchanged:
            right[path].__code__ = new[path]
        yield
    finally:
        for path in exchanged:
            right[path].__code__ = old[path]
        _forget()


def _functions(owner, module, path=""):
    """Yield (path, function) of a module: its functions, and those of its classes; those behind decorators too."""
    for key, value in list(vars(owner).items()):
        if isinstance(value, type) and value.__module__ == module:
            yield from _functions(value, module, f"{path}{key}.")
            continue
        function = value
        for hidden in ("__func__", "fget", "func", "__wrapped__"):
            function = getattr(function, hidden, function)
        if isinstance(function, types.FunctionType) and function.__module__ == module and "py_func" not in dir(value):
            yield f"{path}{key}", function


def _differs(one, other):
    """Whether two functions do something different, wherever they are in their file."""
    return _plain(one) != _plain(other)


def _plain(code):
    constants = tuple(_plain(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts)
    return code.co_code, code.co_names, code.co_varnames, constants


def _forget():
    """Empty what methods and budgets remember of earlier runs."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("querycloak.methods.dp", "querycloak.releases")):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
