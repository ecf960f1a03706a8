"""A few rows before and after, for a page that a person reads: rare words are masked, ids are numbers.

A word that fewer than `SHARED` people of the log asked is masked by dots, letter by letter. Words that many ask can
make a text that one person alone asked: of a text that fewer than `SHARED` people asked as a whole, only its most
common word is shown. A text that holds a person's name is masked as a whole. So the sample shows the form of rows and
not who asked them. The page is still internal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.randomness import Randomness
from querycloak.texts.names import find_names

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["SHARED", "Sample", "sample_rows"]

SHARED: Final = 10
ROWS: Final = 8
_TOKEN: Final = re.compile(r"[^\W_]+|[^ -/:-@\[-`{-~]")
"""A word, or any character but a space and the punctuation of ASCII: accents and signs are letters of a script, too."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows as (who, text), masked."""

    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]


def sample_rows(log: QueryLog, release: Release, seed: int, *, masked: bool = True, rows: int = ROWS) -> Sample:
    """Draw at most so many rows of the log and of the release, all alike.

    Those that are not `masked` are the same rows as they are: for whoever may read the log, and only where asked.
    """
    random = Randomness(seed).child("sample")
    words, texts = (_people_per_word(log), _shared_texts(log)) if masked else (None, frozenset[str]())
    return Sample(
        before=_rows(log, random.child("before"), words, texts, "person", rows),
        after=_rows(release.log, random.child("after"), words, texts, "id" if release.has_users else "", rows),
    )


def _rows(
    table: QueryLog, random: Randomness, words: dict[str, int] | None, texts: frozenset[str], who: str, most: int
) -> tuple[tuple[str, str], ...]:
    """Draw rows; `words` None = they are not masked."""
    if len(table) == 0:
        return ()
    chosen = np.unique(random.integers(len(table), most))
    import polars as pl

    codes = table.query[chosen].tolist()
    chosen_texts = pl.Series([table.queries[code] if code >= 0 else "" for code in codes], dtype=pl.String)
    numbers = {user: i + 1 for i, user in enumerate(dict.fromkeys(table.user[chosen].tolist()))}
    shown = chosen_texts.to_list()
    if words is not None:
        named = find_names(chosen_texts, load_wordnet())
        shown = [_masked(text, {} if name else words, texts) for text, name in zip(shown, named.tolist(), strict=True)]
    ids = [f"{who} {numbers[user]}" if who else "" for user in table.user[chosen].tolist()]
    return tuple(zip(ids, shown, strict=True))


def _masked(text: str, words: dict[str, int], texts: frozenset[str]) -> str:
    """Mask what few people asked; `words`: the people of each word that enough people asked."""
    shared = {word for token in _TOKEN.findall(text) if (word := token.lower()) in words}
    if shared and _plain(text) not in texts:
        shared = {max(shared, key=lambda word: (words[word], word))}
    return _TOKEN.sub(lambda m: m[0] if m[0].lower() in shared else "•" * len(m[0]), text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _shared_texts(log: QueryLog) -> frozenset[str]:
    """Return the whole texts that enough people asked."""
    people = log.users_per_query()
    return frozenset(_plain(log.queries[code]) for code in np.flatnonzero(people >= SHARED).tolist())


def _people_per_word(log: QueryLog) -> dict[str, int]:
    """Return how many people asked each word, for the words that enough people asked."""
    import polars as pl

    words = pl.DataFrame({"query": np.arange(len(log.queries)), "text": log.queries}).select(
        "query", word=pl.col("text").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+")
    )
    asked = pl.DataFrame({"user": log.user, "query": log.query.astype(np.int64)}).unique()
    people = (
        asked.join(words.explode("word").drop_nulls().unique(), on="query")
        .group_by("word")
        .agg(pl.col("user").n_unique().alias("people"))
        .filter(pl.col("people") >= SHARED)
    )
    return dict(zip(people["word"].to_list(), people["people"].to_list(), strict=True))
