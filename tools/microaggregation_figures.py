"""Measure all microaggregation methods on one generated log, and write the tables and the plot of their cards.

Run from the root of the repository: `python tools/microaggregation_figures.py`. It writes
`docs/methods/microaggregation.svg` and `docs/methods/microaggregation.json`, and prints the tables as Markdown.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import querycloak as qc
from querycloak.api import Workbench
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.resolver import TableResolver
from querycloak.methods.microaggregation import syntactic_microaggregation as syntactic
from querycloak.methods.microaggregation._syntactic_distance import syntactic_matrix

if TYPE_CHECKING:
    from querycloak.generator.generated_log import GeneratedLog

OUT = Path(__file__).parents[1] / "docs" / "methods"
GROUPED = (
    "semantic-microaggregation",
    "plain-microaggregation",
    "syntactic-microaggregation",
    "url-microaggregation",
    "word-microaggregation",
)
COLOURS = {"semantic": "#1b7837", "plain": "#762a83", "syntactic": "#e08214", "url": "#2166ac", "word": "#b2182b"}
KS = range(2, 8)


def resolver_of(made: GeneratedLog) -> TableResolver:
    """Return the first site of what each query is about: what a search engine would do in the generated world."""
    known = made.concepts.known()
    concept = np.full(len(made.log.queries), -1)
    concept[known.query[::-1]] = known.concept[::-1]
    site = np.minimum(np.searchsorted(made.sites.concept, concept), len(made.sites.concept) - 1)
    hosts = made.sites.host.gather(site).to_list()
    has = made.sites.concept[site] == concept
    texts = made.log.queries.to_list()
    return TableResolver({q: [f"www.{h}"] for q, h, there in zip(texts, hosts, has.tolist(), strict=True) if there})


class Once:
    """Computes the syntactic distances once: they do not depend on k, and take a minute or two."""

    def __init__(self) -> None:
        self._kept: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Return what the first call gave."""
        if self._kept is None:
            self._kept = syntactic_matrix(*arguments)
        return self._kept


def figures_of(bench: Workbench, method: str, seed: int, **settings: Any) -> dict[str, Any]:
    """Anonymize, attack and measure once."""
    begun = time.perf_counter()
    release = bench.anonymize(method, seed=seed, **settings)
    seconds = time.perf_counter() - begun
    loss, srp, one_for_one = bench.measure(release, names=["information-loss", "srp"], seed=seed)
    linked, everybody = bench.attack(release, names=["record-linkage"], seed=seed)
    return {
        "method": method,
        **settings,
        "seconds": round(seconds, 2),
        "rows": len(release.log),
        "users": len(release.log.users),
        "L": loss.value,
        "clusters": loss.details["clusters"],
        "L80": loss.details.get("with 80 clusters"),
        "RL": 100 * linked.rate,
        "RL, all users": 100 * everybody.rate,
        "srp": [100 * srp.details[f"level {level}"] for level in range(1, 6)],
        "srp one for one": [100 * one_for_one.details[f"level {level}"] for level in range(1, 6)],
        "figures": release.statement.figures,
    }


