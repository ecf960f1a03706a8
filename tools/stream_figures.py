"""Prints the tables of docs/methods/self-adjusting.md: `python tools/stream_figures.py [records]`.

A generated log over a directory-like tree of depth 13 goes through the stream methods for every k and depth; each
release is attacked and measured.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.measure.against_bound import against_bound
from querycloak.randomness import Randomness
from querycloak.synthetic import Generate, generate, generate_directory_tree
from querycloak.workbench import Workbench

if TYPE_CHECKING:
    from querycloak.records import QueryLog

KS = (3, 10, 30, 100, 200)
DEPTHS = (1, 3, 5, 7, 9, 11)


def directory_log(records: int, seed: int = 1) -> QueryLog:
    """Generate a log with categories in a directory-like tree, in the order of time."""
    random = Randomness(seed=seed)
    tree = generate_directory_tree(load_wordnet(), random.child("tree"), depth=13)
    settings = Generate(users=records // 44, queries=records, clicks=False, categories=True, order="time")
    return generate(settings, tree, random.child("log")).log


def main(records: int) -> None:
    """Print a line per method, k and depth, then the rates against 1/k."""
    log = directory_log(records)
    bench = Workbench(log)
    depth = [path.count("/") for path in (log.categories.to_list() if log.categories is not None else [])]
    print(f"{log!r}, {len(depth):,} distinct categories, depth to {max(depth)}")
    print("| method | k | depth | left | simple | full | activity | EMD share | delay | bag | waiting |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    rates: dict[int, list[float]] = {d: [] for d in DEPTHS}
    for method in ("self-adjusting", "fixed-depth"):
        for k in KS if method == "self-adjusting" else KS[:1]:
            for d in DEPTHS:
                release = bench.anonymize(method, seed=1, k=k, depth=d)
                attacks = bench.attack(release, ["stream-linkage"], seed=2)
                scores = {s.measure: s.value for s in bench.measure(release, ["category-emd", "stream-flow"])}
                simple, full, activity = (f"{a.rate:.2%}" for a in attacks)
                if method == "self-adjusting":
                    rates[d].append(max(a.rate for a in attacks[:2]))
                print(
                    f"| {method} | {k} | {d} | {scores['records that left']:.2%} | {simple} | {full} | {activity} "
                    f"| {scores['category EMD, share of the largest']:.2%} | {scores['mean delay in records']:.0f} "
                    f"| {scores['mean size of query bags']:.1f} | {scores['users waiting at the end']:.0f} |",
                    flush=True,
                )
    print("\n| depth | D | p |\n|---|---|---|")
    for d in DEPTHS:
        statistic, p = against_bound(rates[d], KS)
        print(f"| {d} | {statistic:.2f} | {p:.4f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000)
