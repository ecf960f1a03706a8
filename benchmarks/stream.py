"""Speed of the stream: the engine on coded batches for k and depth, file to file against Polars, memory over length.

The engine takes one core. File to file is shown on one core, and on all there are: Polars uses them, and here the next
batch is read, and the last one written, while one is converted. Both take turns, since machines are noisy; times are
the best of each, on the clock and of the processor. Usage: python benchmarks/stream.py [records]
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
from querycloak.methods.stream.engine import SelfAdjusting
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.randomness import Randomness

KS = (3, 30, 200)
DEPTHS = (1, 5, 11)
BATCH = 1 << 16
ROUNDS = 5


USERS = 600_194
"""in the AOL log, as the paper counts"""


def stream(records: int, users: int = USERS, seed: int = 1):
    """Return user and path of each record: activity and depths like AOL's, 20,000 categories, 15 of them at the top."""
    rng = np.random.default_rng(seed)
    levels = np.clip(1 + rng.binomial(12, 2 / 3, 20_000), 1, 13)
    paths = [
        ("Top", f"c{rng.integers(15)}", *(f"c{min(int(rng.pareto(1.1)), 40)}" for _ in range(depth - 1)))
        for depth in levels.tolist()
    ]
    weight = 1 / np.arange(1, len(paths) + 1)
    path = rng.choice(len(paths), records, p=weight / weight.sum())
    activity = rng.lognormal(0, 1.7, users)
    return rng.choice(users, records, p=activity / activity.sum()).astype(np.int32), path, paths


def engine_speed(user, path, paths) -> None:
    print(f"engine, {len(user):,} records in batches of {BATCH:,}; ns a record on the clock (and of the processor)")
    print("depth " + "".join(f"{f'k = {k}':>22}" for k in KS) + f"{'k=200 / k=3':>14}{'slowest, records/s':>20}")
    for depth in DEPTHS:
        row, found = f"{depth:>5} ", []
        for k in KS:
            best = (1e9, 1e9)
            for _ in range(2):
                engine = SelfAdjusting(k, depth, random=Randomness())
                node = np.array([engine.tree.node(p[1:]) for p in paths], dtype=np.int32)[path]
                engine.push_codes(user[:1000], node[:1000])
                clock, cpu = time.perf_counter(), time.process_time()
                for i in range(1000, len(user), BATCH):
                    engine.push_codes(user[i : i + BATCH], node[i : i + BATCH])
                best = min(best, (time.perf_counter() - clock, time.process_time() - cpu))
            ns = [t / len(user) * 1e9 for t in best]
            found.append(ns)
            row += f"{ns[0]:>14.0f} ({ns[1]:>4.0f})"
        print(row + f"{found[-1][1] / found[0][1]:>16.2f}{1e9 / max(f[0] for f in found):>20,.0f}")


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


def file_speed(source: Path) -> None:
    folder, records = source.parent, source.read_bytes().count(b"\n") - 1

    def polars() -> None:
        table = pl.read_csv(source, separator="\t", quote_char=None)
        table.write_csv(folder / "copy.tsv", separator="\t", quote_style="never")

    def ours(depth: int, as_in_paper: bool = True) -> None:
        settings = StreamSettings(k=10, depth=depth, as_in_paper=as_in_paper)
        run_stream(Run("self-adjusting", settings, source, folder / "release.tsv"))

    work = {"Polars": polars} | {f"k = 10, depth {d}, as in the paper": lambda d=d: ours(d) for d in DEPTHS}
    work["k = 10, depth 5, shared phrases"] = lambda: ours(5, as_in_paper=False)
    ours(5)  # kernels compiled
    ours(5, as_in_paper=False)
    times = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, run in work.items():
            clock, cpu = time.perf_counter(), time.process_time()
            run()
            times[name].append((time.perf_counter() - clock, time.process_time() - cpu))
    cores, size = len(os.sched_getaffinity(0)), source.stat().st_size
    there = f"{cores} core{'s' * (cores > 1)}"
    print(f"\nfile to file, {records:,} records, {size / 1e6:.0f} MB, {there}; best of {ROUNDS}")
    best = {name: tuple(map(min, zip(*found, strict=True))) for name, found in times.items()}
    for name, (clock, cpu) in best.items():
        ratio = f"{clock / best['Polars'][0]:.1f} and {cpu / best['Polars'][1]:.1f} times Polars"
        print(f"{name:>32}: {clock:.2f} s, {cpu:.2f} s of the processor: {ratio}; {records / clock:,.0f} records/s")


def file_speeds(user, path, paths) -> None:
    """Each in a process of its own: Polars counts the cores when it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "log.tsv"
        write_log(user, path, paths, source)
        for cores in ({min(os.sched_getaffinity(0))}, os.sched_getaffinity(0)):
            bind = lambda cores=cores: os.sched_setaffinity(0, cores)  # noqa: E731
            subprocess.run([sys.executable, __file__, str(source)], check=True, preexec_fn=bind)


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
    print(f"{USERS:,} users, as in the AOL log")
    user, path, paths = stream(records)
    engine_speed(user, path, paths)
    print(f"\n{records // 44:,} users: the busiest have more than 1/200 of a branch, and pile up at k = 200")
    engine_speed(*stream(records, records // 44))
    file_speeds(user, path, paths)
    memory()


if __name__ == "__main__":
    if sys.argv[1:] and not sys.argv[1].isdigit():
        file_speed(Path(sys.argv[1]))
    else:
        main(*(int(word) for word in sys.argv[1:]))
