"""Seconds of every attack on a release of every method, and on a log of few users with long logs.

Run: python benchmarks/attacks.py [METHOD …]. All methods of the catalog at k = 5 and ε = 5 on 1,000 users with 56,000
queries, and clump on 400 users with 400 queries each; attacks come from the catalog too. Prints a table of seconds per
attack as soon as a release is done; progress is on standard error. What an attack needs next to the log (mapped texts,
further releases by the same method) counts for the first attack that asks for it, where it is kept. Claims: all attacks
on one release in 120 s or less on two cores, on the long logs in 60 s, `consistent-classes` there in 10 s. Exits with 1
where a claim fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import fields

import querycloak as qc
from querycloak.catalog import ATTACKS, METHODS, STREAM_METHODS
from querycloak.catalog import method as find_method
from querycloak.errors import UserError
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.directory import SiteDirectory

SEED = 1
USUAL, LONG = (1_000, 56_000), (400, 160_000)  # users, queries
TINY = (60, 1_200)
LIMIT, LONG_LIMIT, CLASSES_LIMIT = 120, 60, 10
AT = {"k": 5, "epsilon": 5.0}


def bench_of(users: int, queries: int) -> Workbench:
    made = qc.generate(users=users, queries=queries, seed=SEED)
    sites = made.directory()
    directory = SiteDirectory.of(sites["site"].to_list(), sites["category"].to_list())
    bench = Workbench(made.log, directory=directory)
    _ = bench.concepts  # mapping the log is no attack's work
    return bench


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def timed(bench: Workbench, method: str) -> dict[str, float | None]:
    """Return the seconds of every attack that fits a release of the method; None where it cannot run."""
    chosen = {f.name: AT[f.name] for f in fields(find_method(method).settings) if f.name in AT}
    release = bench.anonymize(method, seed=SEED, **chosen)
    trials = bench.trials(release, SEED)  # the same for all attacks, as where all run at once
    seconds: dict[str, float | None] = {}
    for attack in ATTACKS.values():
        if release.kind not in attack.kinds:
            continue
        start = time.perf_counter()
        lacking = bench.try_attacks(release, [attack.name], SEED, trials=trials).not_run
        took = time.perf_counter() - start
        seconds[attack.name] = None if lacking else took
        told(f"  {method}, {attack.name}: " + (lacking.get(attack.name) or f"{took:.2f} s"))
    return seconds


def shown(title: str, seconds: dict[str, float | None], limit: float) -> bool:
    """Print the seconds of one release; tell whether all attacks together keep the limit."""
    total = sum(took or 0.0 for took in seconds.values())
    print(f"\n{title}")
    for name, took in seconds.items():
        print(f"  {name:28}" + ("  did not run" if took is None else f"{took:8.2f} s"))
    print(f"  {'all':28}{total:8.2f} s   (limit {limit} s)", flush=True)
    return total <= limit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help="methods of the catalog; all without a name")
    methods = parser.parse_args().methods or list(dict.fromkeys([*METHODS, *STREAM_METHODS]))
    tiny = bench_of(*TINY)
    usual = bench_of(*USUAL)
    kept = True
    for method in methods:
        try:
            timed(tiny, method)  # compile
            seconds = timed(usual, method)
        except UserError as error:
            print(f"\n{method}: no release: {error}")
            continue
        kept &= shown(f"{method}, {USUAL[0]:,} users, {USUAL[1]:,} queries", seconds, LIMIT)
    if "clump" in methods:
        seconds = timed(bench_of(*LONG), "clump")
        kept &= shown(f"clump, {LONG[0]:,} users, {LONG[1]:,} queries", seconds, LONG_LIMIT)
        kept &= (seconds["consistent-classes"] or 0.0) <= CLASSES_LIMIT
    print("all claims hold" if kept else "A CLAIM FAILS")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
