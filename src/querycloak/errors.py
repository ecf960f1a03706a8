"""Every exception that QueryCloak raises on purpose.

.. code-block:: text

    QueryCloakError
    ├── UserError            the user can fix it; the command line exits with 2
    │   ├── ParameterError   a setting that makes no sense
    │   ├── InputError       a file that cannot be read as what it should be
    │   ├── OutputError      a file that cannot be written
    │   ├── TaxonomyError    a taxonomy that is not one tree
    │   └── UnknownNameError a method, column or topic that does not exist
    └── CheckFailedError     a release that does not keep what it says; the command line exits with 1
        └── GateError        a method whose result breaks its own promise: nothing is published

No message carries a query or a user id: they are personal data. Anything else that escapes is a bug.
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
    "QueryCloakError",
    "TaxonomyError",
    "UnknownNameError",
    "UserError",
]


class QueryCloakError(Exception):
    """The root of all that we raise on purpose."""


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
        """Fill the one template that all parameter errors share."""
        return cls(f"{name} must be {expected}, got {found!r}.")


class InputError(UserError):
    """A file that cannot be read as what it should be.

    >>> raise InputError.at("queries.tsv", "expected 5 tab-separated fields, found 3", line=812)
    Traceback (most recent call last):
    ...
    querycloak.errors.InputError: queries.tsv, line 812: expected 5 tab-separated fields, found 3.
    """

    @classmethod
    def at(cls, path: object, problem: str, line: int | None = None) -> InputError:
        """Say where, then what; `problem` must not quote the line."""
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
        """Name the nearest of those there are."""
        from difflib import get_close_matches

        names = sorted(there_are)
        near = get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        shown = ", ".join(names[:40]) + (", …" if len(names) > 40 else "")
        return cls(f"There is no {what} {name!r}.{hint} There are: {shown}.")


class CheckFailedError(QueryCloakError):
    """A release that does not keep what its statement says."""


class GateError(CheckFailedError):
    """A method whose result breaks its own promise: the gate publishes nothing. This is a fault of the method."""
