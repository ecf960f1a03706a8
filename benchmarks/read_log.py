"""Reading AOL lines into codes, next to Polars: processor time, wall time and peak memory.

Run: python benchmarks/read_log.py [lines]. Both sides read the same file of five columns (user, query, time, rank, URL)
in the same process, in turns, after one turn that is not counted. The ratio is that of the least processor time (user
and system) of each side. Then a new process reads the file, plain and packed, for the peak of its memory.

Claims: at most 2 times the processor time of Polars; 5 million lines in 10 s or less, within 2 GB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from querycloak.logs.source import read_log

TURNS = 5
COLUMNS = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
MEASURE = """
import json, resource, sys, time
start = time.perf_counter()
from querycloak.logs.source import read_log
loaded = time.perf_counter()
log = read_log(sys.argv[1])
done = time.perf_counter()
usage = resource.getrusage(resource.RUSAGE_SELF)
peak = usage.ru_maxrss / 2**20
print(json.dumps({
    "read": done - loaded, "peak": peak, "cpu": usage.ru_utime + usage.ru_stime,
    "rows": len(log), "queries": len(log.queries),
}))
"""


def generate(path: Path, lines: int, seed: int = 1) -> None:
    """Write lines like those of AOL: half with a click, queries by Zipf with a long tail, 55 lines a user."""
    random = np.random.default_rng(seed)
    words = pl.Series([f"{w:x}" for w in random.integers(16**3, 16**8, 50_000)])
    # Six of ten lines draw from the head by Zipf, the others from a tail of single queries.
    head = random.zipf(1.2, lines) % 1_000_000
    tail = 1_000_000 + random.integers(0, 4_000_000, lines)
    query = np.where(random.random(lines) < 0.6, head, tail)
    text = pl.select(
        pl.concat_str(words.gather(query % 50_000), words.gather(query // 50_000), pl.Series(query), separator=" ")
    ).to_series()
    click = random.random(lines) < 0.5
    site = random.zipf(1.3, lines) % 500_000
    seconds = 1_141_171_200 + np.sort(random.integers(0, 92 * 86_400, lines))
    pl.DataFrame(
        {
            "AnonID": np.sort(random.integers(0, max(lines // 55, 1), lines)) * 37 + 142,
            "Query": text,
            "QueryTime": (pl.Series(seconds) * 1_000_000).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d %H:%M:%S"),
            "ItemRank": pl.Series(random.integers(1, 50, lines)).set(pl.Series(~click), None),
            "ClickURL": ("http://www.site-" + pl.Series(site).cast(pl.String) + ".com").set(pl.Series(~click), None),
        }
    ).write_csv(path, separator="\t", quote_style="never")


def with_polars(path: Path) -> int:
    """Read all five columns as Categorical: codes and vocabularies, as we make them."""
    return len(pl.read_csv(path, separator="\t", quote_char=None, schema=dict.fromkeys(COLUMNS, pl.Categorical)))


def with_polars_typed(path: Path) -> int:
    """Read user, query and URL as Categorical; time and rank are parsed, as we do too."""
    kinds = {**dict.fromkeys(COLUMNS, pl.Categorical), "QueryTime": pl.String, "ItemRank": pl.Int32}
    frame = pl.read_csv(path, separator="\t", quote_char=None, schema=kinds)
    # A Datetime in the schema takes several times as long.
    return len(frame.with_columns(pl.col("QueryTime").str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us")))


def with_querycloak(path: Path) -> int:
    return len(read_log(path))


def compare(path: Path) -> None:
    """Print the processor time of both sides, turn by turn, and the ratio."""
    sides = {"querycloak": with_querycloak, "polars": with_polars, "polars, time and rank parsed": with_polars_typed}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for turn in range(TURNS + 1):
        for name, read in sides.items():
            begun, wall = time.process_time(), time.perf_counter()
            rows = read(path)
            if turn:
                spent[name].append((time.process_time() - begun, time.perf_counter() - wall))
    print(f"{rows:,} lines, {path.stat().st_size / 1e6:,.0f} MB, {TURNS} turns")
    ours = min(cpu for cpu, _ in spent["querycloak"])
    for name, turns in spent.items():
        cpu, walls = zip(*turns, strict=True)
        ratio = "" if name == "querycloak" else f", ratio {ours / min(cpu):.2f}"
        print(f"{name:>30}: processor {min(cpu):6.2f} s (to {max(cpu):.2f}), wall {min(walls):6.2f} s{ratio}")


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        generate(path, lines)
        compare(path)
        packed = Path(folder) / "log.tsv.gz"
        subprocess.run(["gzip", "-1", "-k", str(path)], check=True)
        names = ("MB", "rows", "queries", "read s", "CPU s", "rows/s", "peak GB")
        print(f"{'file':>5}" + "".join(f"{name:>11}" for name in names))
        for file in (path, packed):
            out = subprocess.run([sys.executable, "-c", MEASURE, str(file)], check=True, capture_output=True, text=True)
            found = json.loads(out.stdout)
            size, rate = file.stat().st_size / 1e6, found["rows"] / found["read"]
            print(
                f"{file.suffix:>5}{size:11.0f}{found['rows']:11,}{found['queries']:11,}{found['read']:11.2f}"
                f"{found['cpu']:11.1f}{rate:11,.0f}{found['peak']:11.2f}"
            )


if __name__ == "__main__":
    main()
