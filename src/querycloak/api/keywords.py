"""Keywords that a function does not take are refused with the nearest that it takes."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from querycloak.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["checked", "refuse_unknown"]

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a keyword that a function does not take with the nearest that it takes."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        refuse_unknown(function.__name__, keywords, known)
        return function(*args, **keywords)

    return call


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a name that is not known."""
    names = set(known)
    for name in given:
        if name not in names:
            raise ParameterError.unknown(function, name, names)
