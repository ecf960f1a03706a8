"""Speed and memory of microaggregation on two cores.

    python benchmarks/microaggregation.py [end growth reference blocks cost urls last]

The claims: 1,000 users with 56,000 queries from file to file in 10 s; 10,000 users with 30 concepts each, exactly, in
60 s; time against the number of users no steeper than quadratic; 100 times the speed
of the reference implementation at 200 users;
200,000 users in blocks in 15 minutes and 6 GB. Kernels are compiled or loaded before the clock starts. CPU seconds are
over all threads: other work on the machine lengthens them less than the clock's.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import querycloak as qc
from querycloak.api import Workbench
from querycloak.distances.distance import distances_of
from querycloak.distances.user_concepts import user_concepts
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.measures.information_loss import information_loss
from querycloak.methods.microaggregation._category_groups import EventUnits, group_by_categories, user_categories
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags
from querycloak.methods.microaggregation._last_step import Asked, draw_entries
from querycloak.methods.microaggregation._mdav import mdav
from querycloak.randomness import Randomness
from querycloak.texts.phrases import shared_texts

ROOT = Path(__file__).parents[1]
K = 5


class Clock:
    """Seconds by the clock and of the processor."""

    def __enter__(self):
        self.begun, self.used = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds, self.cpu = time.perf_counter() - self.begun, time.process_time() - self.used

    def __str__(self):
        return f"{self.seconds:6.1f} s, {self.cpu:6.1f} s of CPU"


def peak_memory():
    """Gigabytes of this process at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def bags_for(users, concepts=30, seed=1):
    """Users of a generated log who ask about 30 concepts at most."""
    taxonomy = qc.load_taxonomy()
    settings = Generate(users=users, queries=60 * users, concepts_per_user=concepts, clicks=False, spread=0)
    known = generate(settings, taxonomy, Randomness(seed)).concepts.known()
    return user_concepts(known.user, known.concept, users, taxonomy)


def end_to_end():
    print("\nfrom file to file: 1,000 users, 56,000 queries, k = 5 (a process of its own, second run)")
    with tempfile.TemporaryDirectory() as folder:
        log, release = Path(folder) / "log.tsv", Path(folder) / "release.tsv"
        qc.write_generated(qc.generate(users=1000, queries=56_000, seed=1), log)
        command = [sys.executable, "-m", "querycloak", "anonymize", str(log), "-o", str(release)]
        command += ["--method", "semantic-microaggregation", "--k", str(K)]
        for run in ("kernels compiled or from the cache", "again"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begun = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"  {time.perf_counter() - begun:6.1f} s, {cpu:6.1f} s of CPU  {run}")


def growth():
    print("\nexact MDAV, 30 concepts a user, k = 5")
    before = None
    for users in (1000, 2000, 5000, 10_000):
        bags = bags_for(users)
        with Clock() as clock:
            mdav(distances_of(bags), K)
        steeper = ""
        if before:
            power = np.log(clock.cpu / before[1]) / np.log(users / before[0])
            steeper = f"  n^{power:.2f} since the row above (CPU)"
        print(f"  {users:>6,} users, {len(bags.node) / users:4.1f} distinct concepts: {clock}{steeper}")
        before = (users, clock.cpu)


def against_reference():
    sys.path.insert(0, str(ROOT / "tests"))
    from reference.mdav import mdav as reference_mdav
    from reference.semantics import matrix as reference_matrix

    bags = bags_for(200)
    taxonomy = qc.load_taxonomy()
    users = []
    for u in range(200):
        part = slice(bags.start[u], bags.start[u + 1])
        nodes = bags.original[bags.node[part]].tolist()
        users.append(Counter(dict(zip(nodes, bags.times[part].tolist(), strict=True))))
    with Clock() as reference:
        slow = reference_mdav(reference_matrix(taxonomy.parent.tolist(), users), K)
    with Clock() as ours:
        group = mdav(distances_of(bags), K)
    same = [np.flatnonzero(group == g).tolist() for g in range(group.max() + 1)] == slow
    print(
        f"\nagainst the reference, 200 users: {reference.cpu / ours.cpu:,.0f} times as fast (CPU), same groups: {same}"
    )
    print(f"  reference {reference}\n  ours  {ours}")


