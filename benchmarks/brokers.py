"""Speed through brokers: the whole command from a stream of NATS or Redis to another one, 1,000 records a message.

The servers run on this machine and have everything on disk before they answer, unless the row says otherwise: Redis
with appendfsync always, NATS with sync_interval always. Kafka is the client library's own cluster, which keeps 5 MB of
a topic: few records. Shown are records a second on the clock, from the start of the process to its end, and without the
start; the same by processor time of our process; and seconds of our process, of the server, and of the start.
Usage: python benchmarks/brokers.py [records]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from broker_servers import SERVERS
from stream import stream

ROUNDS = 3
LINES = 1000


def messages(records: int) -> list[bytes]:
    user, path, paths = stream(records)
    text = ["/".join(p) for p in paths]
    lines = [
        f"{u + 100_000}\tsome words {i * 7919 % 1_000_003}\t2006-03-01 00:00:00\t{text[p]}\n".encode()
        for i, (u, p) in enumerate(zip(user.tolist(), path.tolist(), strict=True))
    ]
    parts = [b"".join(lines[i : i + LINES]) for i in range(0, records, LINES)]
    return [b"AnonID\tQuery\tQueryTime\tCategory\n" + parts[0], *parts[1:]]


def command(source: str, output: str, folder: Path) -> list[str]:
    words = [sys.executable, "-m", "querycloak", "stream", f"--from={source}", f"--to={output}", "--yes", "--quiet"]
    return [*words, "--k=10", "--depth=5", "--as-in-paper", f"--checkpoint={folder}"]


def measured(words: list[str], server: psutil.Process) -> tuple[float, float, float]:
    """Return seconds on the clock, of our process, and of the server."""
    before, begin = server.cpu_times(), time.perf_counter()
    used = os.times()
    subprocess.run(words, check=True)
    clock, now, after = time.perf_counter() - begin, os.times(), server.cpu_times()
    ours = now.children_user + now.children_system - used.children_user - used.children_system
    return clock, ours, after.user + after.system - before.user - before.system


def through(name: str, kind: str, sent: list[bytes], records: int, **options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "server").mkdir()
        server = SERVERS[kind](place / "server", **options)
        try:
            process = psutil.Process(server.process.pid)
            for stream_name, parts in (("searches", sent), ("few", sent[:1])):
                server.make(stream_name)
                server.publish(stream_name, parts)
            best: dict[str, tuple[float, ...]] = {}
            for number in range(ROUNDS):
                for source in ("few", "searches"):
                    output = f"published-{source}-{number}"
                    server.make(output)
                    words = command(server.address(source, "?end=now"), server.address(output), place / output)
                    found = measured(words, process)
                    best[source] = min(best.get(source, found), found)
            clock, ours, theirs = best["searches"]
            start, few = best["few"][:2]
            print(
                f"{name:<32}{records / clock:>12,.0f}{records / (clock - start):>16,.0f}"
                f"{records / (ours - few):>20,.0f}{ours:>8.2f}{theirs:>9.2f}{start:>8.2f}",
                flush=True,
            )
        finally:
            server.stop()


HEAD = f"{'':<32}{'records/s':>12}{'without start':>16}{'by processor time':>20}{'ours':>8}{'server':>9}{'start':>8}"


def main(records: int = 2_000_000) -> None:
    sent = messages(records)
    print(f"{records:,} records, {sum(map(len, sent)) / 1e6:.0f} MB in {len(sent):,} messages; best of {ROUNDS}")
    print(f"k = 10, depth 5, as in the paper\n{HEAD}")
    through("Redis, appendfsync always", "redis", sent, records)
    through("Redis, appendfsync everysec", "redis", sent, records, appendfsync="everysec")
    through("NATS, sync_interval always", "nats", sent, records)
    through("NATS, sync_interval 2m", "nats", sent, records, sync="2m")
    through("Kafka, 50,000 records", "kafka", sent[:50], 50 * LINES)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
