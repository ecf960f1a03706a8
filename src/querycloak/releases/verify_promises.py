"""What a statement promises of texts, times, clicks and budgets, counted again on the table: a statement can be edited.

Labels in brackets need the meaning of queries, and are left to `check`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from querycloak.errors import UserError
from querycloak.logs.query_log import NO_CODE
from querycloak.releases.column_checks import is_written_of_grain, people_per_click
from querycloak.releases.composition import compose
from querycloak.releases.text_checks import people_by_letters

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Recount", "verify_promises"]

NO_LOG = "the log is not at hand; give it with --log"


class Recount(NamedTuple):
    """One promise: what it is, whether it holds (None = cannot be told), what was seen."""

    check: str
    holds: bool | None
    seen: str


def verify_promises(release: Release, original: QueryLog | None) -> Iterator[Recount]:
    """Count again what is promised; a promise that is not made is not looked at."""
    log, statement = release.log, release.statement
    if statement.time_grain:
        holds = log.time is not None and is_written_of_grain(log.time, statement.time_grain)
        yield Recount(
            f"times are rounded to the {statement.time_grain}", holds, "they are" if holds else "they are not"
        )
    if "epsilon" in statement.parameters and statement.account:
        yield _account(statement)
    if "epsilon" in statement.parameters or release.holds_concepts:
        return
    texts = log.queries.gather(np.unique(log.query[log.query != NO_CODE]))
    texts = texts.filter(~(texts.str.starts_with("[") & texts.str.ends_with("]"))) if statement.parts else texts
    if statement.identifiers_dropped:
        from querycloak.texts.identifiers import find_identifiers

        few = int((find_identifiers(texts) != 0).sum())
        yield Recount("no published text holds an identifier", few == 0, f"{few:,} of {len(texts):,} different texts")
    if statement.text_users > 1:
        yield _texts(release, texts, original)
    if statement.click_users > 1:
        yield _clicks(release, original)


def _account(statement: PrivacyStatement) -> Recount:
    """Add up what the mechanisms spent, by the code that ledgers use."""
    promised = statement.parameters["epsilon"], statement.parameters.get("delta", 0.0)
    check = f"the account adds up to at most epsilon {promised[0]:g}, delta {promised[1]:g}"
    try:
        epsilon, delta = compose(statement.account, promised[1])
    except UserError:
        return Recount(check, None, "it has Gaussian noise, and OpenDP is not installed: pip install 'querycloak[dp]'")
    holds = epsilon <= promised[0] and delta <= promised[1]
    return Recount(check, holds, f"epsilon {epsilon:.6g}, delta {delta:.6g}")


def _texts(release: Release, texts: pl.Series, original: QueryLog | None) -> Recount:
    statement = release.statement
    check = f"every published text is of at least {statement.text_users} people"
    if original is None:
        return Recount(check, None, NO_LOG)
    if statement.settings.get("hash_tokens"):
        return Recount(check, None, "words are published as hashes")
    few = int((people_by_letters(original, texts, statement) < statement.text_users).sum())
    labels = "; labels in brackets are not counted here, `check` does" if statement.parts else ""
    return Recount(check, few == 0, f"{few:,} of {len(texts):,} different texts are of fewer{labels}")


def _clicks(release: Release, original: QueryLog | None) -> Recount:
    statement = release.statement
    check = f"every published click is of at least {statement.click_users} people"
    if original is None or statement.settings.get("hash_tokens"):
        return Recount(check, None, NO_LOG if original is None else "words are published as hashes")
    rows, people = people_per_click(original, release.log)
    few = int((people < statement.click_users).sum())
    without = original.url is None and release.log.url is not None
    return Recount(check, few == 0 and not without, f"{few:,} of {len(rows):,} are of fewer")
