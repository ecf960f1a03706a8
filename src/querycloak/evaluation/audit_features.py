"""What an attacker may look at in a release: every figure of the table and of its statement, by a name in words.

The numbers come from the whole output, nothing is left out because it looks harmless: rows and counts of each text,
rows of each user by length and by position, first and last rows, times, URLs, further columns; and of the statement
all parameters, counts, figures, account lines and sentences. A figure that is not there is 0. Published ids are
random; their form and their order are looked at: `first user` is the one with the smallest id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from querycloak.logs.query_log import MISSING_TIME

if TYPE_CHECKING:
    from collections.abc import Container

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Features", "features_of", "features_of_error"]

Features = dict[str, float]
"""figure → its value; what is not there is 0"""

_MOST_USERS = 4
"""Lengths are looked at one by one for so many of the longest and shortest users."""


def features_of(release: Release, own: Container[str] = frozenset()) -> Features:
    """Return all figures of a release; `own` are the texts that only the user asks in whom the logs differ."""
    table = release.log
    out: Features = {"rows": float(len(table)), "users": float(len(np.unique(table.user)))}
    label = _labels(table)
    value = [1.0] * len(label)
    if table.extra is not None and "count" in table.extra.columns:
        value = [float(count) for count in table.extra["count"].to_list()]
        out["sum of counts"] = float(sum(value))
        out["largest count"] = float(max(value, default=0.0))
    _texts(out, label, value, table.user.tolist() if release.has_users else [0] * len(label))
    texts = [text in own for text in table.queries.to_list()]
    out["rows of texts that only the user asks"] = float(sum(texts[code] for code in table.query.tolist()))
    if release.has_users:
        _lengths(out, table)
    out[f"the form of the file is {table.form}"] = 1.0
    _columns(out, table)
    _statement(out, release.statement)
    return out


def features_of_error(error: Exception) -> Features:
    """Return the figures of a run that was refused: which logs are refused is an output too."""
    return {f"refused with {type(error).__name__}": 1.0}


def _labels(table: QueryLog) -> list[str]:
    """Name each row by its text, and by its kind and URL where it has them."""
    texts = table.queries.to_list()
    label = [f"'{texts[code]}'" for code in table.query.tolist()]
    if table.extra is not None and "kind" in table.extra.columns:
        label = [f"{kind} {name}" for kind, name in zip(table.extra["kind"].to_list(), label, strict=True)]
    if table.url is not None and table.urls is not None:
        urls = table.urls.to_list()
        label = [
            name if code < 0 else f"{name} with a click on {urls[code]}"
            for name, code in zip(label, table.url.tolist(), strict=True)
        ]
    return label


def _texts(out: Features, label: list[str], value: list[float], user: list[int]) -> None:
    """Look at each text: its rows, its counts, the most that one user has of it, and where it is."""
    per_user: dict[tuple[str, int], float] = defaultdict(float)
    for name, count, who in zip(label, value, user, strict=True):
        _add(out, f"rows of {name}", 1.0)
        _add(out, f"sum of counts of {name}", count)
        per_user[name, who] += count
    for (name, who), count in per_user.items():
        out[f"most {name} of one user"] = max(count, out.get(f"most {name} of one user", count))
        if who == 0:
            out[f"{name} of the first user"] = count
    if label:
        out[f"first row is {label[0]}"] = out[f"last row is {label[-1]}"] = 1.0


def _lengths(out: Features, table: QueryLog) -> None:
    """Look at how many rows users have: those of the longest and shortest, and of the first user."""
    rows = np.bincount(table.user, minlength=len(table.users))
    out["rows of the first user"] = float(rows[0]) if len(rows) else 0.0
    ordered = np.sort(rows)[::-1].tolist()
    for i, length in enumerate(ordered[:_MOST_USERS]):
        out[f"rows of the user with the most rows, number {i + 1}"] = float(length)
    for i, length in enumerate(ordered[::-1][:_MOST_USERS]):
        out[f"rows of the user with the fewest rows, number {i + 1}"] = float(length)
    out["users with one row"] = float((rows == 1).sum())
    ids = table.users.to_list()
    out["ids of digits"] = float(sum(text.isdigit() for text in ids))
    out["longest id"] = float(max(map(len, ids), default=0))


def _columns(out: Features, table: QueryLog) -> None:
    """Look at times, ranks, URLs, categories and further columns."""
    if table.time is not None and len(table):
        known = table.time[table.time != MISSING_TIME]
        out["rows without a time"] = float(len(table) - len(known))
        if len(known):
            out |= {"first time": float(known.min()), "last time": float(known.max())}
            out["distinct times"] = float(len(np.unique(known)))
        for hour, n in Counter((known // 3600 % 168).tolist()).items():
            out[f"rows in hour {hour} of the week"] = float(n)
    if table.rank is not None:
        out["sum of ranks"] = float(table.rank.sum())
    for name, codes, words in (("URL", table.url, table.urls), ("category", table.category, table.categories)):
        if codes is not None and words is not None:
            shown = words.to_list()
            for code, n in Counter(codes[codes >= 0].tolist()).items():
                out[f"rows with the {name} {shown[code]}"] = float(n)
    for name in [] if table.extra is None else table.extra.columns:
        if name not in {"count", "kind"} and table.extra is not None:
            for cell, n in Counter(map(str, table.extra[name].to_list())).items():
                out[f"rows with {name} {cell}"] = float(n)


def _statement(out: Features, statement: PrivacyStatement) -> None:
    """Look at everything that the statement says: numbers by their names, sentences by whether they are there."""
    for part in ("parameters", "settings", "counts_in", "counts_out", "dropped", "figures"):
        for name, value in getattr(statement, part).items():
            _say(out, f"statement: {part}, {name}", value)
    for line in statement.account:
        for name in ("epsilon", "delta", "rho"):
            out[f"statement: account, {line.purpose}, {name}"] = getattr(line, name)
    sentences = (*statement.covers, *statement.does_not_cover, *statement.assumptions)
    for text in (statement.model, statement.unit, statement.randomness, *sentences, *statement.columns):
        out[f"statement: says '{text}'"] = 1.0
    for name in ("text_users", "click_users", "new_ids", "ids", "time_grain", "input_commitment"):
        _say(out, f"statement: {name}", getattr(statement, name))


def _say(out: Features, name: str, value: Any) -> None:
    if isinstance(value, int | float):
        out[name] = float(value)
    else:
        out[f"{name} {value}"] = 1.0


def _add(out: Features, name: str, value: float) -> None:
    out[name] = out.get(name, 0.0) + value
