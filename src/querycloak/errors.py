"""Every exception that QueryCloak raises on purpose.

.. code-block:: text

    QueryCloakError
    ├── UserError            the user can fix it; the command line exits with 2
    │   ├── ParameterError   a setting that makes no sense
    │   ├── InputError       a file that cannot be read as what it should be
    │   ├── OutputError      a file that cannot be written
    │   ├── TaxonomyError    a taxonomy that is not one tree
    │   ├── UnknownNameError a method, column or topic that does not exist
    │   └── PluginError      an entry of another package that cannot be used
    └── CheckFailedError     a release that does not keep what it says; the command line exits with 1
        └── GateError        a method whose result breaks its own promise: nothing is published

    UserWarning
    └── PluginWarning        a package is left out; everything else works

No message contains a query or a user id: they are personal data. Any other exception that escapes is a bug.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CheckFailedError",
    "GateError",
    "InputError",
    "OutputError",
    "ParameterError",
    "PluginError",
    "PluginWarning",
    "QueryCloakError",
    "TaxonomyError",
    "UnknownNameError",
    "UserError",
]


class QueryCloakError(Exception):
    """The base class of every exception that QueryCloak raises on purpose."""


class UserError(QueryCloakError):
    """Something the user can fix: one sentence says where, what was expected, what was found, what to do."""


class ParameterError(UserError):
    """A setting that makes no sense.

    >>> raise ParameterError.of("Sweep.min_query_users", "an integer >= 1", 0)
    Traceback (most recent call last):
    ...
    querycloak.errors.ParameterError: Sweep.min_query_users must be an integer >= 1, got 0.
    """

    @classmethod
    def of(cls, name: str, expected: str, found: object) -> ParameterError:
        """Build the message that all errors about the value of a parameter share."""
        return cls(f"{name} must be {expected}, got {found!r}.")

    @classmethod
    def unknown(cls, function: str, name: str, known: Iterable[str]) -> ParameterError:
        """Refuse a keyword that a function does not take, with the nearest that it takes.

        >>> raise ParameterError.unknown("attack", "taxonmy", ["taxonomy", "seed"])
        Traceback (most recent call last):
        ...
        querycloak.errors.ParameterError: attack() has no argument 'taxonmy'. Did you mean 'taxonomy'? It takes: seed, \
taxonomy.
        """
        names = sorted(known)
        return cls(f"{function}() has no argument {name!r}.{_nearest(name, names)} It takes: {', '.join(names)}.")


class InputError(UserError):
    """A file that cannot be read as what it should be.

    >>> raise InputError.at("queries.tsv", "expected 5 tab-separated fields, found 3", line=812)
    Traceback (most recent call last):
    ...
    querycloak.errors.InputError: queries.tsv, line 812: expected 5 tab-separated fields, found 3.
    """

    @classmethod
    def at(cls, path: object, problem: str, line: int | None = None) -> InputError:
        """Build a message of place and problem; `problem` must not quote the line."""
        where = f"{path}" if line is None else f"{path}, line {line}"
        return cls(f"{where}: {problem}.")


class OutputError(UserError):
    """A file that cannot be written."""


class TaxonomyError(UserError):
    """A taxonomy that is not one tree: a cycle, two roots, an unknown parent."""


class UnknownNameError(UserError):
    """A name that is not among those there are.

    >>> raise UnknownNameError.of("method", "swep", ["sweep", "clump"])
    Traceback (most recent call last):
    ...
    querycloak.errors.UnknownNameError: There is no method 'swep'. Did you mean 'sweep'? There are: clump, sweep.
    """

    @classmethod
    def of(cls, what: str, name: str, there_are: Iterable[str]) -> UnknownNameError:
        """Build a message with the nearest name that exists."""
        names = sorted(there_are)
        shown = ", ".join(names[:40]) + (", …" if len(names) > 40 else "")
        return cls(f"There is no {what} {name!r}.{_nearest(name, names)} There are: {shown}.")


class PluginError(UserError):
    """An entry of another package that cannot be used: its import fails, or it is not what it should be."""


class PluginWarning(UserWarning):
    """A package is left out, because it cannot be used; everything else works."""


class CheckFailedError(QueryCloakError):
    """A release that does not keep what its statement says."""


class GateError(CheckFailedError):
    """A method whose result breaks its own promise: the gate publishes nothing. This is a fault of the method."""


def _nearest(name: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