def table(rows: list[dict[str, Any]], methods: list[str], value: str) -> str:
    """Lay out one value by method and k as a Markdown table."""
    lines = ["| method | " + " | ".join(f"k = {k}" for k in KS) + " |", "|---|" + "---:|" * len(KS)]
    for name in methods:
        cells = [next((r[value] for r in rows if r["name"] == name and r["k"] == k), None) for k in KS]
        lines.append(f"| {name} | " + " | ".join("" if c is None else f"{c:.1f}" for c in cells) + " |")
    return "\n".join(lines)


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw L and RL against k, side by side, as SVG."""
    names = [n for n in dict.fromkeys(r["name"] for r in rows) if n.removesuffix(" refined") in COLOURS]
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 330" font-family="sans-serif" font-size="12">',
        '<rect width="860" height="330" fill="white"/>',
    ]
    for left, value, title, low, high in (
        (60, "L80", "information loss L, 80 clusters (%)", 40, 80),
        (430, "RL", "record linkage RL (%), dashed: 100/k", 0, 55),
    ):
        parts.append(f'<text x="{left}" y="22" font-weight="bold">{title}</text>')

        def x(k: float, left: int = left) -> float:
            return left + (k - 2) * 56

        def y(v: float, low: float = low, high: float = high) -> float:
            return 280 - (v - low) / (high - low) * 240

        for tick in range(low, high + 1, 10):
            parts.append(f'<line x1="{left}" x2="{x(7)}" y1="{y(tick)}" y2="{y(tick)}" stroke="#ddd"/>')
            parts.append(f'<text x="{left - 8}" y="{y(tick) + 4}" text-anchor="end">{tick}</text>')
        parts += [f'<text x="{x(k)}" y="298" text-anchor="middle">{k}</text>' for k in KS]
        parts.append(f'<text x="{x(4.5)}" y="318" text-anchor="middle">k</text>')
        if value == "RL":
            points = " ".join(f"{x(k)},{y(100 / k)}" for k in KS)
            parts.append(f'<polyline points="{points}" fill="none" stroke="black" stroke-dasharray="4 4"/>')
        for name in names:
            colour = COLOURS[name.removesuffix(" refined")]
            dash = ' stroke-dasharray="2 3"' if name.endswith("refined") else ""
            points = " ".join(f"{x(r['k'])},{y(r[value]):.1f}" for r in rows if r["name"] == name)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    for i, name in enumerate(names):
        colour = COLOURS[name.removesuffix(" refined")]
        dash = ' stroke-dasharray="2 3"' if name.endswith("refined") else ""
        at = 50 + 20 * i
        parts.append(f'<line x1="735" x2="760" y1="{at}" y2="{at}" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="766" y="{at + 4}">{name}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def run_all(bench: Workbench, seed: int) -> list[dict[str, Any]]:
    """Run every method at every k."""
    rows: list[dict[str, Any]] = []
    for k in KS:
        for method in GROUPED:
            rows.append({"name": method.split("-")[0], **figures_of(bench, method, seed, k=k)})
            print(rows[-1], flush=True)
        refined = figures_of(bench, "semantic-microaggregation", seed, k=k, refine=True)
        rows.append({"name": "semantic refined", **refined})
    for sites in (1, 2):
        row = figures_of(bench, "click-graph-removal", seed, k=sites, sites=sites)
        rows.append({"name": "click-graph", **row})
    return rows


def main() -> None:
    """Run everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=56_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    made = qc.generate(users=given.users, queries=given.queries, seed=given.seed)
    taxonomy = qc.load_taxonomy()
    listed = made.directory()
    directory = SiteDirectory.of(listed["site"], listed["category"], taxonomy)
    bench = Workbench(made.log, taxonomy, directory, resolver_of(made))
    with patch.object(syntactic, "syntactic_matrix", Once()):
        rows = run_all(bench, given.seed)
    given.out.mkdir(exist_ok=True)
    (given.out / "microaggregation.json").write_text(json.dumps(rows, indent=1) + "\n")
    plot(rows, given.out / "microaggregation.svg")
    names = list(dict.fromkeys(r["name"] for r in rows if r["name"] != "click-graph"))
    for value in ("L", "L80", "RL"):
        print(f"\n{value}\n\n{table(rows, names, value)}")
    for key in ("srp", "srp one for one"):
        for level in range(5):
            flat = [{**r, "value": r[key][level]} for r in rows]
            print(f"\n{key}, level {level + 1}\n\n{table(flat, ['url', 'word', 'semantic'], 'value')}")
    saved = [{**r, "value": 100 * r["figures"].get("distance saved by refinement", 0)} for r in rows]
    print(f"\nsaved by refinement\n\n{table(saved, ['semantic refined'], 'value')}")
    print([r for r in rows if r["name"] == "click-graph"])


if __name__ == "__main__":
    main()
