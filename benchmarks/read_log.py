"""Reading 5 million AOL lines with codes: time and peak memory, in a process of its own.

Run: python benchmarks/read_log.py [lines]. Claim: 5 million lines in 10 s or less, within 2 GB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

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


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        generate(path, lines)
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
