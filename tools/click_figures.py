"""How good categories learned from clicks are: docs/directories.md has the tables.

    python tools/click_figures.py LOG DIRECTORY       a log with clicks
    python tools/click_figures.py DIRECTORY           sites whose names are words (wild-animals.org) as queries, each
                                                      with a click on itself, by a user of its own

A fifth of the texts, with all of their clicks, is kept away from learning. Of the votes for these (one per user and
query) that have a known word it prints the share that gets an answer, and how many answers agree with the click; next
to it, how many queries of 4 to 11 random letters get one. `majority` always answers the commonest top category. Nothing
printed shows a query.
"""

from __future__ import annotations

import random
import sys
import time
from hashlib import sha256
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from querycloak import api
from querycloak.knowledge.vectors import load_vectors
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.click_categories import learn_from_clicks, rows_of, votes_of

if TYPE_CHECKING:
    from querycloak.knowledge.directory import SiteDirectory

NAME = r"^(?:www\.)?([a-z]{3,}(?:-[a-z]{2,})+)\.[a-z.]+$"
ALWAYS = 1e-9


def names_as_log(directory: SiteDirectory) -> QueryLog:
    """Return a log in which each site with a name of several words was asked for once, and clicked."""
    named = directory.sites.with_columns(name=pl.col("site").str.extract(NAME)).drop_nulls("name")
    texts = named["name"].str.replace_all("-", " ", literal=True).to_list()
    return QueryLog.of([f"user {i}" for i in range(len(texts))], texts, urls=named["site"].to_list())


def main() -> None:
    """Print the figures."""
    *log_path, directory_path = map(Path, sys.argv[1:])
    directory = api.load_directory(directory_path)
    log = api.read_log(log_path[0]) if log_path else names_as_log(directory)
    vectors = load_vectors()
    kept_away = np.array([sha256(text.encode()).digest()[0] % 5 == 0 for text in log.queries.to_list()])
    cast = votes_of(log.take(kept_away[log.query]), directory)
    texts = log.queries.gather(cast["query"]).to_list()
    known = rows_of(texts, vectors)[1]
    texts = [text for text, has in zip(texts, known, strict=True) if has]
    votes, truth = cast["votes"].to_numpy()[known], cast["category"].to_numpy()[known]
    total = votes.sum()
    print(f"{total:,} votes kept away; majority: {np.bincount(truth, weights=votes).max() / total:.1%} right")
    draw = random.Random(1)
    nonsense = ["".join(draw.choices(ascii_lowercase, k=draw.randrange(4, 12))) for _ in range(10_000)]
    print("asked precision | answered | right | random letters answered | seconds to learn")
    for precision in (ALWAYS, 0.5, 0.6, 0.7, 0.8):
        start = time.perf_counter()
        learned = learn_from_clicks(log.take(~kept_away[log.query]), directory, vectors, precision=precision)
        seconds = time.perf_counter() - start
        answer = learned.categories(texts)
        given = answer >= 0
        right = votes[given & (answer == truth)].sum() / max(1, votes[given].sum())
        asked = "none" if precision == ALWAYS else f"{precision:.0%}"
        control = (learned.categories(nonsense) >= 0).mean()
        shares = [f"{share:.1%}" for share in (votes[given].sum() / total, right)]
        print(asked, *shares, f"{control:.2%}", f"{seconds:.1f}", sep=" | ", flush=True)


if __name__ == "__main__":
    main()
