"""What a log was taken for, in one line: which column is the user, the query, the time, and how much there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.logs.columns import ROLES, shown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.logs.form import LogForm
    from querycloak.logs.query_log import QueryLog

__all__ = ["describe_form", "describe_log", "role_names"]

NAMED: Final = {"json", "jsonl", "ubi", "parquet"}
"""formats whose columns always have names"""


def describe_log(log: QueryLog, path: object, columns: Mapping[str, str] | None = None) -> str:
    """Return one line on a log that was read; `columns` is the mapping that the user gave.

    >>> log = __import__("querycloak").QueryLog.of(["ann", "bob"], ["tea", "tea"])
    >>> describe_log(log, "log.tsv")
    'log.tsv: 2 rows, 2 users'
    """
    form = "" if log.form is None else f"{describe_form(log.form, columns)}; "
    return f"{path}: {form}{len(log):,} rows, {len(log.users):,} users"


def describe_form(form: LogForm, columns: Mapping[str, str] | None = None) -> str:
    """Return the format, and which column has which role: by name, or by position where names may be data."""
    names = role_names(form, columns)
    return f"{form.format}; " + ", ".join(f"{role} = {names[role]}" for role in ROLES if role in names)


def role_names(form: LogForm | None, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return role → what its column may be called in a message."""
    if form is None:
        return {}
    if form.format in NAMED:
        return {c.role: c.name for c in form.columns if c.role is not None}
    names = [c.name for c in form.columns]
    return {
        c.role: shown_name(i, names, columns, header=form.header)
        for i, c in enumerate(form.columns)
        if c.role is not None
    }
