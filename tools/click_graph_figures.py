"""Measure `click-graph-removal` on a generated log: the table of its card, as Markdown.

Run from the root of the repository: `python tools/click_graph_figures.py`. RL is `record-linkage`, in % of the users
who are left, and of all users of the log, as the paper on semantic microaggregation counts it.
"""

from __future__ import annotations

import argparse
from typing import Any

import querycloak as qc
from querycloak.api import Workbench

SETTINGS: tuple[dict[str, Any], ...] = (
    *({"k": 2, "sites": sites, "as_in_paper": True} for sites in (2, 5, 10, 20, 30)),
    {"k": 1, "sites": 1, "as_in_paper": True},
    *({"k": 2, "sites": sites} for sites in (2, 5, 10, 20, 30)),
    {"k": 1, "sites": 1},
)


def main() -> None:
    """Run all settings on one log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=56_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    bench = Workbench(qc.generate(users=given.users, queries=given.queries, seed=given.seed).log)
    print("| settings | rows out | users left | users emptied | RL, users left | RL, all users | knows half |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for settings in SETTINGS:
        release = bench.anonymize("click-graph-removal", seed=given.seed, **settings)
        found = {r.attack: r for r in bench.attack(release, ["record-linkage", "known-queries"], seed=given.seed)}
        left, everybody, half = (
            found[name] for name in ("record-linkage", "record-linkage, all users", "known-queries, half")
        )
        name = f"--k {settings['k']} --sites {settings['sites']}" + " --as-in-paper" * ("as_in_paper" in settings)
        cells = [f"{len(release.log):,}", f"{left.targets:,}", f"{1 - left.targets / everybody.targets:.1%}"]
        cells += [f"{100 * r.rate:.1f}" if r.targets else "" for r in (left, everybody, half)]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