def in_blocks():
    print("\n200,000 users in blocks, k = 5")
    with Clock() as made:
        bags = bags_for(200_000)
    print(f"  generated in {made.seconds:.0f} s, peak memory by then {peak_memory():.1f} GB")
    with Clock() as clock:
        grouping = group_bags(bags, MdavSettings(k=K))
    size = np.bincount(grouping.group)
    print(f"  {clock}, {grouping.blocks} blocks, groups of {size.min()} to {size.max()}, peak {peak_memory():.1f} GB")


def cost_of_blocks():
    print("\nwhat blocks cost: 5,000 users, 150,000 queries, k = 5")
    made = qc.generate(users=5000, queries=150_000, seed=1)
    bench = Workbench(made.log, qc.load_taxonomy())
    key = "mean distance to the group's medoid"
    for blocks in ("off", "2500", "1000", "500", "125"):
        with Clock() as clock:
            release = bench.anonymize("semantic-microaggregation", seed=1, k=K, blocks=blocks)
        needs = {"concepts": bench.concepts, "release_concepts": bench.concepts_of(release), "taxonomy": bench.taxonomy}
        loss = information_loss(made.log, release, Randomness(1), most_users=5000, **needs)[0]
        at_80 = loss.details["with 80 clusters"]
        distance = release.statement.figures[key]
        print(
            f"  blocks {blocks:>5}: L {loss.value:5.1f}, at 80 clusters {at_80:5.1f}, distance {distance:.4f}, {clock}"
        )


def by_urls():
    print("\ngrouping 10,000 users by categories (Algorithm 2), k = 5")
    taxonomy = qc.load_taxonomy()
    known = generate(Generate(users=10_000, queries=300_000, clicks=False), taxonomy, Randomness(1)).concepts.known()
    units = EventUnits(known.row, known.user, known.concept)
    few = EventUnits(*(column[:999] for column in units))
    for similarity in ("bags", "sets"):
        categories = user_categories(units, 10_000, taxonomy, 5, similarity)
        group_by_categories(user_categories(few, 10_000, taxonomy, 5, similarity), K)
        with Clock() as clock:
            group_by_categories(categories, K)
        print(f"  {similarity}: {clock}, {len(categories.by_user.values) / 10_000:.0f} categories a user")


def last_step():
    """Time what follows the grouping, which is at random here: texts that are shared, and the draw."""
    print("\nlast step: shared texts, and the draw of the groups' texts, groups of 5 at random")
    for users in (1000, 5000, 10_000):
        made, taxonomy = qc.generate(users=users, queries=56 * users, seed=1), qc.load_taxonomy()
        log, known = made.log, made.concepts.known()
        with Clock() as counted:
            shared = shared_texts(log, MdavSettings(k=K).rule, concepts=made.concepts, taxonomy=taxonomy)
        events = np.flatnonzero(log.event)
        group = Randomness(1).permutation(users) // K
        asked = Asked(
            events,
            log.query[events],
            group[log.user[events]],
            np.searchsorted(events, known.row),
            known.concept.astype(np.int64),
        )
        with Clock() as drawn:
            draw_entries(asked, np.bincount(group), shared, taxonomy, Randomness(1))
        print(f"  {users:>6,} users, {len(events):>9,} queries: texts {counted}; draw {drawn}")


PARTS = {
    "last": last_step,
    "end": end_to_end,
    "growth": growth,
    "reference": against_reference,
    "blocks": in_blocks,
    "cost": cost_of_blocks,
    "urls": by_urls,
}


def main():
    load = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}")
    mdav(distances_of(bags_for(50)), K)  # compile
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
