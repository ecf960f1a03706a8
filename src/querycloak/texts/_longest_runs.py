"""The longest run of words of each text that many people share and that may be published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import row_starts
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.texts._phrases_kernels import choose_runs, count_people_of_runs, number_runs
from querycloak.texts.compared import code_texts
from querycloak.texts.words import JOINED, in_words, joined_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from querycloak.arrays.ragged import Ragged

__all__ = ["LONGEST", "Runs", "Words", "longest_runs", "run_texts", "split_words"]

LONGEST: Final = 6
"""Words of the longest phrase."""

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Runs(NamedTuple):
    """The run of each form."""

    text: Int64s
    """int64[forms], into `texts`; -1 = none"""
    texts: pl.Series
    """distinct runs, as they are in the compared texts"""
    people: Int64s
    """int64[texts]: how many people hold each"""


class Words(NamedTuple):
    """The words of all forms, one form after the other."""

    words: pl.Series
    """the words, marked as `in_words` does"""
    word: Int64s
    """int64[positions]: 2 x code, + 1 where the word is joined to the one before it"""
    start: Int64s
    """int64[forms + 1]"""
    content: Bools
    """bool[positions]: the word is no stop word, and holds a letter or a digit"""


def longest_runs(
    forms: pl.Series,
    people_of: Ragged,
    n_users: int,
    least: int,
    wanted: Int64s,
    may: Callable[[pl.Series, Int64s], Bools],
) -> Runs:
    """Find the best run of each form in `wanted`; `people_of`: row f = the people who asked form f, each once.

    `may(texts, people)` tells which runs may be published at all; it is asked only about runs that would be.
    """
    import polars as pl

    split = split_words(forms)
    gram, people, good = _shared_runs(split, people_of, n_users, least)
    at, length = np.zeros(len(forms), dtype=np.int64), np.zeros(len(forms), dtype=np.int32)
    text_of = np.full(len(people), -1, dtype=np.int64)  # run → its text, where it was asked about
    texts: list[pl.Series] = []
    known, turn = 0, wanted
    while len(turn):
        choose_runs(turn, split.start, gram, people, good, at, length)
        turn = turn[length[turn] > 0]
        run = gram[length[turn] - 1, at[turn]]
        new, first = np.unique(run, return_index=True)
        unasked = text_of[new] < 0
        new, first = new[unasked], turn[first[unasked]]
        shown = run_texts(split.words, at[first], length[first])
        good[new] = may(shown, people[new].astype(np.int64))
        text_of[new] = known + np.arange(len(new))
        texts.append(shown)
        known += len(new)
        turn = turn[~good[run]]
    out = np.full(len(forms), -1, dtype=np.int64)
    found = wanted[length[wanted] > 0]
    out[found] = text_of[gram[length[found] - 1, at[found]]]
    count = np.zeros(known, dtype=np.int64)
    asked = np.flatnonzero(text_of >= 0)
    count[text_of[asked]] = people[asked]
    return Runs(out, pl.concat(texts) if texts else pl.Series([], dtype=pl.String), count)


def split_words(forms: pl.Series) -> Words:
    """Take forms apart into words."""
    import polars as pl

    lists = in_words(forms).str.split(" ")
    start = row_starts(lists.list.len().to_numpy())
    words = lists.explode()  # an empty form is one empty word, which is no content
    joined = words.str.starts_with(JOINED)
    code, first = code_texts(words.str.strip_prefix(JOINED))
    distinct = words.gather(first).str.strip_prefix(JOINED)
    empty_of_meaning = distinct.is_in(pl.Series(sorted(STOP_WORDS)).implode()) | ~distinct.str.contains(r"[\p{L}\p{N}]")
    return Words(words, 2 * code + joined.to_numpy(), start, ~empty_of_meaning.to_numpy()[code])


def _shared_runs(
    split: Words, people_of: Ragged, n_users: int, least: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Bools]:
    """Return the runs that at least `least` people hold.

    int32[LONGEST, positions], the number of the run of n + 1 words that begins at each position, -1 = none;
    int32[runs], its people; bool[runs], whether it holds a word that says something.
    """
    n_words = len(split.word)
    lengths = np.diff(split.start)
    form = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    left = (split.start[1:][form] - np.arange(n_words)).astype(np.int32)
    gram = np.full((LONGEST, n_words), -1, dtype=np.int32)
    width = int(split.word.max(initial=0)) + 1
    people: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int32)]
    content: list[Bools] = [np.zeros(0, dtype=np.bool_)]
    says = np.zeros(n_words, dtype=np.bool_)  # the run that begins here holds a word of content
    known = 0
    previous = np.zeros(n_words, dtype=np.int32)  # runs of n - 1 words, numbered within their length
    for n in range(1, LONGEST + 1):
        numbered = np.empty(n_words, dtype=np.int32)
        runs = number_runs(n, split.word, left, previous, width, numbered)
        count = count_people_of_runs(numbered, runs, form, people_of, n_users)
        enough = count >= least
        if not enough.any():
            break
        kept = np.where(enough, np.cumsum(enough) - 1, -1).astype(np.int32)
        at = np.flatnonzero(numbered >= 0)
        previous = np.full(n_words, -1, dtype=np.int32)
        previous[at] = kept[numbered[at]]
        at = np.flatnonzero(previous >= 0)
        says[at] |= split.content[at + n - 1]
        some = np.zeros(int(enough.sum()), dtype=np.bool_)
        some[previous[at]] = says[at]
        gram[n - 1, at] = previous[at] + known
        known += len(some)
        people.append(count[enough])
        content.append(some)
    return gram, np.concatenate(people), np.concatenate(content)


def run_texts(words: pl.Series, at: Int64s, length: npt.NDArray[np.int32]) -> pl.Series:
    """Return runs of words as texts, by where they begin and how many words they have."""
    import polars as pl

    start = row_starts(length)
    index = np.arange(start[-1]) + np.repeat(at - start[:-1], length)
    run = np.repeat(np.arange(len(at)), length)
    table = pl.DataFrame({"run": run, "word": words.gather(index)})
    joined = table.group_by("run", maintain_order=True).agg(pl.col("word").str.join(" "))
    return joined_texts(joined["word"])
