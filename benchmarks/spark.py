"""What methods take on Spark: time, memory and shuffle; growth with rows; overhead against one machine.

Each method runs in a process of its own, on a cluster of two real executors with one core and 2 GB each on this machine
(`local-cluster[2,1,2048]`), from Parquet to Parquet with the gate. Seconds are of the clock, without the start of the
session, which is given apart; memory is the most that one executor had with its Python processes, looked at five times
a second; the shuffle is what tasks wrote, from Spark's event log. One machine runs on the same rows in the same run,
from one file of Parquet. There are 16 partitions for each batch of 5 million rows.

Usage: python benchmarks/spark.py rows METHOD[,METHOD…] SIZE[,SIZE…]     growth: sizes in millions of rows
       python benchmarks/spark.py overhead METHOD[,METHOD…] SIZE         against one machine
Logs are generated in batches of 5 million rows, other users in each, and kept in the folder QUERYCLOAK_BIG (default: a
folder `querycloak-big` in that for temporary files).
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import polars as pl
import psutil

MASTER = os.environ.get("QUERYCLOAK_MASTER", "local-cluster[2,1,2048]")
BATCH_ROWS = 5_000_000
BATCH_USERS = 86_000
PARTS = 8
"""files of a batch"""
SETTINGS: dict[str, dict] = {}
"""of a method; its defaults otherwise"""


def big_log(millions: int) -> list[Path]:
    """Return the files of a log of so many million rows; what is missing is generated."""
    folder = Path(os.environ.get("QUERYCLOAK_BIG", Path(tempfile.gettempdir()) / "querycloak-big"))
    folder.mkdir(parents=True, exist_ok=True)
    batches, rest = divmod(millions * 1_000_000, BATCH_ROWS)
    if rest:
        sys.exit("A log has a multiple of 5 million rows.")
    files = []
    for seed in range(1, batches + 1):
        mine = [folder / f"part-{seed}-{i}.parquet" for i in range(PARTS)]
        if not all(file.exists() for file in mine):
            generate(seed, mine)
        files += mine
    return files


def generate(seed: int, files: list[Path]) -> None:
    """Write one batch: its users are no other batch's."""
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "log.tsv"
        words = [
            "generate",
            f"--users={BATCH_USERS}",
            "--queries=4100000",
            f"--seed={seed}",
            f"--output={log}",
            "--quiet",
        ]
        subprocess.run([sys.executable, "-m", "querycloak", *words], check=True, stdout=subprocess.DEVNULL)
        typed = {
            "AnonID": pl.String,
            "Query": pl.String,
            "QueryTime": pl.String,
            "ItemRank": pl.Int32,
            "ClickURL": pl.String,
        }
        table = pl.read_csv(log, separator="\t", quote_char=None, schema=typed).head(BATCH_ROWS)
    assert len(table) == BATCH_ROWS
    table = table.with_columns(pl.col("AnonID") + f"00{seed}")
    size = -(-BATCH_ROWS // len(files))
    for i, file in enumerate(files):
        table[i * size : (i + 1) * size].write_parquet(file)


def child(method: str, files: list[str], folder: str) -> None:
    """Run one method on Spark, in this process, and print what it took."""
    from querycloak.spark import anonymize
    from querycloak.spark.session import running_session

    start = time.perf_counter()
    events = Path(folder) / "events"
    events.mkdir()
    options = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.executor.memory": "2g",
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",  # of one core
        "spark.sql.shuffle.partitions": str(2 * len(files)),
        "spark.local.dir": str(Path(folder) / "spark"),
    }
    with running_session(MASTER, options) as session:
        session.range(10).count()  # executors are there
        started = time.perf_counter()
        frame = session.read.parquet(*files)
        table, statement = anonymize(frame, method, **SETTINGS.get(method, {}))
        table.write.parquet(str(Path(folder) / "out"))
        seconds = time.perf_counter() - started
    shuffle = spilled = 0
    for path in events.iterdir():
        with path.open() as lines:
            for line in lines:
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics") or {}
                    shuffle += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                    spilled += metrics.get("Disk Bytes Spilled", 0)
    found = {"start": started - start, "seconds": seconds, "shuffle": shuffle, "spilled": spilled}
    print("FOUND " + json.dumps(found | {"rows": statement.counts_out["rows"]}), flush=True)


