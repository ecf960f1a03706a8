"""Figures of `docs/methods/clump.md` and `partition.md`: clump against partition on a generated log, over WordNet.

Run: python tools/clump_figures.py [users] [queries]. Prints the tables as Markdown and draws docs/methods/clump.svg.
Everything is seeded; only the times differ from run to run.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from querycloak import api
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.knowledge.generalization import Generalization, generalization, transactions_by_owner
from querycloak.knowledge.pruning import CostTree, cost_tree
from querycloak.methods.generalization.clump import Clump, clusters_of
from querycloak.methods.generalization.partition import parts_of
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.arrays.ragged import Ragged
    from querycloak.knowledge.taxonomy import Taxonomy

KS = (5, 7, 10, 15)
SEARCHES = (1, 5, 10, 30, 50, 100)
SVG = Path(__file__).parents[1] / "docs" / "methods" / "clump.svg"
COLOURS = {
    "clump": "#0b3c5d",
    "clump --no-refine": "#1b6ca8",
    "clump --duplicates drop": "#7fb3d5",
    "partition": "#c0392b",
}


@dataclass(frozen=True)
class Run:
    """One clustering and its figures, with duplicates kept and dropped."""

    kept: Generalization
    dropped: Generalization
    seconds: float


def transactions(users: int, queries: int, taxonomy: Taxonomy) -> Ragged:
    """Generate a log, map its queries, and give the set of concepts of every user that has one."""
    made = generate(Generate(users=users, queries=queries, clicks=False), taxonomy, Randomness(seed=1))
    concepts = api.map_log(made.log, taxonomy)
    bags = transactions_by_owner(concepts.user, concepts.concept, owners=users).distinct()
    return bags.take(np.flatnonzero(bags.lengths > 0))


def run(bags: Ragged, costs: CostTree, cluster: Callable[[Ragged], tuple[np.ndarray, Ragged]]) -> Run:
    """Time one clustering and cost what it publishes."""
    nodes = costs.nodes(bags)
    start = time.process_time()
    of, shared = cluster(nodes)
    seconds = time.process_time() - start
    dropped = shared.distinct()
    return Run(
        generalization(costs.tree, nodes, shared.take(of)), generalization(costs.tree, nodes, dropped.take(of)), seconds
    )


def clumped(bags: Ragged, taxonomy: Taxonomy, **settings: object) -> Run:
    """Run clump with some settings."""
    chosen = Clump.from_json(settings)
    costs = cost_tree(taxonomy, bags.values, chosen.to_json())
    return run(bags, costs, lambda nodes: clusters_of(nodes, costs.tree, chosen, Randomness(seed=1)))


def parted(bags: Ragged, taxonomy: Taxonomy, k: int, *, prune: bool = False) -> Run:
    """Run partition."""
    costs = cost_tree(taxonomy, bags.values, {"prune": prune})
    return run(bags, costs, lambda nodes: parts_of(nodes, costs.tree, k))


def table(head: list[str], rows: list[list[str]]) -> None:
    """Print a table as Markdown."""
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def shown(found: Generalization) -> list[str]:
    """Return distortion, length, level, share of root items, share suppressed."""
    return [
        f"{found.share:.1%}",
        f"{found.length:.1f}",
        f"{found.level:.2f}",
        f"{found.root:.0%}",
        f"{found.suppressed:.0%}",
    ]


def by_k(bags: Ragged, taxonomy: Taxonomy) -> dict[str, list[Generalization]]:
    """Compare the methods over k."""
    series: dict[str, list[Generalization]] = {name: [] for name in COLOURS}
    rows = []
    for k in KS:
        usual, greedy = clumped(bags, taxonomy, k=k), clumped(bags, taxonomy, k=k, refine=False)
        total, baseline = clumped(bags, taxonomy, k=k, choose="total", refine=False), parted(bags, taxonomy, k)
        pruned, paper = clumped(bags, taxonomy, k=k, prune=True), clumped(bags, taxonomy, k=k, as_in_paper=True)
        pruned_baseline = parted(bags, taxonomy, k, prune=True)
        for name, found, took in (
            ("clump", usual.kept, usual.seconds),
            ("clump --duplicates drop", usual.dropped, usual.seconds),
            ("clump --no-refine", greedy.kept, greedy.seconds),
            ("clump --no-refine --duplicates drop", greedy.dropped, greedy.seconds),
            ("clump --no-refine --choose total", total.kept, total.seconds),
            ("partition", baseline.kept, baseline.seconds),
            ("clump --prune", pruned.kept, pruned.seconds),
            ("clump --as-in-paper", paper.kept, paper.seconds),
            ("clump --as-in-paper --duplicates drop", paper.dropped, paper.seconds),
            ("partition --prune", pruned_baseline.kept, pruned_baseline.seconds),
        ):
            if name in series:
                series[name].append(found)
            rows.append([str(k), f"`{name}`", *shown(found), f"{took:.1f} s"])
    table(["k", "method", "distortion", "length", "level", "root items", "suppressed", "CPU time"], rows)
    return series


def by_setting(bags: Ragged, taxonomy: Taxonomy) -> dict[str, list[Generalization]]:
    """Compare settings of clump at k = 5."""
    series: dict[str, list[Generalization]] = {"rise": [], "total": []}
    rows = []
    for search in SEARCHES:
        both = {choose: clumped(bags, taxonomy, search=search, choose=choose, refine=False) for choose in series}
        for choose, found in both.items():
            series[choose].append(found.kept)
        rows.append(
            [str(search), *(f"{found.kept.share:.1%}" for found in both.values()), f"{both['rise'].seconds:.2f} s"]
        )
    table(["`--search`", "`--choose rise`", "`--choose total`", "CPU time"], rows)
    rows = []
    greedy: dict[str, object] = {"refine": False}
    variants: list[tuple[str, dict[str, object]]] = [
        ("default", {}),
        ("--order increasing", {"order": "increasing"}),
        ("--order random", {"order": "random"}),
        ("--no-refine", greedy),
        ("--no-refine --order increasing", greedy | {"order": "increasing"}),
        ("--no-refine --order random", greedy | {"order": "random"}),
        ("--no-refine --leftovers search", greedy | {"leftovers": "search"}),
        ("--lcg printed", {"lcg": "printed"}),
        ("--lcg printed --choose total", {"choose": "total", "lcg": "printed"}),
        (
            "--lcg printed --choose total --order increasing",
            {"choose": "total", "lcg": "printed", "order": "increasing"},
        ),
    ]
    variants += [(f"--passes {n}", {"passes": n}) for n in (1, 2, 4, 8)]
    for name, settings in variants:
        found = clumped(bags, taxonomy, **settings)
        rows.append([f"`{name}`", *shown(found.kept), f"{found.seconds:.1f} s"])
    table(["k = 5", "distortion", "length", "level", "root items", "suppressed", "CPU time"], rows)
    return series


def by_size(bags: Ragged, taxonomy: Taxonomy) -> None:
    """Compare the methods over the number of users, at k = 5, with CPU times."""
    rows = []
    for users in sorted({min(n, len(bags.lengths)) for n in (1_000, 3_000, 10**9)}):
        some = bags.take(np.arange(users))
        ours, greedy, baseline = (
            clumped(some, taxonomy),
            clumped(some, taxonomy, refine=False),
            parted(some, taxonomy, 5),
        )
        less = 1 - ours.kept.distortion / baseline.kept.distortion
        shares = [f"{found.kept.share:.1%} ({found.seconds:.1f} s)" for found in (ours, greedy, baseline)]
        rows.append([f"{users:,}", f"{ours.kept.density:.3%}", *shares, f"{less:.0%}"])
    table(["users", "density", "`clump`", "`clump --no-refine`", "`partition`", "less"], rows)


def panel(left: int, title: str, ticks: list[str], lines: dict[str, list[float]], percent: bool) -> list[str]:
    """Draw one panel: lines over evenly spaced ticks, from 0 to 100 % or to a multiple of 4."""
    width, height, top = 250, 190, 46
    highest = 1.0 if percent else 4.0 * math.ceil(max(max(values) for values in lines.values()) / 4)
    out = [f'<text x="{left}" y="{top - 16}" font-weight="bold">{title}</text>']
    for step in range(5):
        y = top + height * (1 - step / 4)
        value = highest * step / 4
        label = f"{value:.0%}" if percent else f"{value:.0f}"
        out.append(f'<line x1="{left}" y1="{y:.0f}" x2="{left + width}" y2="{y:.0f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{label}</text>')
    xs = [left + 16 + (width - 32) * i / (len(ticks) - 1) for i in range(len(ticks))]
    out += [
        f'<text x="{x:.0f}" y="{top + height + 16}" text-anchor="middle">{tick}</text>'
        for x, tick in zip(xs, ticks, strict=True)
    ]
    for name, values in lines.items():
        points = [(x, top + height * (1 - v / highest)) for x, v in zip(xs, values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        colour = COLOURS.get(name, {"rise": "#1b6ca8", "total": "#e59866"}.get(name, "#000"))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return out


def draw(over_k: dict[str, list[Generalization]], over_search: dict[str, list[Generalization]]) -> None:
    """Draw the panels and the legend by hand: no plotting library."""
    ks = [f"k = {k}" for k in KS]
    parts = panel(50, "distortion, share of worst case", ks, {n: [g.share for g in s] for n, s in over_k.items()}, True)
    parts += panel(360, "mean transaction length", ks, {n: [g.length for g in s] for n, s in over_k.items()}, False)
    parts += panel(660, "mean level (root = 1)", ks, {n: [g.level for g in s] for n, s in over_k.items()}, False)
    shares = {n: [g.share for g in s] for n, s in over_search.items()}
    parts += panel(980, "distortion over --search, k = 5", [str(s) for s in SEARCHES], shares, True)
    legend = [*COLOURS.items(), ("--choose rise", "#1b6ca8"), ("--choose total", "#e59866")]
    for i, (name, colour) in enumerate(legend):
        x = 50 + 190 * i
        parts.append(f'<rect x="{x}" y="278" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="284">{name}</text>')
    body = "\n".join(parts)
    SVG.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1260 300" font-family="sans-serif" font-size="12">\n'
        f'<rect width="1260" height="300" fill="white"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Run all experiments."""
    users = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    queries = int(sys.argv[2]) if len(sys.argv) > 2 else 28 * users
    taxonomy = api.load_taxonomy()
    bags = transactions(users, queries, taxonomy)
    clumped(bags.take(np.arange(20)), taxonomy)  # compile
    parted(bags.take(np.arange(20)), taxonomy, 5)
    print(f"{len(bags.lengths):,} users with a concept, {bags.lengths.mean():.1f} concepts each, {queries:,} queries")
    over_k = by_k(bags, taxonomy)
    over_search = by_setting(bags, taxonomy)
    by_size(bags, taxonomy)
    draw(over_k, over_search)


if __name__ == "__main__":
    main()
