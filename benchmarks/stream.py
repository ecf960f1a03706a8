"""Speed of the stream: file to file against Polars, a tree of 74,000 categories, the engine alone, users who pile up.

All figures of a run are from one machine at one time: what counts are the ratios. Times are of the processor, the best
of several rounds in which everything takes turns, since machines are noisy. File to file is on one core, in a process
of its own: Polars counts the cores when it is loaded. Usage: python benchmarks/stream.py [records]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from querycloak.live.runner import Run, run_stream
from querycloak.methods.stream.engine import make_engine
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.randomness import Randomness

KS = (3, 10, 30, 200)
DEPTHS = (1, 5, 11)
BATCH = 1 << 16
ROUNDS = 3
USERS = 600_194
"""in the AOL log, as the paper counts"""
CATEGORIES = 20_000
LARGE_TREE = 74_000
"""categories of the tree that the authors' program was timed with"""
LARGE_CELLS = ((3, 1), (10, 5), (30, 5), (30, 11))
PART = 100_000
"""records by which sweeping and phrases are timed"""
POOL = 1_000
"""records of a pool of `nearest`"""


def stream(records: int, users: int = USERS, seed: int = 1, categories: int = CATEGORIES):
    """Return user and path of each record: activity and depths like AOL's, 15 categories at the top."""
    rng = np.random.default_rng(seed)
    levels = np.clip(1 + rng.binomial(12, 2 / 3, categories), 1, 13)
    paths = [
        ("Top", f"c{rng.integers(15)}", *(f"c{min(int(rng.pareto(1.1)), 40)}" for _ in range(depth - 1)))
        for depth in levels.tolist()
    ]
    weight = 1 / np.arange(1, len(paths) + 1)
    path = rng.choice(len(paths), records, p=weight / weight.sum())
    activity = rng.lognormal(0, 1.7, users)
    return rng.choice(users, records, p=activity / activity.sum()).astype(np.int32), path, paths


def engine_seconds(method: str, k: int, depth: int, user, path, paths) -> float:
    """Return the processor time of an engine on coded batches; its first records, which compile, are not counted."""
    engine = make_engine(method, k, depth, random=Randomness(), pool=POOL)
    node = np.array([engine.tree.node(p[1:]) for p in paths], dtype=np.int32)[path]
    engine.push_codes(user[:1000], node[:1000])
    begun = time.process_time()
    for i in range(1000, len(user), BATCH):
        engine.push_codes(user[i : i + BATCH], node[i : i + BATCH])
    return time.process_time() - begun


def engine_speed(method: str, user, path, paths) -> None:
    print(f"\nengine of {method}, {len(user):,} records, {int(user.max()) + 1:,} users; ns of the processor a record")
    print("depth " + "".join(f"{f'k = {k}':>10}" for k in KS) + f"{'k=200 / k=3':>14}")
    for depth in DEPTHS:
        best = [min(engine_seconds(method, k, depth, user, path, paths) for _ in range(2)) for k in KS]
        cells = "".join(f"{seconds / len(user) * 1e9:>10.0f}" for seconds in best)
        print(f"{depth:>5} {cells}{best[-1] / best[0]:>14.2f}", flush=True)


def write_log(user, path, paths, source: Path) -> None:
    text = np.array(["/".join(p) for p in paths], dtype=object)
    pl.DataFrame(
        {
            "AnonID": user + 100_000,
            "Query": [f"some words {i * 7919 % 1_000_003}" for i in range(len(user))],
            "QueryTime": ["2006-03-01 00:00:00"] * len(user),
            "Category": pl.Series(text[path]),
        }
    ).write_csv(source, separator="\t", quote_style="never")


def best_of(work: dict, rounds: int = ROUNDS) -> dict:
    """Return the least processor time of each piece of work; they take turns."""
    times = {name: [] for name in work}
    for _ in range(rounds):
        for name, run in work.items():
            begun = time.process_time()
            run()
            times[name].append(time.process_time() - begun)
    return {name: min(found) for name, found in times.items()}


def file_speed(source: Path) -> None:
    """Print file to file on this core, next to Polars; then, apart, what sweeping and phrases cost."""
    folder, records = source.parent, source.read_bytes().count(b"\n") - 1

    def polars() -> None:
        table = pl.read_csv(source, separator="\t", quote_char=None)
        table.write_csv(folder / "copy.tsv", separator="\t", quote_style="never")

    def ours(k: int, depth: int, **more) -> None:
        settings = StreamSettings(k=k, depth=depth, **({"as_in_paper": True} | more))
        run_stream(Run("self-adjusting", settings, source, folder / "release.tsv"))

    ours(3, 1)  # kernels are loaded
    polars()
    cells = {(k, depth): lambda k=k, depth=depth: ours(k, depth) for depth in DEPTHS for k in KS}
    best = best_of({"Polars": polars, **cells, "Polars again": polars})
    yardstick = min(best["Polars"], best["Polars again"])
    print(f"\nfile to file, one core, {records:,} records, {source.stat().st_size / 1e6:.0f} MB, --as-in-paper")
    print(
        f"Polars: {yardstick / records * 1e9:.0f} ns of the processor a record to read and write it; ours (times that):"
    )
    print("depth " + "".join(f"{f'k = {k}':>16}" for k in KS))
    for depth in DEPTHS:
        row = [best[k, depth] for k in KS]
        print(f"{depth:>5} " + "".join(f"{t / records * 1e9:>9.0f} ({t / yardstick:.2f})" for t in row))
    apart(source)


