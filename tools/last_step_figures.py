"""Make docs/last-step.md: the five microaggregations as in their papers and with the last step of today, k = 5.

    python tools/last_step_figures.py                    # 1,000 users, 56,000 queries; syntactic on 400 users
    python tools/last_step_figures.py --table fresh --methods semantic,plain,url,word
    python tools/last_step_figures.py --table excite --log excite.log --methods semantic,plain,word

The attack is run with several seeds, since the interval of one is as wide as what is to be shown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from microaggregation_figures import resolver_of

import querycloak as qc
from querycloak.api import Workbench
from querycloak.knowledge.directory import SiteDirectory
from querycloak.randomness import Randomness
from querycloak.tasks.suite import prepare, score_tasks

PAGE = Path(__file__).parents[1] / "docs" / "last-step.md"
LOG_SEEDS = {"work": 1, "fresh": 2}
"""Tables of the page over generated logs: the seed of the log"""
METHODS = ("semantic", "plain", "url", "word", "syntactic")
RUNS: dict[str, dict[str, Any]] = {
    "as in the paper": {"as_in_paper": True},
    "m = 5": {},
    "m = 20": {"min_query_users": 20},
}
COLUMNS = (
    "rows / events",
    "of them labels",
    "top 100",
    "topics",
    "suggestions",
    "L, 80",
    "claim",
    "without",
    "lift",
    "own texts",
)


def bench_of(users: int, queries: int, seed: int = 1) -> Workbench:
    """Return a generated log with its directory on the bench."""
    made = qc.generate(users=users, queries=queries, seed=seed)
    taxonomy, listed = qc.load_taxonomy(), made.directory()
    return Workbench(
        made.log, taxonomy, SiteDirectory.of(listed["site"], listed["category"], taxonomy), resolver_of(made)
    )


def figures_of(bench: Workbench, data: Any, method: str, seeds: list[int], **settings: Any) -> dict[str, float]:
    """Measure one method once, and attack it with every seed."""
    release = bench.anonymize(method, seed=seeds[0], k=5, **settings)
    scores = {s.measure: s for s in bench.measure(release, ["top-queries", "information-loss"], seed=1)}
    shared = scores["rank correlation, top 100 of texts of 5 people"]
    tasks = {s.task: s.value for s in score_tasks(data, release, bench.concepts_of(release))}
    rates = []
    for seed in seeds:
        again = bench.anonymize(method, seed=seed, k=5, **settings)
        found = bench.attack(again, names=["claim"], seed=seed)[0]
        rates.append((found.rate, found.baseline.rate if found.baseline else 0.0))
    right, without = np.mean(rates, axis=0).tolist()
    label = release.log.queries.str.starts_with("[").to_numpy()[release.log.query]
    own = bench.askers_of(release).own[release.log.query]
    return dict(
        zip(
            COLUMNS,
            (
                len(release.log) / int(bench.log.event.sum()),
                float(label.mean()),
                shared.value,
                tasks["topics"],
                tasks["suggestions, shared texts"],
                scores["information loss"].curve[80],
                100 * right,
                100 * without,
                100 * (right - without),
                float(own.mean()),
            ),
            strict=True,
        )
    ) | {"shared texts": shared.details["texts"]}


def table(rows: list[tuple[str, str, dict[str, float]]]) -> str:
    """Lay the figures out as a Markdown table."""
    digits = dict.fromkeys(COLUMNS, 3) | {"L, 80": 1, "claim": 1, "without": 1, "lift": 1}
    lines = ["| method | run | " + " | ".join(COLUMNS) + " |", "|---|---|" + "---:|" * len(COLUMNS)]
    for method, run, found in rows:
        lines.append(f"| {method} | {run} | " + " | ".join(f"{found[c]:.{digits[c]}f}" for c in COLUMNS) + " |")
    return "\n".join(lines)


def write_table(name: str, rows: list[tuple[str, str, dict[str, float]]]) -> None:
    """Put a table in its section of the page."""
    start, end = f"<!-- {name}: made by tools/last_step_figures.py -->", f"<!-- end of {name} -->"
    page = PAGE.read_text()
    PAGE.write_text(f"{page.split(start)[0]}{start}\n\n{table(rows)}\n\n{end}{page.split(end)[1]}")


def main() -> None:
    """Measure, and write one table of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="work", choices=[*LOG_SEEDS, "excite"])
    parser.add_argument("--log", type=Path, help="the log, where it is not generated")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--runs", default=",".join(RUNS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--work", type=Path, help="a file to which each row is appended as JSON")
    given = parser.parse_args()
    seeds = [int(seed) for seed in given.seeds.split(",")]
    benches: dict[int, tuple[Workbench, Any]] = {}
    rows = []
    for method in given.methods.split(","):
        users = 400 if method == "syntactic" and given.log is None else 1000
        if users not in benches:
            if given.log is None:
                bench = bench_of(users, 56 * users, LOG_SEEDS[given.table])
            else:
                bench = Workbench(qc.read_log(given.log), qc.load_taxonomy())
            data = prepare(bench.log, bench.concepts, bench.taxonomy, Randomness(1).child("tasks"))
            benches[users] = bench, data
        for run in given.runs.split(","):
            found = figures_of(*benches[users], f"{method}-microaggregation", seeds, **RUNS[run])
            rows.append((f"{method}, {len(benches[users][0].log.users)} users", run, found))
            print(rows[-1], flush=True)
            if given.work:
                with given.work.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    write_table(given.table, rows)


if __name__ == "__main__":
    main()
