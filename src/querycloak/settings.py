"""Settings of a method: a frozen dataclass that checks its values when it is made.

>>> @dataclass(frozen=True)
... class Example(Settings):
...     '''Settings of an example.'''
...
...     k: int = setting(5, "smallest group of users", minimum=2)
>>> print(Example.__doc__)
Settings of an example.
<BLANKLINE>
k: int = 5
    smallest group of users (>= 2)
>>> Example(k=1)
Traceback (most recent call last):
...
querycloak.errors.ParameterError: Example.k must be an integer >= 2, got 1.
"""

from __future__ import annotations

import inspect
import operator
import sys
import types
import typing
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Self, cast

from querycloak.errors import ParameterError, UnknownNameError

__all__ = ["Settings", "from_text", "setting", "setting_type"]

T = typing.TypeVar("T")

TOO_LARGE = 1 << 31
"""Integers of settings must be below this, because kernels count in 32 bits."""
_SIGNS = {"minimum": ">=", "above": ">", "below": "<"}


def setting(
    default: T,
    help: str,  # noqa: A002 - the word that every command line uses
    *,
    minimum: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] | None = None,
    shown: str = "",
) -> T:
    """Return a field of a settings class: its default, one line of help, and the values that are allowed.

    `shown` says in words what the default is, where it follows from other settings and is None here.

    >>> @dataclass(frozen=True)
    ... class Example(Settings):
    ...     '''One setting.'''
    ...     k: int = setting(5, "people in each group", minimum=2)
    >>> Example(k=1)
    Traceback (most recent call last):
    ...
    querycloak.errors.ParameterError: Example.k must be an integer >= 2, got 1.
    """
    metadata = {"help": help, "minimum": minimum, "above": above, "below": below, "choices": choices, "shown": shown}
    return field(default=default, metadata=metadata)


def setting_type(owner: type[Settings], name: str) -> type:
    """Return the plain type of a field, `int` for `int | None` too."""
    hint = _hints(cast("Any", owner))[name]
    if isinstance(hint, types.UnionType):
        hint = next(t for t in typing.get_args(hint) if t is not type(None))
    return cast("type", typing.get_origin(hint) or hint)


def from_text(text: str, kind: type, name: str) -> Any:
    """Read the value of a setting that was given as text, on a command line or in a form; `name` is for the error.

    >>> from_text("5", int, "--k"), from_text("yes", bool, "--refine")
    (5, True)
    """
    try:
        if kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        words = {int: "an integer", float: "a number", bool: "yes or no"}.get(kind, f"of type {kind.__name__}")
        raise ParameterError.of(name, words, text) from None


@cache
def _hints(owner: typing.Hashable) -> dict[str, Any]:
    return typing.get_type_hints(owner)


@dataclass(frozen=True)
class Settings:
    """Base class of all settings: checks every field on construction, converts to plain values and back."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Add the settings to the docstring, so that `help()` shows them."""
        super().__init_subclass__(**keywords)
        cls.__doc__ = f"{(cls.__doc__ or '').rstrip()}\n\n{_documentation(cls)}".rstrip()

    def __post_init__(self) -> None:
        for f in fields(self):
            self._check(f.name, getattr(self, f.name), f.metadata, optional=f.default is None)

    def _check(self, name: str, value: object, rule: typing.Mapping[str, Any], *, optional: bool) -> None:
        if optional and value is None:
            return
        expected, ok = _judge(value, setting_type(type(self), name), rule)
        if not ok:
            raise ParameterError.of(f"{type(self).__name__}.{name}", expected, value)

    @classmethod
    def from_json(cls, values: typing.Mapping[str, Any]) -> Self:
        """Build settings from plain values; an unknown name is refused with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise UnknownNameError.of(f"setting of {cls.__name__}", name, known)
        required = [f.name for f in fields(cls) if f.default is MISSING and f.name not in values]
        if required:
            raise ParameterError(f"{cls.__name__} needs {', '.join(required)}.")
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


def _documentation(cls: type[Settings]) -> str:
    """Return name, type, default and help of each setting, two lines each.

    This runs before `@dataclass` has seen the class, so the fields that it adds are still plain attributes.
    """
    bases = [base for base in reversed(cls.__mro__[1:]) if is_dataclass(base)]  # in the order of `@dataclass`
    inherited = {f.name: (f.type, f) for base in bases for f in fields(base)}
    added = {name: (kind, cls.__dict__.get(name)) for name, kind in inspect.get_annotations(cls).items()}
    lines = []
    for name, (kind, given) in (inherited | added).items():
        if isinstance(given, Field):
            default = "" if given.default is MISSING else f" = {given.metadata.get('shown') or repr(given.default)}"
            choices = given.metadata.get("choices")
            allowed = ", ".join(choices) if choices else _bounds(given.metadata)
            help_text = given.metadata.get("help", "")
            lines += [f"{name}: {kind}{default}", f"    {help_text}" + (f" ({allowed})" if allowed else "")]
    return "\n".join(lines)


def _bounds(rule: typing.Mapping[str, Any]) -> str:
    """Return the bounds of a number in words: `>= 2 and < 10`."""
    return " and ".join(f"{sign} {rule[name]}" for name, sign in _SIGNS.items() if rule.get(name) is not None)


def _judge(value: object, kind: type, rule: typing.Mapping[str, Any]) -> tuple[str, bool]:
    """Return what is expected, in words, and whether the value is allowed."""
    bounds = [(sign, rule[name]) for name, sign in _SIGNS.items() if rule.get(name) is not None]
    words = _bounds(rule)
    if rule.get("choices"):
        return "one of " + ", ".join(rule["choices"]), value in rule["choices"]
    if kind is bool:
        return "true or false", isinstance(value, bool)
    if kind is int:
        ok = isinstance(value, int) and not isinstance(value, bool)
        if ok and abs(cast("int", value)) >= TOO_LARGE:
            return f"an integer {words} and < {TOO_LARGE:,}", False
        return f"an integer {words}".strip(), ok and _within(cast("float", value), bounds)
    if kind is float:
        ok = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
        return f"a finite number {words}".strip(), ok and _within(cast("float", value), bounds)
    return f"of type {kind.__name__}", isinstance(value, kind)


def _within(value: float, bounds: list[tuple[str, float]]) -> bool:
    tests = {">=": operator.ge, ">": operator.gt, "<": operator.lt}
    return all(tests[sign](value, bound) for sign, bound in bounds)
