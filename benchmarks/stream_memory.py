"""Memory of the whole command over a long stream, with users who pile up and a sink that is slower than the source.

Records are made faster than they are taken, go in through a pipe and come out through a pipe that is read slowly. The
memory of the process is sampled twice a second. Prints a table and draws docs/stream-memory.svg.
Usage: python benchmarks/stream_memory.py [records] [records a second of the sink]
"""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import psutil
from stream import stream

from querycloak.report.plots import Line, Plot, Scale, area, draw, nice_ticks

SVG = Path(__file__).parents[1] / "docs" / "stream-memory.svg"
BLOCK = 250_000
USERS = 45_454
"""the busiest have more than 1/200 of a branch, and pile up at k = 200"""
RUNS = {
    f"{USERS:,} users, k = 200, --max-delay 20000": (USERS, ["--k=200", "--max-delay=20000"]),
    f"{USERS:,} users, k = 200, no limit": (USERS, ["--k=200"]),
    "a new user every second record, k = 30": (0, ["--k=30", "--max-delay=20000"]),
}


def block(number: int, users: int, paths: pl.Series, weight: np.ndarray, activity: np.ndarray | None) -> bytes:
    """Return the lines of one block; without an activity, every second record is of a user who was never seen."""
    rng = np.random.default_rng(number)
    if activity is None:
        fresh = np.arange(BLOCK) + number * BLOCK
        user = np.where(np.arange(BLOCK) % 2 == 0, fresh, 2 * rng.integers(0, number * BLOCK // 2 + 1, BLOCK))
    else:
        user = rng.choice(users, BLOCK, p=activity)
    path = rng.choice(len(weight), BLOCK, p=weight)
    words = pl.int_range(number * BLOCK, (number + 1) * BLOCK, eager=True).cast(pl.String)
    columns = {"AnonID": user + 10**9, "Query": "some words " + words, "Category": paths.gather(path)}
    table = pl.DataFrame(columns)
    return table.write_csv(separator="\t", quote_style="never", include_header=number == 0).encode()


def feed(pipe, records: int, users: int) -> None:
    _, _, paths = stream(1)
    weight = 1 / np.arange(1, len(paths) + 1)
    activity = np.random.default_rng(1).lognormal(0, 1.7, users) if users else None
    texts = pl.Series(["/".join(p) for p in paths])
    for number in range(records // BLOCK):
        part = None if activity is None else activity / activity.sum()
        pipe.write(block(number, users, texts, weight / weight.sum(), part))
    pipe.close()


def drain(pipe, rate: float, seen: list[int]) -> None:
    """Read at most so many records a second."""
    begin = time.monotonic()
    while data := pipe.read(1 << 16):
        seen[0] += data.count(b"\n")
        time.sleep(max(0.0, begin + seen[0] / rate - time.monotonic()))


def sampled(records: int, rate: float, users: int, options: list[str]) -> list[tuple[float, float]]:
    """Return millions of records out, and megabytes, of a run."""
    words = [sys.executable, "-m", "querycloak", "stream", "--yes", "--quiet", "--as-in-paper", "--depth=5", *options]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seen = [0]
    threads = [
        threading.Thread(target=feed, args=(process.stdin, records, users)),
        threading.Thread(target=drain, args=(process.stdout, rate, seen)),
    ]
    for thread in threads:
        thread.start()
    found, watched = [], psutil.Process(process.pid)
    while process.poll() is None:
        try:
            found.append((seen[0] / 1e6, watched.memory_info().rss / 1e6))
        except psutil.Error:
            break
        time.sleep(0.5)
    for thread in threads:
        thread.join()
    assert process.wait() == 0
    return [point for point in found if point[1] > 1]


def plot(curves: dict[str, list[tuple[float, float]]]) -> None:
    across, up = area(height=240)
    most = max(y for points in curves.values() for _, y in points)
    last = max(x for points in curves.values() for x, _ in points)
    x, y = Scale(0, last, *across), Scale(0, most * 1.1, *up)
    made = Plot(
        title="Memory of a stream over its length, with a slow sink",
        x=x,
        y=y,
        x_title="million records published",
        y_title="MB",
        x_ticks=x.ticks(nice_ticks(0, last), lambda v: f"{v:g}"),
        y_ticks=y.ticks(nice_ticks(0, most * 1.1), lambda v: f"{v:,.0f}"),
        marks=[Line([(x.at(a), y.at(b)) for a, b in points], i) for i, points in enumerate(curves.values())],
        legend=list(enumerate(curves)),
    )
    SVG.write_text(draw(made, alone=True) + "\n")


def main(records: int = 10_000_000, rate: int = 60_000) -> None:
    curves = {}
    print(f"{records:,} records; the sink takes {rate:,} a second")
    print(f"{'':<55}{'MB at 1/10':>12}{'1/2':>8}{'end':>8}{'bytes a record after 1/10':>28}")
    for name, (users, options) in RUNS.items():
        points = curves[name] = sampled(records, rate, users, options)
        last = points[-1][0]
        shares = [next(b for a, b in points if a >= share * last) for share in (0.1, 0.5, 0.98)]
        growth = (shares[2] - shares[0]) / (0.9 * last)
        print(f"{name:<55}{shares[0]:>12,.0f}{shares[1]:>8,.0f}{shares[2]:>8,.0f}{growth:>28.2f}", flush=True)
    plot(curves)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
