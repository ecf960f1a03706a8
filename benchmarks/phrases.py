"""Shared phrases of a large log: 5 million rows in 60 s or less, with 4 GB or less; time grows with the rows.

The log is a generated one; each size is counted in a process of its own, so that its peak memory can be told. What is
measured is `shared_texts` with the default rule, m = 5, identifiers and names looked for: whole queries and phrases,
and labels, for which every distinct query is given two random concepts (mapping is measured in `mapping.py`).

    python benchmarks/phrases.py            1.25, 2.5 and 5 million rows
    python benchmarks/phrases.py 100000     one size, to try
"""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.randomness import Randomness
from querycloak.texts.phrases import shared_texts
from querycloak.texts.text_settings import TextSettings

SIZES = (1_250_000, 2_500_000, 5_000_000)
ROWS_PER_EVENT = 1.27
"""of a generated log: some query events have several clicks"""
QUERIES_PER_USER = 56


def make(rows: int, path: Path) -> None:
    """Write a generated log with just so many rows."""
    events = int(rows / ROWS_PER_EVENT * 1.02)
    settings = Generate(users=events // QUERIES_PER_USER, queries=events)
    log = generate(settings, load_wordnet(), Randomness(seed=1)).log
    assert len(log) >= rows
    with path.open("wb") as file:
        pickle.dump((log.user[:rows], log.users, log.query[:rows], log.queries), file, protocol=5)


def concepts_of(log: QueryLog, n_concepts: int) -> ConceptLog:
    """Two random concepts for each row, the same for equal queries."""
    random = np.random.default_rng(1)
    concept = random.integers(0, n_concepts, (len(log.queries), 2), dtype=np.int32)[log.query].ravel()
    row = np.repeat(np.arange(len(log)), 2)
    return ConceptLog(row, log.user[row], log.query[row], concept)


def measure(path: Path) -> None:
    """Count the phrases of a log twice; the first time compiles the kernels."""
    taxonomy = load_wordnet()
    small = QueryLog.of(["a", "b"], ["green tea", "green tea cup"])
    shared_texts(small, TextSettings(min_query_users=2).rule, concepts=concepts_of(small, 9), taxonomy=taxonomy)
    with path.open("rb") as file:
        log = QueryLog(*pickle.load(file))
    concepts = concepts_of(log, len(taxonomy))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start, processor = time.perf_counter(), time.process_time()
    found = shared_texts(log, TextSettings().rule, concepts=concepts, taxonomy=taxonomy)
    spent, processor = time.perf_counter() - start, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    shares = np.bincount(found.kind[log.query], minlength=4) / len(log)
    kinds = " ".join(f"{share:6.1%}" for share in shares)
    print(
        f"{len(log):>10,} {len(log.queries):>10,} {spent:>7.1f} s {processor:>7.1f} s {peak:>6.2f} GB "
        f"{before:>6.2f} GB   {kinds}",
        flush=True,
    )


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    print(
        f"{'rows':>10} {'queries':>10} {'time':>9} {'processor':>9} {'peak':>9} {'before':>9}   whole phrase label none"
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            path = Path(folder) / "log.pickle"
            for step in ("make", "measure"):
                subprocess.run([sys.executable, __file__, step, str(rows), str(path)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(int(sys.argv[2]), Path(sys.argv[3]))
    elif sys.argv[1:2] == ["measure"]:
        measure(Path(sys.argv[3]))
    else:
        main()
