"""Print what of a log is published by the rule of shared phrases, for several numbers of people, as a table.

    python tools/shared_phrase_figures.py --name Excite excite-small.log
    python tools/shared_phrase_figures.py --generated

The first reads a log, the second makes that of `querycloak generate --users 1000 --queries 56000 --seed 1`. Shares are
of query events; words kept are those of published queries and phrases, over the words of all events. A label keeps no
word. Nothing printed shows a query, unless `--examples N` asks for random phrases and labels to read.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import querycloak as qc
from querycloak.evaluation.workbench import Workbench
from querycloak.texts.compared import compared
from querycloak.texts.phrases import LABEL, NOTHING, PHRASE, QUERY, SharedTexts, shared_texts
from querycloak.texts.text_settings import TextSettings
from querycloak.texts.words import in_words

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import QueryLog

PEOPLE = (3, 5, 10)
USERS, QUERIES = 1_000, 56_000
KINDS = (QUERY, PHRASE, LABEL, NOTHING)


def main() -> None:
    """Read the command line, print the table."""
    parser = argparse.ArgumentParser(description="What of a log is published by the rule of shared phrases.")
    parser.add_argument("log", nargs="?", type=Path)
    parser.add_argument("--name", default="")
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--people", type=int, nargs="*", default=PEOPLE)
    parser.add_argument("--examples", type=int, default=0)
    given = parser.parse_args()
    log = qc.generate(users=USERS, queries=QUERIES, seed=1).log if given.generated else qc.read_log(given.log)
    bench = Workbench(log)
    event = log.query[log.event]
    print(f"{given.name or 'generated'}: {len(event):,} query events of {len(np.unique(log.user)):,} people")
    print("| m | whole query | phrase | label | not published | words kept |\n|---|---|---|---|---|---|")
    for m in given.people:
        rule = TextSettings(min_query_users=m).rule
        found = shared_texts(log, rule, concepts=bench.concepts, taxonomy=bench.taxonomy)
        shares = np.bincount(found.kind[event], minlength=len(KINDS)) / max(len(event), 1)
        print(f"| {m} | {' | '.join(f'{share:.1%}' for share in (*shares, words_kept(log, found)))} |")
        for kind in (PHRASE, LABEL):
            for text in random.sample(
                found.words.gather(np.unique(found.text[found.kind == kind])).to_list(), given.examples
            ):
                print(f"    {text}")


def words_kept(log: QueryLog, found: SharedTexts) -> float:
    """Return the share of words of all query events that are published."""
    event = log.query[log.event]
    verbatim = np.isin(found.kind[event], (QUERY, PHRASE))
    kept = count_words(found.words)[found.text[event[verbatim]]].sum()
    return float(kept / max(count_words(log.queries)[event].sum(), 1))


def count_words(texts: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """int64[texts]: words of each text."""
    return in_words(compared(texts)).str.split(" ").list.len().to_numpy().astype(np.int64)


if __name__ == "__main__":
    main()
