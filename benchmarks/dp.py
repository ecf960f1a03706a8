"""Draws of the semantic exponential mechanism, and noisy counts of 5 million rows.

Run: python benchmarks/dp.py [rows]. Claims, one core: 700,000 draws/s or more over the concepts below `abstraction`, at
least 100 times a brute-force NumPy draw of the same run; `frequent-queries` within twice the time of reading the rows.
The weights are calibrated before the draws are timed: once for a domain, whatever the number of draws.
Times are of the processor, which other work on the machine does not change much.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from read_log import generate

import querycloak as qc
from querycloak.knowledge.topics import read_topics
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
from querycloak.randomness import Randomness

DRAWS = 1_000_000
USERS = 10_000


def brute_force(taxonomy, root, concept, epsilon, spread, random):
    """Equation 5 and 3 over all candidates at once, then one draw: what NumPy does without cells."""
    inside = slice(root, root + int(taxonomy.size[root]))
    level = taxonomy.depth[inside] - taxonomy.depth[root]
    shared = np.empty(len(level))
    for above in reversed(taxonomy.ancestors(concept)):
        if above >= root:
            shared[above - root : above - root + taxonomy.size[above]] = (
                taxonomy.depth[above] - taxonomy.depth[root] + 1
            )
    union = level[concept - root] + level + 2 - shared
    sim = 1 - np.log2(1 + (union - shared) / union)
    weight = np.exp(epsilon * sim / (2 * spread))
    total = np.cumsum(weight)
    return root + int(np.searchsorted(total, random.random() * total[-1]))


def draws():
    taxonomy = qc.load_taxonomy()
    topics = read_topics("paper", taxonomy)
    root = topics.common(taxonomy)
    source = np.random.default_rng(1)
    concept = (root + source.integers(0, taxonomy.size[root], DRAWS)).astype(np.int32)
    # users of 100 queries each on the mean, so that a value of ε comes about 100 times
    user = source.integers(0, USERS, DRAWS)
    epsilon = 5 / np.bincount(user, minlength=USERS)[user]
    print(f"{int(taxonomy.size[root]):,} concepts, {DRAWS:,} draws, {len(np.unique(epsilon)):,} values of ε")
    rates = {}
    for criterion in ("sqc1", "sqc2", "nsqc"):
        mechanism = Mechanism.over(taxonomy, [root], criterion=criterion, profile=topics.fine)
        mechanism.draw(concept[:100], epsilon[:100], Randomness())  # compile or load
        mechanism = Mechanism.over(taxonomy, [root], criterion=criterion, profile=topics.fine)
        start = time.process_time()
        mechanism.calibration.tables(np.unique(epsilon).tolist(), [0] * len(np.unique(epsilon)))
        calibrating = time.process_time() - start
        start = time.process_time()
        mechanism.draw(concept, epsilon, Randomness())
        rates[criterion] = DRAWS / (time.process_time() - start)
        print(f"  {criterion}: {rates[criterion]:>12,.0f} draws/s, calibrated in {calibrating:.2f} s")
    spread = float(Mechanism.over(taxonomy, [root], criterion="sqc1").calibration.spread[0])
    start = time.process_time()
    for i in range(300):
        brute_force(taxonomy, root, int(concept[i]), epsilon[i], spread, source)
    slow = 300 / (time.process_time() - start)
    print(f"  brute force, NumPy, sqc1: {slow:,.0f} draws/s; the cells are {rates['sqc1'] / slow:,.0f} times as fast")


def counts(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        generate(path, rows)
        start = time.process_time()
        log = qc.read_log(path)
        reading = time.process_time() - start
        print(f"reading {len(log):,} rows: {reading:.2f} s")
        qc.anonymize(qc.QueryLog.of(["a"], ["b"]), "frequent-queries")  # load and compile
        for per_user in (1, 5, 20):
            start = time.process_time()
            release = qc.anonymize(log, "frequent-queries", per_user=per_user)
            took = time.process_time() - start
            print(
                f"  frequent-queries, per user {per_user:>2}: {took:6.2f} s, {took / reading:.2f} times the reading, "
                f"{len(release.log):,} queries published"
            )


if __name__ == "__main__":
    draws()
    counts(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
