"""Texts that no query of the log is, holds or means as they are written: the same words otherwise spelled or ordered.

A release may publish texts in another form than they were asked: without punctuation, in another order of words, with
characters that nobody sees. Such a text gives away as much. So both are brought to one form: letters without accents,
lower case, no invisible characters, no punctuation; the words in any order. A text with the same words as a query is
that query. A text that mixes words of several queries counts as asked by one person where it holds a word that this
person alone asked. Where it holds words that nobody asked, such as a digest or a code, nobody can tell what it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

    from querycloak.arrays.ragged import Ragged

__all__ = ["Respelled", "find_respelled"]

Int64s = npt.NDArray[np.int64]

DROPPED: Final = r"[\p{M}\p{Cf}'\x{2019}`\x{B4}]"
"""Accents, invisible characters and apostrophes: what is around them is one word."""
BETWEEN: Final = r"[^\p{L}\p{N}]+"


class Respelled(NamedTuple):
    """Queries behind some texts; texts and queries are indexes into those given."""

    owner: Int64s
    """int64[pairs], the text"""
    query: Int64s
    """int64[pairs], a query behind it"""
    same: Int64s
    """texts with the same words as a query"""
    held: Int64s
    """texts with a word that one person alone asked"""
    unknown: Int64s
    """other texts with a word that no query holds, or with characters that make no word; an empty text is none"""


def find_respelled(queries: pl.Series, texts: pl.Series, users_of: Ragged) -> Respelled:
    """Find the queries that are texts in another spelling, or hold a word of them that one person alone asked.

    `users_of`: the users of each query, each once.
    """
    import polars as pl

    if not len(texts):
        none = np.zeros(0, dtype=np.int64)
        return Respelled(none, none, none, none, none)
    asked = pl.DataFrame({"query": np.arange(len(queries)), "words": _words(queries)})
    shown = pl.DataFrame({"text": np.arange(len(texts)), "words": _words(texts)}).filter(texts != "")
    bags = [frame.filter(pl.col("words").list.len() > 0).with_columns(bag=pl.col("words").list.sort().list.join(" "))
            for frame in (shown, asked)]  # fmt: skip
    equal = bags[0].join(bags[1], on="bag").select("text", "query")

    rest = shown.join(equal.select("text").unique(), on="text", how="anti")
    wordless = rest.filter(pl.col("words").list.len() == 0)["text"]
    wanted = rest.explode("words").drop_nulls().unique()
    held = asked.explode("words").drop_nulls().unique().join(wanted.select("words").unique(), on="words")
    users = pl.DataFrame({"query": users_of.owner, "user": users_of.values})
    people = held.join(users, on="query").group_by("words").agg(people=pl.col("user").n_unique())
    known = wanted.join(people, on="words", how="left").with_columns(pl.col("people").fill_null(0))
    own = known.filter(pl.col("people") == 1).group_by("text").agg(pl.col("words").min())
    by_word = own.join(held, on="words").select("text", "query")
    unknown = known.filter(pl.col("people") == 0).join(own, on="text", how="anti")["text"].unique()

    pairs = pl.concat([equal, by_word]).unique().sort("text", "query")
    return Respelled(
        owner=pairs["text"].to_numpy().astype(np.int64),
        query=pairs["query"].to_numpy().astype(np.int64),
        same=equal["text"].unique().to_numpy().astype(np.int64),
        held=own["text"].to_numpy().astype(np.int64),
        unknown=np.concatenate([unknown.to_numpy(), wordless.to_numpy()]).astype(np.int64),
    )


def _words(texts: pl.Series) -> pl.Series:
    """Return the words of each text in one form."""
    import polars as pl

    folded = texts.str.normalize("NFKD").str.to_lowercase().str.replace_all(DROPPED, "")
    words = folded.str.replace_all(BETWEEN, " ").str.strip_chars(" ").str.split(" ")
    return words.list.eval(pl.element().filter(pl.element() != ""))
