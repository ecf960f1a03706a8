"""Sweep: new ids, and of each query only what many people share. No guarantee.

With `as_in_paper` it is what naive publishers do: new ids and nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak._version import __version__
from querycloak.progress import QUIET, Progress
from querycloak.releases.columns import ColumnSettings, KeptColumns
from querycloak.releases.kinds import with_kinds
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_in, count_out, under_new_ids
from querycloak.settings import setting
from querycloak.texts.phrases import NOT_PUBLISHED, NOTHING, shared_texts
from querycloak.texts.text_promises import covered_texts, exposed_texts, promised_texts
from querycloak.texts.text_settings import TextSettings

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["Sweep", "exposed_by", "hash_tokens", "sweep", "token_key"]


@dataclass(frozen=True)
class Sweep(ColumnSettings, TextSettings):
    """Settings of `sweep`."""

    hash_tokens: bool = setting(False, "publish each word as a keyed hash; the key is thrown away")


def sweep(
    log: QueryLog,
    settings: Sweep,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Put every user under a new id; publish of each query what many people share.

    One row is published per query event, and with clicks one per click that is kept.
    """
    progress.start("sweeping", total=len(log.queries))
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=taxonomy)
    progress.advance(len(log.queries))

    event = log.event
    keep = np.flatnonzero(event & (shared.kind != NOTHING)[log.query])
    query = log.query[keep]
    words = hash_tokens(shared.words, token_key(random)) if settings.hash_tokens else shared.words
    kept = KeptColumns.of(log, settings, settings.rule, shared.text, shared.words)
    table = under_new_ids(
        log, log.user[keep], shared.text[query].astype(np.int32), random, queries=words, rows=keep, kept=kept
    )
    if settings.kinds == "column":
        table = with_kinds(table, shared.kind[query])
    counts = shared.counts(log.query[event])
    further = int((~event).sum()) - (len(table.log) - len(keep))  # those that are published are rows
    dropped = {"further clicks of a query": further, NOT_PUBLISHED: counts.pop(NOT_PUBLISHED)}
    statement = PrivacyStatement(
        method="sweep",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        **promised_texts(settings),
        **kept.promises,
        covers=covered_texts(settings, log),
        does_not_cover=(*exposed_by(settings), *kept.exposes),
        randomness=random.describe(),
        new_ids=True,
        counts_in=count_in(log),
        counts_out=count_out(table.log),
        dropped=dropped,
        figures={**counts},
    )
    readings = shared.words.gather(table.queries_used) if settings.hash_tokens else None
    evidence = Evidence(log, readings=readings, concepts=concepts, taxonomy=taxonomy)
    return publish_log(table.log, statement, table.truth, evidence)


def exposed_by(settings: Sweep) -> tuple[str, ...]:
    """Return what a sweep leaves open, for `does_not_cover`."""
    hashed = ("words are published as keyed hashes; their frequencies can give them away",)
    return (
        "all queries of a user stay under one id: who knows some of a user's queries can find the rest",
        *exposed_texts(settings),
        *(hashed if settings.hash_tokens else ()),
        "the number and the order of each user's queries are visible",
    )


_AS_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def token_key(random: Randomness) -> bytes:
    """Draw the key of the hashes of words; it is thrown away with the process."""
    return random.child("token key").words(4).tobytes()


def hash_tokens(queries: pl.Series, key: bytes) -> pl.Series:
    """Replace each word by 12 letters, a keyed hash; equal words stay equal, the key is thrown away.

    Letters, because some hashes in digits look like phone numbers, and whoever checks the release would find those.
    """
    import polars as pl

    known: dict[str, str] = {}

    def token(word: str) -> str:
        if word not in known:
            known[word] = hmac.new(key, word.encode(), hashlib.sha256).hexdigest()[:12].translate(_AS_LETTERS)
        return known[word]

    return pl.Series([" ".join(token(w) for w in q.split() or [q]) for q in queries.to_list()], dtype=pl.String)
