"""Rule `phrase_users`: every word of a query, or the whole query, must be asked by enough people; else a phrase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.policy.draft import Draft, Help, counted_people
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting
from querycloak.texts.compared import compared
from querycloak.texts.phrases import PHRASE, QUERY, shared_texts
from querycloak.texts.text_settings import TextRule

__all__ = ["PhraseUsers", "keep_shared_phrases", "reason_of"]

_NONE: Final = np.zeros(0, dtype=np.int32)
_NO_CONCEPTS: Final = ConceptLog(np.zeros(0, dtype=np.int64), _NONE, _NONE, _NONE)
"""A policy publishes queries and their phrases, never labels of concepts."""


@dataclass(frozen=True)
class PhraseUsers(Rule):
    """Settings of `phrase_users`."""

    name: ClassVar[str] = "phrase_users"
    required: ClassVar[tuple[str, ...]] = ("people",)

    people: int = setting(1, "so many people must have asked it", minimum=1)
    every: str = setting(
        "word", "what so many people must have asked: every word, or the query as a whole", choices=("word", "query")
    )
    rare: str = setting(
        "drop",
        "other queries: drop = are left out, cut = are cut to their longest phrase that so many people asked",
        choices=("drop", "cut"),
    )


def keep_shared_phrases(draft: Draft, rule: PhraseUsers, given: Help) -> Draft:
    """Keep queries whose every word, or which as a whole, enough people asked; cut others, or leave them out."""
    import polars as pl

    table = draft.table
    # As far as identifiers and names may be published, the rule `identifiers` has decided that before.
    shared = shared_texts(
        table,
        TextRule(people=rule.people, rare="phrase" if rule.rare == "cut" else "drop", identifiers="keep"),
        concepts=_NO_CONCEPTS,
        taxonomy=given.taxonomy,
    )
    whole = _every_word(draft, rule.people) if rule.every == "word" else shared.kind == QUERY
    phrase = (shared.kind == PHRASE) | (shared.kind == QUERY)
    kept = draft.keep((whole | phrase if rule.rare == "cut" else whole)[table.query], reason_of(rule))
    text = np.maximum(shared.text, 0)
    words = shared.words.gather(text) if len(shared.words) else table.queries
    plain = compared(table.queries)
    # A query that is kept for its words alone may be one person's: it is published without his spelling of it.
    own = pl.Series(~phrase | (whole & (shared.kind == PHRASE)))
    cut = int((~whole[kept.table.query]).sum())
    shown = kept.with_texts(pl.select(pl.when(own).then(plain).otherwise(words)).to_series(), cut=cut > 0)
    return shown.count("phrase_users: rows cut to a phrase", cut)


def reason_of(rule: PhraseUsers) -> str:
    """Return why other queries are left out."""
    """Return why other queries are left out."""
    if rule.rare == "cut":
        return f"phrase_users: no phrase asked by {rule.people} people"
    what = "a word of it" if rule.every == "word" else "the query"
    return f"phrase_users: {what} asked by fewer than {rule.people} people"


def _every_word(draft: Draft, people: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """bool[distinct queries]: at least so many people asked each of its words, in any of their queries."""
    table = draft.table
    split = compared(table.queries).str.split(" ")
    word = split.explode().rank("dense").to_numpy().astype(np.int64) - 1
    start = np.concatenate([[0], np.cumsum(split.list.len().to_numpy().astype(np.int64))]).astype(np.int64)
    words = Ragged(start, word)
    asked = words.take(table.query)
    known = counted_people(asked.values, table.user[asked.owner], int(word.max(initial=-1)) + 1)
    few = np.bincount(words.owner[known[word] < people], minlength=words.rows)
    return np.asarray(few == 0)
