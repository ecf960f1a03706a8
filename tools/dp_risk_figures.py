"""How much more than without the release attackers know from releases with differential privacy.

    python tools/dp_risk_figures.py [--users 1000 4000] [--epsilon 1 3] [--seed 2]

Logs are generated, 32 query events per user. For each method, ε and attack: on how many people it was tried, how much
more often it is right than without the release (in points), and the upper end of the 95 % interval of that. The last
line is the highest upper end of all.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import querycloak as qc
from querycloak.catalog import ATTACKS

METHODS = ("semantic-dp", "histogram-dp", "frequent-queries", "synthetic-dp")
ATTACKERS = ("relink", "shape", "claim", "membership")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, nargs="*", default=[1000, 4000])
    parser.add_argument("--epsilon", type=float, nargs="*", default=[1.0, 3.0])
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seed", type=int, default=2)
    given = parser.parse_args()
    worst = 0.0
    print("| users | method | ε | attack | people | lift, points | at most |\n" + "|---" * 7 + "|")
    for users in given.users:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.tsv"
            qc.write_generated(qc.generate(users=users, queries=32 * users, seed=given.seed), path)
            bench = qc.Workbench(qc.read_log(path))
        for method in given.methods:
            for epsilon in given.epsilon:
                begun = time.perf_counter()
                release = bench.anonymize(method, seed=given.seed, epsilon=epsilon)
                names = [name for name in ATTACKERS if release.kind in ATTACKS.find(name).kinds]
                found = bench.try_attacks(release, names, seed=given.seed)
                start = f"| {users:,} | {method} | {epsilon:g} |"
                for a in found.results:
                    print(f"{start} {a.attack} | {a.targets:,} | {100 * a.lift:.2f} | {100 * a.lift_high:.2f} |")
                    worst = max(worst, 100 * a.lift_high)
                for name, why in (found.not_run | found.nothing).items():
                    print(f"{start} {name} | 0 | | {why} |")
                print(f"{start} ({time.perf_counter() - begun:.0f} s) | | | |", flush=True)
    print(f"\nthe highest upper end: {worst:.2f} points")


if __name__ == "__main__":
    main()
