"""What a stream needs: records a second, memory, and size and time of a saved state, for some settings and users.

The whole command from file to file, with a checkpoint every 100,000 records. Speed is by processor time (user and
system, start included): what one core does. Memory is the most that the process had. The state is the last one saved.
Usage: python benchmarks/stream_sizing.py [records]
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from stream import stream, write_log

CELLS = [
    ("as in the paper", ["--as-in-paper"], 3, 5, 20_000),
    ("as in the paper", ["--as-in-paper"], 30, 5, 20_000),
    ("as in the paper", ["--as-in-paper"], 30, 11, 20_000),
    ("as in the paper", ["--as-in-paper"], 30, 5, 200_000),
    ("as in the paper", ["--as-in-paper"], 200, 5, 20_000),
    ("the defaults", [], 10, 5, 20_000),
    ("the defaults", [], 30, 5, 200_000),
]


def measured(source: Path, folder: Path, k: int, depth: int, options: list[str]) -> tuple[float, float, dict]:
    """Return seconds of the processor, megabytes, and the last event of a saved state."""
    words = [sys.executable, "-m", "querycloak", "stream", f"--from={source}", f"--to={folder / 'out.tsv'}"]
    words += [f"--k={k}", f"--depth={depth}", f"--checkpoint={folder / 'state'}", "--checkpoint-records=100000"]
    words += ["--yes", "--quiet", "--no-config", f"--log={folder / 'log'}", "--log-format=json", *options]
    _, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.executable, words), 0)
    assert status == 0
    events = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    saved = [event for event in events if event["event"] == "saved"]
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, saved[-1]


def main(records: int = 500_000) -> None:
    print(f"{records:,} records")
    print("| settings | k | depth | users | records/s, one core | memory, MB | state, MB | saving, s | waiting |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, options, k, depth, users in CELLS:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_log(*stream(records, users), folder / "log.tsv")
            seconds, memory, saved = measured(folder / "log.tsv", folder, k, depth, options)
        size, time, waiting = saved["state_bytes"] / 1e6, saved["seconds"], saved["records_waiting"]
        cells = f"{records / seconds:,.0f} | {memory:,.0f} | {size:.1f} | {time:.2f} | {waiting:,}"
        print(f"| {name} | {k} | {depth} | {users:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