def apart(source: Path) -> None:
    """Print what sweeping and phrases cost, on a part of the log: k = 10, depth 5."""
    few = source.with_name("part.tsv")
    few.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[: PART + 1]))
    texts = {
        "neither": {"as_in_paper": True},
        "sweeping": {"min_query_users": 1, "rare": "keep", "identifiers": "drop"},
        "phrases": {"rare": "phrase", "identifiers": "keep"},
        "all defaults": {},
    }

    def ours(more: dict) -> None:
        settings = StreamSettings(k=10, depth=5, **more)
        run_stream(Run("self-adjusting", settings, few, few.with_name("release.tsv")))

    ours({})
    found = best_of({name: lambda more=more: ours(more) for name, more in texts.items()}, 2)
    told = ", ".join(f"{name} {t / PART * 1e9:,.0f}" for name, t in found.items())
    print(f"texts, first {PART:,} records, k = 10, depth 5; ns of the processor a record: {told}")


def start_speed(source: Path) -> None:
    """Print the whole command on a tree of 74,000 categories: start, the rest, and both."""
    folder, records = source.parent, source.read_bytes().count(b"\n") - 1
    few = folder / "few.tsv"
    few.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[:1000]))
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}

    def command(path: Path, k: int, depth: int) -> float:
        words = ["-m", "querycloak", "stream", "--as-in-paper", "--k", str(k), "--depth", str(depth)]
        words += ["-i", str(path), "-o", str(folder / "release.tsv")]
        before = os.times()
        subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    command(few, 3, 1)
    print(f"\nwhole command, one core, {records:,} records, {LARGE_TREE:,} categories; µs of the processor a record")
    print(f"{'k / depth':>10}{'start':>8}{'rest':>8}{'both':>8}")
    for k, depth in LARGE_CELLS:
        start = min(command(few, k, depth) for _ in range(2))
        both = min(command(source, k, depth) for _ in range(2))
        row = (start, both - start, both)
        print(f"{f'{k} / {depth}':>10}" + "".join(f"{t / records * 1e6:>8.2f}" for t in row), flush=True)


def alone(what: str, log, folder: str) -> None:
    """Run a part of this file on one core, in a process of its own."""
    source = Path(folder) / f"{what}.tsv"
    write_log(*log, source)
    core = {min(os.sched_getaffinity(0))}
    command = [sys.executable, __file__, what, str(source)]
    subprocess.run(command, check=True, preexec_fn=lambda: os.sched_setaffinity(0, core))


MEMORY = """
import sys, resource
sys.path.insert(0, sys.argv[1])
from stream import stream
import numpy as np
from querycloak.randomness import Randomness
from querycloak.methods.stream.engine import SelfAdjusting
user, path, paths = stream(2_000_000)
engine = SelfAdjusting(30, 11, random=Randomness(seed=1))
node = np.array([engine.tree.node(p[1:]) for p in paths], dtype=np.int32)[path]
for i in range(0, len(user), 50_000):
    engine.push_codes(user[i : i + 50_000], node[i : i + 50_000])
    if engine.entered in (500_000, 1_000_000, 2_000_000):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{engine.entered:>9,} records: {engine.waiting:>6,} waiting, "
              f"{engine.memory / 1e6:.1f} MB in the engine, peak of the process {peak / 1024:.0f} MB")
"""


def memory() -> None:
    print("\nmemory, k = 30, depth 11")
    command = [sys.executable, "-c", MEMORY, str(Path(__file__).parent)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})


def main(records: int = 2_000_000) -> None:
    log = stream(records)
    few_users = stream(records, records // 44)  # the busiest have more than 1/200 of a branch, and pile up at k = 200
    with tempfile.TemporaryDirectory() as folder:
        alone("files", log, folder)
        alone("start", stream(min(records, 1_000_000), categories=LARGE_TREE), folder)
    engine_speed("self-adjusting", *log)
    engine_speed("self-adjusting", *few_users)
    engine_speed("nearest", *(part[: records // 4] for part in log[:2]), log[2])
    memory()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        {"files": file_speed, "start": start_speed}[sys.argv[1]](Path(sys.argv[2]))
    else:
        main(*(int(word) for word in sys.argv[1:]))