class Watch(threading.Thread):
    """Look at the memory of each executor with its Python processes, and at the processor time of all processes."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.most, self.driver, self.cpu = psutil.Process(root), 0, 0, {}
        self.ended = threading.Event()

    def run(self) -> None:
        """Look five times a second."""
        while not self.ended.wait(0.2):
            try:
                self.look()
            except psutil.Error:
                continue

    def look(self) -> None:
        """Look once."""
        for process in self.root.children(recursive=True):
            try:
                used = process.cpu_times()
                self.cpu[process.pid] = used.user + used.system
                words = process.cmdline()
                if any("CoarseGrainedExecutorBackend" in word for word in words):
                    family = [process, *process.children(recursive=True)]
                    self.most = max(self.most, sum(one.memory_info().rss for one in family))
            except psutil.Error:
                continue


def on_spark(method: str, files: list[Path]) -> dict:
    """Run a method in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, __file__, "child", method, folder, *map(str, files)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watch = Watch(process.pid)
        watch.start()
        out, err = process.communicate()
        watch.ended.set()
        watch.join()
        lines = [line for line in out.splitlines() if line.startswith("FOUND ")]
        if not lines:
            print(err[-3000:], file=sys.stderr)
            return {}
        return json.loads(lines[0][6:]) | {"memory": watch.most, "cpu": sum(watch.cpu.values())}


def on_one_machine(method: str, files: list[Path]) -> float:
    """Return the seconds that one machine takes from one file to another."""
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "log.parquet", Path(folder) / "out.parquet"
        pl.scan_parquet(files).sink_parquet(log)
        words = ["anonymize", str(log), "-o", str(out), "--method", method, "--yes", "--quiet", "--no-config"]
        words = [word for word in words if word != "--yes"]
        for name, value in SETTINGS.get(method, {}).items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "querycloak", *words], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def rows(methods: list[str], sizes: list[int]) -> None:
    """Print time, memory and shuffle for each method and size, and how much more than linear time grows."""
    print(f"{MASTER}, load {os.getloadavg()[0]:.1f}")
    print("| method | million rows | seconds | processor s | GB of an executor | GB shuffled | GB spilled | growth |")
    print("|---|---|---|---|---|---|---|---|")
    for method in methods:
        before: tuple[int, float] | None = None
        for size in sizes:
            found = on_spark(method, big_log(size))
            if not found:
                print(f"| {method} | {size} | failed | | | | | |", flush=True)
                continue
            growth = "" if before is None else f"{found['seconds'] / before[1] / (size / before[0]):.2f}"
            cells = [f"{found['seconds']:.0f}", f"{found['cpu']:.0f}"]
            cells += [f"{found[name] / 1e9:.2f}" for name in ("memory", "shuffle", "spilled")]
            print(f"| {method} | {size} | {' | '.join(cells)} | {growth} |", flush=True)
            before = before or (size, found["seconds"])


def overhead(methods: list[str], size: int) -> None:
    """Print the time on Spark against that of one machine, in turn."""
    files = big_log(size)
    print(f"{MASTER}, {size} million rows, load {os.getloadavg()[0]:.1f}")
    for method in methods:
        alone = on_one_machine(method, files)
        found = on_spark(method, files)
        seconds = found.get("seconds", float("nan"))
        print(
            f"{method}: one machine {alone:.1f} s, Spark {seconds:.1f} s, {seconds / alone:.2f} times; "
            f"with its start of {found.get('start', 0):.1f} s {(seconds + found.get('start', 0)) / alone:.2f} times",
            flush=True,
        )


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    what, given = sys.argv[1], sys.argv[2:]
    if what == "child":
        child(given[0], given[2:], given[1])
    elif what == "rows":
        rows(given[0].split(","), [int(size) for size in given[1].split(",")])
    else:
        overhead(given[0].split(","), int(given[1]))
