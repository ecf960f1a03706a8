"""Rows per second of a table in memory, next to what Polars needs to encode its user and query columns.

Run: python benchmarks/tables.py [--rows 5000000]. A table of integer users, query texts by a law of Zipf, and times is
read three times; the quickest counts. Seconds of the clock are printed, and those of all processors, which other work
on the machine changes less. Claims, in seconds of processors: a million rows a second or more, and at most twice what
Polars needs to code users and queries by first appearance with its own `unique` and `join`. Exits with 1 where a claim
fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import querycloak as qc

if TYPE_CHECKING:
    from collections.abc import Callable

USERS, QUERIES = 300_000, 1_000_000


def table(rows: int) -> pl.DataFrame:
    random = np.random.default_rng(1)
    words = pl.Series([f"query number {i} about tea" for i in range(QUERIES)])
    seconds = random.integers(1_141_197_432, 1_151_197_432, rows) * 1_000_000
    return pl.DataFrame(
        {
            "uid": random.integers(0, USERS, rows),
            "q": words.gather(np.minimum(random.zipf(1.3, rows), QUERIES) - 1),
            "time": pl.Series(seconds).cast(pl.Datetime("us")),
        }
    )


def by_first_appearance(column: pl.Series) -> pl.Series:
    frame = column.cast(pl.String).to_frame("word")
    words = frame.unique(maintain_order=True).with_row_index("code")
    return frame.join(words, on="word", how="left", maintain_order="left")["code"]


def seconds(action: Callable[[], object]) -> tuple[float, float]:
    """Return the least seconds of processors and of the clock, of three tries."""
    found = []
    for _ in range(3):
        used, start = time.process_time(), time.perf_counter()
        action()
        found.append((time.process_time() - used, time.perf_counter() - start))
    return min(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    rows = parser.parse_args().rows
    frame = table(rows)
    qc.read_log(frame.head(100_000))  # kernels are loaded
    tried = {
        "read_log: user, query, time, and the checks of columns": lambda: qc.read_log(frame),
        "Polars: user and query by first appearance": lambda: [by_first_appearance(frame[c]) for c in ("uid", "q")],
        "Polars: user and query as categoricals": lambda: [
            frame[c].cast(pl.String).cast(pl.Categorical).to_physical() for c in ("uid", "q")
        ],
    }
    taken = {name: seconds(action) for name, action in tried.items()}
    print(f"{rows:,} rows")
    for name, (used, clock) in taken.items():
        print(f"{used:6.2f} s of processors, {clock:6.2f} s of the clock  {name}")
    read, coded, _ = (used for used, _ in taken.values())
    claims = {"a million rows a second": rows / read >= 1e6, "twice what Polars needs": read <= 2 * coded}
    for claim in (claim for claim, holds in claims.items() if not holds):
        print(f"FAILS: {claim}")
    return 0 if all(claims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
