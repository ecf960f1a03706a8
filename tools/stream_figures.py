"""Prints the tables of docs/methods/self-adjusting.md: `python tools/stream_figures.py [TABLE ...] [records]`.

A generated log over a directory-like tree of depth 13 goes through the stream methods, and each release is attacked and
measured: `grid` for every k and depth; `hold` for every depth at k = 3, with records held back or not, over a tree so
small that a category has as many records as one of AOL's; `edges` is the distance in edges per query, next to both of
its denominators, and the delay, at k = 3 over both trees, without attacks; `trees` is for a log without categories,
whose queries are mapped to WordNet or to the topics: how they are shared between top-level categories, and what leaves;
`timing` is the attacker who watches when ids leave, next to the others, with the paper's settings and with the
defaults, on a log of 2,000 users who repeat themselves.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from querycloak.evaluation.workbench import Workbench
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.generator.tree import generate_directory_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.measures.against_bound import against_bound
from querycloak.measures.category_emd import PAPER_LARGEST
from querycloak.measures.stream_flow import LOWER
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

KS = (3, 10, 30, 100, 200)
DEPTHS = (1, 3, 5, 7, 9, 11)
HOLDS = (0, 100, 300, 1000)
PER_CATEGORY = 140
"""Records of a category: 27.2 million in 194,505, as the paper counts."""
DELAYS = [name for name in LOWER if "delay" in name]
HEAD = "left | simple | full | activity | EMD share | delay | bag | waiting |"


def directory_log(records: int, categories: int = 20_000, seed: int = 1, users: int | None = None) -> QueryLog:
    """Generate a log with categories in a directory-like tree, in the order of time."""
    random = Randomness(seed=seed)
    tree = generate_directory_tree(load_wordnet(), random.child("tree"), depth=13, categories=categories)
    settings = Generate(users=users or records // 44, queries=records, clicks=False, categories=True, order="time")
    log = generate(settings, tree, random.child("log")).log
    depth = [path.count("/") for path in (log.categories.to_list() if log.categories is not None else [])]
    print(f"{log!r}, {len(depth):,} distinct categories, depth to {max(depth)}")
    return log


def figures(bench: Workbench, method: str, **settings: int) -> tuple[str, list[float]]:
    """Make, attack and measure one release; give the cells of its line, and the rates of the attackers."""
    release = bench.anonymize(method, seed=1, as_in_paper=True, **settings)
    rates = [a.rate for a in bench.attack(release, ["stream-linkage"], seed=2)]
    scores = {s.measure: s.value for s in bench.measure(release, ["category-emd", "stream-flow"])}
    simple, full, activity = (f"{rate:.2%}" for rate in rates)
    line = (
        f"{scores['records that left']:.2%} | {simple} | {full} | {activity} "
        f"| {scores['category EMD, share of the largest']:.2%} | {scores['mean delay in records']:.0f} "
        f"| {scores['mean size of query bags']:.1f} | {scores['users waiting at the end']:.0f} |"
    )
    return line, rates


def grid(records: int) -> None:
    """Print a line per method, k and depth, then the rates against 1/k."""
    bench = Workbench(directory_log(records))
    print(f"| method | k | depth | {HEAD}\n" + "|---" * 11 + "|", flush=True)
    best: dict[int, list[float]] = {d: [] for d in DEPTHS}
    for method in ("self-adjusting", "fixed-depth"):
        for k in KS if method == "self-adjusting" else KS[:1]:
            for d in DEPTHS:
                line, rates = figures(bench, method, k=k, depth=d)
                if method == "self-adjusting":
                    best[d].append(max(rates[:2]))
                print(f"| {method} | {k} | {d} | {line}", flush=True)
    print("\n| depth | D | p |\n|---|---|---|")
    for d in DEPTHS:
        statistic, p = against_bound(best[d], KS)
        print(f"| {d} | {statistic:.2f} | {p:.4f} |")


def hold(records: int) -> None:
    """Print a line per number of records held back, and depth; and fixed depth next to them."""
    bench = Workbench(directory_log(records, records // PER_CATEGORY))
    print(f"| hold | depth | {HEAD}\n" + "|---" * 10 + "|", flush=True)
    for n in HOLDS:
        for d in DEPTHS:
            print(f"| {n} | {d} | {figures(bench, 'self-adjusting', k=3, depth=d, hold=n)[0]}", flush=True)
    for d in DEPTHS:
        print(f"| fixed depth | {d} | {figures(bench, 'fixed-depth', k=3, depth=d)[0]}", flush=True)


def edges(records: int) -> None:
    """Print the distance in edges per query and as a share of both denominators, and the delay."""
    names = "categories | method | depth | edges/query | of Σ depth + Σ depth | of 18.2"
    print(f"| {names} | mean | p50 | p90 | p99 | longest |")
    print("|---" * 11 + "|", flush=True)
    for categories in (20_000, records // PER_CATEGORY):
        log = directory_log(records, categories)
        assert log.categories is not None
        bench = Workbench(log)
        for method in ("self-adjusting", "fixed-depth"):
            for d in DEPTHS if method == "self-adjusting" else DEPTHS[:1] + DEPTHS[-2:]:
                release = bench.anonymize(method, seed=1, as_in_paper=True, k=3, depth=d)
                scores = {s.measure: s for s in bench.measure(release, ["category-emd", "stream-flow"])}
                moved = scores["category EMD, edges per query"]
                largest = moved.details["largest possible"]
                delay = [scores[name].value for name in DELAYS]
                print(
                    f"| {len(log.categories):,} | {method} | {d} | {moved.value:.2f} of {largest:.2f} "
                    f"| {moved.value / largest:.1%} | {moved.value / PAPER_LARGEST:.1%} | "
                    + " | ".join(f"{value:,.0f}" for value in delay)
                    + " |",
                    flush=True,
                )


def trees(records: int) -> None:
    """Print how a log without categories is shared out by each taxonomy, and what self-adjusting makes of it."""
    settings = Generate(users=records // 44, queries=records, clicks=False, order="time")
    log = generate(settings, load_wordnet(), Randomness(seed=1)).log
    benches = {name: Workbench(log, name) for name in ("wordnet", "topics")}
    print("| taxonomy | top-level sets | with 1 % or more | as many as if alike | largest | without a category |")
    print("|---" * 6 + "|", flush=True)
    for name, bench in benches.items():
        found = bench.paths("/")
        top, has = [path[:1] for path in found.paths], found.classified()
        counts = Counter(top[c] for c in found.code[has].tolist())
        shares = np.array(list(counts.values())) / has.sum()
        alike = 1 / (shares**2).sum()
        wide = (shares >= 0.01).sum()
        print(f"| {name} | {len(shares)} | {wide} | {alike:.1f} | {shares.max():.1%} | {1 - has.mean():.1%} |")
    emd = " | ".join(f"EMD in {name}" for name in benches)
    print(f"\n| taxonomy | texts | left | mean delay | p50 | p99 | {emd} | simple | full | activity |")
    print("|---" * 11 + "|", flush=True)
    for name, bench in benches.items():
        for as_in_paper in (False, True):
            release = bench.anonymize("self-adjusting", seed=1, as_in_paper=as_in_paper)
            flow = {s.measure: s.value for s in bench.measure(release, ["stream-flow"])}
            moved = [
                {s.measure: s.value for s in other.measure(release, ["category-emd"])} for other in benches.values()
            ]
            rates = [attack.rate for attack in bench.attack(release, ["stream-linkage"], seed=2)]
            cells = [
                name,
                "as they are" if as_in_paper else "what ten share",
                f"{flow['records that left']:.1%}",
                *(f"{flow[d]:,.0f}" for d in (DELAYS[0], DELAYS[1], DELAYS[3])),
                *(f"{m['category EMD, share of the largest']:.1%}" for m in moved),
                *(f"{rate:.2%}" for rate in rates),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


def timing(records: int) -> None:
    """Print a line per k, as in the paper and by default: what the attackers get right, and what it costs."""
    bench = Workbench(directory_log(records, users=2000))
    head = "texts | k | 1/k | timing | its surest fifth | of records | simple | full | activity | EMD share | left"
    print(f"| {head} | delay p50 | p99 | longest |\n" + "|---" * 14 + "|", flush=True)
    for as_in_paper in (True, False):
        for k in (3, 10, 30):
            release = bench.anonymize("self-adjusting", seed=1, as_in_paper=as_in_paper, k=k)
            watched, *linked = bench.attack(release, ["stream-timing", "stream-linkage"], seed=2)[::-1]
            moved = {s.measure: s.value for s in bench.measure(release, ["category-emd"])}
            flow = release.statement.figures
            cells = [
                "as they are" if as_in_paper else "what k share",
                str(k),
                f"{1 / k:.1%}",
                f"{watched.rate:.1%} ≤ {watched.high:.1%}",
                f"{watched.details['the surest fifth']:.1%}",
                f"{watched.details['records with a text published often']:.0%}",
                *(f"{attack.rate:.1%} ≤ {attack.high:.1%}" for attack in linked[::-1]),
                f"{moved['category EMD, share of the largest']:.1%}",
                f"{len(release.log) / len(bench.log):.1%}",
                *(f"{flow[name]:,.0f}" for name in ("delay p50", "delay p99", "longest delay")),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if not word.isdigit()] or ["grid", "hold", "edges", "trees", "timing"]
    size = next((int(word) for word in sys.argv[1:] if word.isdigit()), 300_000)
    for name in chosen:
        {"grid": grid, "hold": hold, "edges": edges, "trees": trees, "timing": timing}[name](size)
