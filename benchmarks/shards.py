"""Speed of shards: one process on one core against two shards on two cores, and what a shard costs the processor.

The same command on the same file: alone, bound to one core; as `--shard 0/2` and `--shard 1/2` at the same time, each
bound to a core of its own; and as `--shards 2` on both. They take turns, since machines are noisy; times are the best
of each. The start of the program is measured on a hundred records and told apart: it does not grow with the stream.
Usage: python benchmarks/shards.py [records]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from stream import stream, write_log

ROUNDS = int(os.environ.get("ROUNDS", "5"))
NAMES = (
    "Arts Business Computers Games Health Home Kids_and_Teens News Recreation Reference Science Shopping Society "
    "Sports World"
)
TOPS = NAMES.split()
OPTIONS = ["--as-in-paper", "--k", "10", "--depth", "5", "--quiet"]


def run(commands: list[tuple[list[str], set[int]]]) -> tuple[float, float]:
    """Run commands at once, each on some cores; return seconds on the clock, and the most of one on the processor."""
    begun = time.perf_counter()
    started = []
    for words, cores in commands:
        bind = lambda cores=cores: os.sched_setaffinity(0, cores)  # noqa: E731
        command = [sys.executable, "-m", "querycloak", "stream", *words]
        process = subprocess.Popen(command, preexec_fn=bind)  # noqa: PLW1509 - it has no threads
        started.append(process.pid)
    used = []
    for pid in started:
        _, status, about = os.wait4(pid, 0)
        assert status == 0
        used.append(about.ru_utime + about.ru_stime)
    return time.perf_counter() - begun, max(used)


def commands(log: Path, folder: Path, cores: list[int]) -> dict[str, list[tuple[list[str], set[int]]]]:
    given = [*OPTIONS, "--from", str(log), "--to", str(folder / "release.tsv"), "--seed", "1"]
    return {
        "one process": [(given, {cores[0]})],
        "two shards": [([*given, "--shard", f"{i}/2"], {cores[i]}) for i in range(2)],
        "--shards 2": [([*given, "--shards", "2"], set(cores))],
    }


def main(records: int) -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    user, path, paths = stream(records)
    paths = [("Top", TOPS[int(p[1][1:])], *p[2:]) for p in paths]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, few = folder / "log.tsv", folder / "few.tsv"
        write_log(user, path, paths, log)
        few.write_bytes(b"".join(log.open("rb").readlines()[: 1 + min(records, 1000)]))
        sizes: list[int] = []
        times = {}
        for _ in range(ROUNDS):
            for source in (few, log):
                for what, words in commands(source, folder, cores).items():
                    times.setdefault((what, source), []).append(run(words))
            if not sizes:
                sizes = [(folder / f"release.{i}-of-2.tsv").read_bytes().count(b"\n") - 1 for i in range(2)]
    best = {key: tuple(map(min, zip(*found, strict=True))) for key, found in times.items()}
    print(f"{records:,} records, k = 10, depth 5, as in the paper; best of {ROUNDS}; shards publish {sizes}")
    print(f"{'':>12}{'start':>16}{'whole':>16}{'without start':>16}   seconds on the clock (of the processor, of one)")
    work = {}
    for what in ("one process", "two shards", "--shards 2"):
        start, whole = best[what, few], best[what, log]
        work[what] = [whole[i] - start[i] for i in range(2)]
        print(f"{what:>12}" + "".join(f"{c:>9.2f} ({p:.2f})" for c, p in (start, whole, work[what])))
    for what in ("two shards", "--shards 2"):
        whole = [best["one process", log][i] / best[what, log][i] for i in range(2)]
        apart = [work["one process"][i] / work[what][i] for i in range(2)]
        told = f"{whole[0]:.2f} times one process on the clock, {apart[0]:.2f} without the start"
        if what == "two shards":
            told += f"; one process takes {whole[1]:.2f} times the processor of a shard, "
            told += f"{apart[1]:.2f} without the start"
        print(f"{what}: {told}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
