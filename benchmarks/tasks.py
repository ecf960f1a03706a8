"""Speed of the tasks, and what they say of some methods.

    python benchmarks/tasks.py [LOG]

The claim: all tasks for a release of 1,000 users with 56,000 queries in 1.5 s, once what it is judged against is
prepared. Without LOG, the log is generated. Seconds are of the processor, over all threads.
"""

from __future__ import annotations

import os
import sys
import time

import polars as pl

import querycloak as qc
from querycloak.api import Workbench
from querycloak.randomness import Randomness
from querycloak.tasks.original import as_release, blind_log
from querycloak.tasks.suite import prepare, score_tasks
from querycloak.tasks.task import scaled

METHODS = {
    "pseudonyms only": ("sweep", {"as_in_paper": True}),
    "sweep, 5 people per text": ("sweep", {"min_query_users": 5}),
    "semantic-microaggregation": ("semantic-microaggregation", {"k": 5}),
    "plain-microaggregation": ("plain-microaggregation", {"k": 5}),
    "clump": ("clump", {"k": 5}),
    "partition": ("partition", {"k": 5}),
    "semantic-dp, ε = 5": ("semantic-dp", {"epsilon": 5}),
    "histogram-dp, ε = 5": ("histogram-dp", {"epsilon": 5}),
    "frequent-queries, ε = 5": ("frequent-queries", {"epsilon": 5}),
    "self-adjusting": ("self-adjusting", {"k": 5}),
}


def main():
    load = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}")
    log = qc.read_log(sys.argv[1]) if len(sys.argv) > 1 else qc.generate(users=1000, queries=56_000, seed=1).log
    bench = Workbench(log, qc.load_taxonomy())
    concepts = bench.concepts
    begun, used = time.perf_counter(), time.process_time()
    data = prepare(log, concepts, bench.taxonomy, Randomness(1))
    print(f"{log!r}: prepared in {time.perf_counter() - begun:.2f} s, {time.process_time() - used:.2f} s of CPU")

    def judge(name, release, ends=()):
        mapped = bench.concepts_of(release)
        began, spent = time.perf_counter(), time.process_time()
        scores = score_tasks(data, release, mapped)
        took = f"{time.perf_counter() - began:5.2f} s, {time.process_time() - spent:5.2f} s of CPU"
        print(f"\n{name} ({took})")
        for i, score in enumerate(scores):
            on_scale = scaled(score, ends[0][i], ends[1][i]) if ends else None
            shown = f"  scaled {on_scale.value:6.3f} [{on_scale.low:6.3f}, {on_scale.high:6.3f}]" if on_scale else ""
            interval = f"{score.value:.4f} [{score.low:.4f}, {score.high:.4f}]"
            print(f"  {score.task:28}{interval}{shown}  {score.cases:,} cases; {score.note}")
        return scores

    ends = (
        judge("the original", as_release(log)),
        judge("blind", as_release(blind_log(log, Randomness(2)))),
    )
    labels = pl.Series([labels[0] for labels in bench.taxonomy.labels]).unique(maintain_order=True)
    judge("blind, labels of the taxonomy", as_release(blind_log(log, Randomness(2), labels)), ends)
    for name, (method, settings) in METHODS.items():
        judge(name, bench.anonymize(method, seed=1, **settings), ends)


if __name__ == "__main__":
    main()
