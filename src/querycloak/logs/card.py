"""A log as a card in a notebook: counts and what was taken for what, no text and no id of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.display import card, details, facts, items
from querycloak.logs.description import role_names
from querycloak.logs.query_log import MISSING_TIME
from querycloak.logs.times import format_times

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = ["log_card"]


def log_card(log: QueryLog) -> str:
    """Return the card. Columns without a role are counted, not named: their names may be data."""
    roles = [f"{role} = {name}" for role, name in role_names(log.form).items()]
    extra = 0 if log.extra is None else log.extra.width
    shown = {
        "rows": f"{len(log):,}",
        "users": f"{len(log.users):,}",
        "distinct queries": f"{len(log.queries):,}",
        "days": _days(log),
        "rows with a click": None if log.url is None else f"{int((log.url >= 0).sum()):,}",
        "taken for": ", ".join(roles),
        "further columns": extra or None,
    }
    counted = [f"{n:,} {what}" for what, n in log.problems.items() if n]
    return card(
        "QueryLog", facts(shown), *([details("left out, or taken as missing", items(counted))] if counted else [])
    )


def _days(log: QueryLog) -> str | None:
    if log.time is None:
        return None
    known = log.time[log.time != MISSING_TIME]
    if not len(known):
        return "none known"
    ends = known[[known.argmin(), known.argmax()]]
    return " to ".join(format_times(ends, "%Y-%m-%d").to_list())
