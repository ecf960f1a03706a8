"""What times and clicks cost: timing and shape against releases that keep them or not.

querycloak generate --users 1000 --queries 56000 --seed 1 -o log.tsv
python benchmarks/columns.py log.tsv sweep
python benchmarks/columns.py log.tsv semantic-microaggregation
"""

from __future__ import annotations

import sys
import time

import querycloak as qc

GRAINS = ("week", "day", "hour")
COLUMNS = [("none", ""), ("clicks", ""), *(("time", g) for g in GRAINS), *(("time,clicks", g) for g in GRAINS)]


def main(path: str, method: str, *some: str) -> None:
    bench = qc.Workbench(qc.read_log(path))
    print("| keep | rows | with a click | attack | rate | lift, 95 % interval |")
    print("|---|---|---|---|---|---|")
    for keep, grain in COLUMNS:
        if some and f"{keep}:{grain}" not in some:
            continue
        began = time.perf_counter()
        release = bench.anonymize(method, seed=1, keep=keep, **({"time_grain": grain} if grain else {}))
        clicked = 0 if release.log.url is None else int((release.log.url >= 0).sum())
        what = f"{keep} {grain}".strip()
        for r in (
            bench.attack(release, ["timing", "shape"], seed=1)
            if "time" in keep
            else bench.attack(release, ["shape"], seed=1)
        ):
            lift = f"{r.lift:.1%} ({r.lift_low:.1%} to {r.lift_high:.1%})"
            print(f"| {what} | {len(release.log):,} | {clicked:,} | {r.attack} | {r.rate:.1%} | {lift} |", flush=True)
        print(f"{what}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
