"""Sweep, what naive publishers do: new ids, queries with personal identifiers and rare queries out. No guarantee."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak._version import __version__
from querycloak.progress import QUIET, Progress
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.settings import Settings, setting
from querycloak.texts.identifiers import find_identifiers, what_was_searched

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["Sweep", "sweep"]


@dataclass(frozen=True)
class Sweep(Settings):
    """Settings of `sweep`."""

    min_query_users: int = setting(1, "leave out queries asked by fewer users than this; 1 keeps all", minimum=1)
    identifiers: bool = setting(True, "leave out queries with mail, phone, card, social-security numbers or addresses")
    hash_tokens: bool = setting(False, "publish each word as a keyed hash; the key is thrown away")


def sweep(log: QueryLog, settings: Sweep, random: Randomness, progress: Progress = QUIET) -> LogRelease:
    """Put every user under a new id and drop the queries that look dangerous.

    One row is published per query event: the further rows of a query with several clicks hold nothing but clicks.
    """
    progress.start("sweeping", total=len(log.queries))
    rare = log.users_per_query() < settings.min_query_users  # bool[distinct queries]
    personal = np.zeros(len(log.queries), dtype=np.bool_)
    if settings.identifiers:
        personal = find_identifiers(log.queries) != 0
    progress.advance(len(log.queries))

    event = log.event
    is_personal = event & personal[log.query]
    is_rare = event & ~is_personal & rare[log.query]
    keep = np.flatnonzero(event & ~is_personal & ~is_rare)
    words = _hash_tokens(log.queries, random) if settings.hash_tokens else log.queries
    published, truth, used = under_new_ids(log, log.user[keep], log.query[keep], random, queries=words)
    statement = PrivacyStatement(
        method="sweep",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        text_users=settings.min_query_users,
        identifiers_dropped=settings.identifiers,
        covers=(),
        does_not_cover=_does_not_cover(settings),
        randomness=random.describe(),
        new_ids=True,
        counts_in=count_in(log),
        counts_out=count_out(published),
        dropped={
            "further clicks of a query": int((~event).sum()),
            "personal identifier": int(is_personal.sum()),
            f"asked by fewer than {settings.min_query_users} users": int(is_rare.sum()),
        },
    )
    readings = log.queries.gather(used) if settings.hash_tokens else None
    return publish_log(published, statement, truth, Evidence(log, readings=readings))


def _does_not_cover(settings: Sweep) -> tuple[str, ...]:
    text = "words are published as keyed hashes; their frequencies can give them away"
    return (
        "all queries of a user stay under one id: who knows some of a user's queries can find the rest",
        text if settings.hash_tokens else "queries are published verbatim",
        what_was_searched(identifiers=settings.identifiers),
        "the number and the order of each user's queries are visible",
    )


def _hash_tokens(queries: pl.Series, random: Randomness) -> pl.Series:
    """Replace each word by 12 hexadecimal digits of a keyed hash; equal words stay equal, the key is thrown away."""
    import polars as pl

    key = random.child("token key").words(4).tobytes()
    known: dict[str, str] = {}

    def token(word: str) -> str:
        if word not in known:
            known[word] = hmac.new(key, word.encode(), hashlib.sha256).hexdigest()[:12]
        return known[word]

    return pl.Series([" ".join(token(w) for w in q.split() or [q]) for q in queries.to_list()], dtype=pl.String)
