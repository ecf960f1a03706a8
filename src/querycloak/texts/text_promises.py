"""What a statement says about the texts of a release: the same words for every method that publishes texts of the log.

>>> from querycloak.texts.text_settings import TextSettings
>>> promised_texts(TextSettings(min_query_users=3))
{'text_users': 3, 'parts': True, 'identifiers_dropped': True}
>>> promised_texts(TextSettings(as_in_paper=True))
{'text_users': 1, 'parts': False, 'identifiers_dropped': False}
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict

from querycloak.logs.query_log import MISSING_TIME
from querycloak.texts.identifiers import KINDS

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.texts.text_settings import TextSettings

__all__ = [
    "TextPromises",
    "covered_in",
    "covered_texts",
    "exposed_texts",
    "promised_texts",
    "window_between",
    "window_of",
]


class TextPromises(TypedDict):
    """Fields of a statement: `PrivacyStatement(..., **promised_texts(settings))`."""

    text_users: int
    parts: bool
    identifiers_dropped: bool


def promised_texts(settings: TextSettings) -> TextPromises:
    """Return what the statement promises of published texts; the gate checks it."""
    rule = settings.rule
    return {
        "text_users": rule.promised,
        # where nothing is promised of texts, they are whole queries, and counted as such
        "parts": rule.promised > 1 and rule.rare in {"phrase", "label"},
        "identifiers_dropped": rule.identifiers == "drop",
    }


def covered_texts(settings: TextSettings, log: QueryLog) -> tuple[str, ...]:
    """Return what holds for the texts of a release, for `covers`: nothing where the rule is off."""
    return covered_in(settings, window_of(log))


def covered_in(settings: TextSettings, window: str) -> tuple[str, ...]:
    """Return the same; `window` says which input people were counted over."""
    rule = settings.rule
    if rule.promised <= 1:
        return ()
    shared = {
        "phrase": "is a query of, or a phrase in queries of, or a label in brackets meant by",
        "label": "is a query of, or a label in brackets meant by",
    }.get(rule.rare, "is a query of")
    machines = "" if rule.most_rows is None else f"; ids with more than {rule.most_rows:,} rows count as nobody"
    return (f"every published text {shared} at least {rule.people} people, counted over {window}{machines}",)


def exposed_texts(settings: TextSettings) -> tuple[str, ...]:
    """Return what texts of a release leave open, for `does_not_cover`; of `as_in_paper`, what that exposes."""
    rule = settings.rule
    if settings.as_in_paper:
        return (
            "as in the paper, queries are published verbatim, also those of one person alone, and can name it",
            f"as in the paper, identifiers ({', '.join(KINDS)}) and names of people are published as they were typed",
        )
    if rule.promised <= 1:
        asked = "queries are published verbatim, also those that one person alone asked: such a query can name a person"
    else:
        asked = f"a text that {rule.people} people share can still be told to be of one of them"
    found = ["queries were not searched for personal identifiers"]
    if rule.identifiers == "drop":
        found = [
            f"identifiers are found by pattern ({', '.join(KINDS)}), names by lists; what has no form is not found",
            f"the name of a person is published where at least {rule.famous} people asked it",
        ]
    if settings.kinds == "column":
        found.append("the column kind tells where a rarer query was: for use inside the house")
    return (asked, *found)


def window_of(log: QueryLog) -> str:
    """Say which input people were counted over, by days: in a series each release counts within its own window.

    >>> from querycloak.logs.query_log import QueryLog
    >>> window_of(QueryLog.of(["ann", "bob"], ["tea", "tea"], times=[0, 86_400]))
    "this release's own input, from 1970-01-01 to 1970-01-02"
    >>> window_of(QueryLog.of(["ann"], ["tea"]))
    "this release's own input"
    """
    known = None if log.time is None else log.time[log.time != MISSING_TIME]
    return window_between() if known is None or not len(known) else window_between(int(known.min()), int(known.max()))


def window_between(earliest: int | None = None, latest: int | None = None) -> str:
    """Say the same of an input by its earliest and its latest time, in seconds since 1970; None = there are no times.

    >>> window_between(0, 86_400)
    "this release's own input, from 1970-01-01 to 1970-01-02"
    """
    own = "this release's own input"
    if earliest is None or latest is None:
        return own
    try:
        first, last = (datetime.fromtimestamp(time, UTC).date().isoformat() for time in (earliest, latest))
    except (OverflowError, ValueError, OSError):  # times that are no dates
        return own
    return f"{own}, from {first} to {last}"
