"""A release and its statement as cards in a notebook: what is promised and what is not, nothing of the rows."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from querycloak.display import Html, card, details, facts, items, tag, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.releases.release import Release
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["release_card", "statement_card"]

KINDS: Final = {
    "log": "a query, under a published id",
    "items": "a concept, under a published id",
    "counts": "a query with its count, and no user",
    "stream": "a query, under the id of another user",
}
"""what a row of each kind of release is"""


def release_card(release: Release) -> str:
    """Return what a release is, whether the gate let it through, and its statement."""
    gate = tag("passed the gate", "good") if release.passed else tag("not from the gate", "plain")
    shown = {
        "each row": KINDS[release.kind],
        "published ids": f"{len(release.log.users):,}" if release.has_users else "none",
        "truth": "in memory: never share it" if release.truth is not None else "not here",
    }
    title = f"{type(release).__name__}: {release.statement.method}"
    return card(title, words(gate), *_promises(release.statement, shown))


def statement_card(statement: PrivacyStatement) -> str:
    """Return what a statement promises and what it does not."""
    return card(f"PrivacyStatement: {statement.method}", *_promises(statement))


def _promises(statement: PrivacyStatement, more: Mapping[str, object] = MappingProxyType({})) -> list[Html]:
    shown = {
        "guarantee": statement.model,
        "parameters": ", ".join(f"{name} = {value:g}" for name, value in statement.parameters.items()),
        "protects": statement.unit,
        "rows in": _count(statement.counts_in),
        "rows out": _count(statement.counts_out),
        **more,
        "randomness": statement.randomness,
    }
    lists = {
        "covers": statement.covers,
        "does not cover": statement.does_not_cover,
        "assumes": statement.assumptions,
        "spent": tuple(map(str, statement.account)),
        "left out": tuple(f"{n:,} rows, {reason}" for reason, n in statement.dropped.items() if n),
        "settings": tuple(f"{name} = {value!r}" for name, value in statement.settings.items()),
    }
    folded = [details(f"{name} ({len(texts)})", items(texts)) for name, texts in lists.items() if texts]
    return [facts(shown), *folded]


def _count(counts: dict[str, int]) -> str | None:
    return f"{counts['rows']:,}" if "rows" in counts else None
