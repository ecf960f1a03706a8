"""Is a user of the log published inside a text? Found by comparing the published texts with the log's user ids.

New ids in the user column prove nothing where the ids were read as queries: then they are published as texts. Texts and
ids are compared without regard to case, to spaces around them and to forms of the same character (NFKC).

A text that **equals** an id names a user

- always, where nobody in the log typed that text: it can only come from the user column;
- where somebody typed it as well, unless the id is a plain number of less than five digits (a year), or a longer one
  that another user typed (a postal code): in a log with many numeric ids some numbers are both, by chance.

An id **inside** a longer text, as a whole word, names a user where it is no ordinary word or number: it has a letter,
at least five characters, and a digit, a space or one of `@ . _ -` in it, as `anna.schmidt`, `Anna Schmidt`, `user17`,
mail addresses and hexadecimal ids have. "tiger" may be somebody's id, and "tiger woods" is still a query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = ["texts_with_ids"]

NUMBER: Final = r"^[0-9]+$"
SHORT: Final = r"^[0-9]{1,4}$"
TELLING: Final = re.compile(r"(?=.*[^\W\d_])(?=.*[\d\s@._-]).{5,}")
"""an id that is no ordinary word or number"""
WORD: Final = r"[^\s,;:!?\"'()<>\[\]{}]+"


def texts_with_ids(published: pl.Series, log: QueryLog) -> int:
    """Return how many of the published texts are, or hold, the id of a user of the log."""
    texts = pl.DataFrame({"text": _plain(published)})
    ids = _plain(log.users)
    equal = texts["text"].is_in(ids.implode()) & ~texts["text"].is_in(_innocent(log, ids).implode())
    found = equal.to_numpy().copy()
    telling = pl.Series([i for i in ids.unique().to_list() if TELLING.fullmatch(i)], dtype=pl.String)
    one_word = telling.filter(~telling.str.contains(r"\s"))
    if len(one_word):
        words = texts["text"].str.extract_all(WORD).list.eval(pl.element().str.strip_chars(".-"))
        hits = pl.DataFrame({"word": words}).with_row_index().explode("word")
        hits = hits.filter(pl.col("word").is_in(one_word.implode()))
        found[hits["index"].unique().to_numpy()] = True
    several = telling.filter(telling.str.contains(r"\s"))
    if len(several):
        found |= _holds_words(texts["text"], several)
    return int(found.sum())


def _plain(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFKC").str.strip_chars().str.to_lowercase()


def _innocent(log: QueryLog, ids: pl.Series) -> pl.Series:
    """Return the ids that may be published as a text: numbers that people typed for other reasons than the user."""
    numbers = ids.filter(ids.str.contains(NUMBER)).unique()
    if not len(numbers):
        return numbers
    queries = _plain(log.queries)
    typed = np.flatnonzero(queries.is_in(numbers.implode()).to_numpy())
    rows = np.flatnonzero(np.isin(log.query, typed))
    asked = pl.DataFrame({"text": queries.gather(log.query[rows]), "user": ids.gather(log.user[rows])})
    by_others = asked.filter((pl.col("text") != pl.col("user")) | pl.col("text").str.contains(SHORT))
    return by_others["text"].unique()


def _holds_words(texts: pl.Series, ids: pl.Series) -> npt.NDArray[np.bool_]:
    """bool[texts]: whether ids of several words are in them, each as whole words."""
    known = {tuple(i.split()) for i in ids.to_list()}
    sizes = sorted({len(words) for words in known})
    out = np.zeros(len(texts), dtype=np.bool_)
    for at, text in enumerate(texts.to_list()):
        words = [w.strip(".-") for w in re.findall(WORD, text)]
        out[at] = any(tuple(words[i : i + n]) in known for n in sizes for i in range(len(words) - n + 1))
    return out
