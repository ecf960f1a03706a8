"""The settings of one rule: they check themselves, and take lists and tables as a file of rules has them."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields
from typing import ClassVar

from querycloak.errors import ParameterError
from querycloak.settings import Settings

__all__ = ["Rule"]


@dataclass(frozen=True)
class Rule(Settings):
    """Base class of the settings of a rule."""

    name: ClassVar[str] = ""
    """what the rule is called in a file"""
    required: ClassVar[tuple[str, ...]] = ()
    """settings that have no sensible default: a file must give them"""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for f in fields(self):
            value, hint = getattr(self, f.name), hints[f.name]
            parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
            if value is not None and any(typing.get_origin(part) is tuple for part in parts):
                self._check_list(f.name, value)
                object.__setattr__(self, f.name, tuple(value))
            elif any(typing.get_origin(part) is dict for part in parts):
                self._check_table(f.name, value)
            else:
                self._check(f.name, value, f.metadata, optional=f.default is None)

    def _check_list(self, name: str, value: object) -> None:
        allowed = self.allowed(name)
        expected = "a list of texts" if allowed is None else f"a list of: {', '.join(allowed)}"
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ParameterError.of(f"{type(self).__name__}.{name}", expected, value)
        strange = [item for item in value if allowed is not None and item not in allowed]
        if strange or len(set(value)) != len(value):
            raise ParameterError.of(f"{type(self).__name__}.{name}", expected + ", each once", list(value))

    def _check_table(self, name: str, value: object) -> None:
        good = isinstance(value, dict) and all(
            isinstance(grain, int) and not isinstance(grain, bool) and grain >= 1 for grain in value.values()
        )
        if not good:
            raise ParameterError.of(f"{type(self).__name__}.{name}", "a table of columns and whole numbers >= 1", value)

    def allowed(self, name: str) -> tuple[str, ...] | None:  # noqa: ARG002 - rules with choices override it
        """Return what a list may hold; None = any text."""
        return None
