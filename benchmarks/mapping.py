"""How fast distinct queries become concepts, on one core: the claim is 200,000 a second after warm-up.

    python benchmarks/mapping.py [LOG of user, time, query by tabs]

Generated queries are one to three labels of WordNet with function words between. Warm-up maps other queries of the
same kind, so that the words are known and the queries are not; real queries are made new by blanks at the end.
Seconds are those of the processor, which other work on the machine lengthens less than the clock's. Cold is the first
call: it loads tables and kernels, and meets all words for the first time. Few queries (the real log, cold) are read one
by one; "left" is the share of those read in bulk that kernels leave to the reference, such as web addresses.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import perf_counter, process_time

import polars as pl

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper
from querycloak.mapping.bulk_words import split_texts
from querycloak.mapping.lexicon import lexicon_of
from querycloak.mapping.parallel import LEAST_BULK

QUERIES = 200_000
GLUE = ("", "", "", "", "", "in the", "for", "and", "how to", "free", "cheap", "buy")


def generated(seed: int) -> list[str]:
    chance = random.Random(seed)
    labels = [label for labels in load_wordnet().labels for label in labels]
    found: dict[str, None] = {}
    while len(found) < QUERIES:
        parts = [part for _ in range(chance.randint(1, 3)) for part in (chance.choice(GLUE), chance.choice(labels))]
        found[" ".join(filter(None, parts)).lower()] = None
    return list(found)


def real(path: str) -> list[str]:
    lines = Path(path).read_text("utf-8", errors="replace").splitlines()
    return list(dict.fromkeys(line.split("\t")[2] for line in lines if line.count("\t") >= 2))


def timed(mapper: Mapper, queries: list[str]) -> float:
    start = process_time()
    mapper.map_queries(queries, workers=1)
    return process_time() - start


def main() -> None:
    start = perf_counter()
    wordnet = load_wordnet()
    print(f"WordNet read in {perf_counter() - start:.2f} s")
    first, second = generated(1), generated(2)
    known = set(first)
    second = [query for query in second if query not in known]
    print("| mode | queries | words a query | labels read, s | cold, queries/s | warm, queries/s | left |")
    print("|---|---|---|---|---|---|---|")
    timed(Mapper(wordnet), first[:LEAST_BULK])  # compiles the kernels, where they are not cached
    lexicon_of.cache_clear()
    for mode in ("layers", "certain", "segments", "phrases"):
        start = process_time()
        mapper = Mapper(wordnet, mode)
        build = process_time() - start
        cold, warm = timed(mapper, first), timed(mapper, second)
        _row(mode, "generated", second, build, len(first) / cold, len(second) / warm, left(mapper, second))
        if len(sys.argv) > 1:
            queries = real(sys.argv[1])
            fresh = Mapper(wordnet, mode)
            cold = timed(fresh, queries)
            again = [f"{query} {other}" for query, other in zip(queries, reversed(queries), strict=True)]
            copies = [f"{query}{' ' * i}" for i in range(1, 21) for query in queries]
            timed(fresh, [f" {query}" for query in copies])
            warm = len(copies) / timed(fresh, copies)
            _row(mode, "real", queries, build, len(queries) / cold, warm, left(fresh, queries))
            joined = len(again) / timed(fresh, again)
            _row(mode, "real, two joined", again, build, float("nan"), joined, float("nan"))


def left(mapper: Mapper, queries: list[str]) -> float:
    """Return the share of queries that kernels leave to the reference."""
    if mapper.reader.bulk is None:
        return float("nan")
    return len(split_texts(pl.Series(queries)).odd) / len(queries)


def _row(mode: str, kind: str, queries: list[str], build: float, cold: float, warm: float, left: float) -> None:
    words = sum(len(query.split()) for query in queries) / len(queries)
    rates = f"{cold:,.0f} | {warm:,.0f} | {left:.1%}"
    print(f"| {mode} | {len(queries):,} {kind} | {words:.1f} | {build:.2f} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
