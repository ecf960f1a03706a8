"""Print how well queries map to WordNet, in each mode, on two real logs.

    python tools/mapping_figures.py excite-small.log kdd2005-labelled-queries.tsv

The first is lines of user, time, query; the second lines of a query and the topics that people chose for it, by tabs.
A concept's topics are those of its nearest ancestor in `kdd_topics.tsv`, a table made by hand from the structure of
WordNet and of the topics, without looking at the labelled queries. Nothing printed shows a query, unless
`--examples N` asks for random ones to read.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Taxonomy

MODES = ("segments", "phrases")
TABLE = Path(__file__).with_name("kdd_topics.tsv")
SHUFFLES = 200


class Agreement(NamedTuple):
    """How the topics of mapped concepts agree with those that people chose."""

    hit: float
    """share of queries with a topic in common"""
    precision: float
    """share of the mapped topics that people chose"""
    recall: float
    """share of the topics that people chose that are mapped"""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Print how well queries map to WordNet, in each mode.")
    parser.add_argument("excite", type=Path)
    parser.add_argument("kdd", type=Path)
    parser.add_argument("--examples", type=int, default=0, help="random queries to show with their concepts (internal)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wordnet = load_wordnet()
    mappers = {mode: Mapper(wordnet, mode) for mode in MODES}
    queries = [fields[2] for fields in _rows(options.excite) if len(fields) > 2]
    print(coverage(queries, mappers))
    labelled = [(fields[0], frozenset(t.strip() for t in fields[1:] if t.strip())) for fields in _rows(options.kdd)]
    print(agreement([pair for pair in labelled if pair[1]], mappers, read_table(wordnet), options.seed))
    for query in random.Random(options.seed).sample(sorted(set(queries)), options.examples):
        print(f"\n{query}")
        for mode, mapper in mappers.items():
            print(f"  {mode}: " + "; ".join(_shown(wordnet, *unit) for unit in mapper.map_query(query).units))


def coverage(queries: list[str], mappers: dict[str, Mapper]) -> str:
    """Return the table of how many queries have a concept."""
    lines = [
        f"{len(queries):,} rows, {len(set(queries)):,} distinct queries",
        "| mode | rows with a concept | distinct queries with a concept | units a row | concepts a mapped row |",
        "|---|---|---|---|---|",
    ]
    for mode, mapper in mappers.items():
        found = {query: mapper.concepts(query) for query in queries}
        rows = [found[query] for query in queries]
        mapped = [sum(c >= 0 for c in units) for units in rows if max(units) >= 0]
        distinct = sum(max(units) >= 0 for units in found.values()) / len(found)
        units = sum(map(len, rows)) / len(rows)
        share = len(mapped) / len(rows)
        lines.append(f"| {mode} | {share:.1%} | {distinct:.1%} | {units:.2f} | {sum(mapped) / len(mapped):.2f} |")
    return "\n".join(lines) + "\n"


def agreement(
    labelled: list[tuple[str, frozenset[str]]], mappers: dict[str, Mapper], table: dict[int, frozenset[str]], seed: int
) -> str:
    """Return the table of how concepts agree with topics, with the figures of chance below each mode."""
    human = [topics for _, topics in labelled]
    lines = [
        f"{len(labelled):,} labelled queries",
        "| mode | queries with a concept | with a topic | hit | precision | recall | F1 |",
        "|---|---|---|---|---|---|---|",
    ]
    for mode, mapper in mappers.items():
        concepts = [[c for c in mapper.concepts(query) if c >= 0] for query, _ in labelled]
        topics = [topics_of(found, mapper.taxonomy, table) for found in concepts]
        seen = agree(topics, human)
        chance = by_chance(topics, human, seed)
        shares = f"{sum(map(bool, concepts)) / len(labelled):.1%} | {sum(map(bool, topics)) / len(labelled):.1%}"
        lines.append(f"| {mode} | {shares} | {_row(seen)} |")
        lines.append(f"| {mode}, topics of another query | | | {_row(chance)} |")
    return "\n".join(lines) + "\n"


def read_table(taxonomy: Taxonomy) -> dict[int, frozenset[str]]:
    """Read the hand-made table: concept → topics."""
    table = {}
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, topics = line.split("\t")
        label, sense = name.split("#")
        table[taxonomy.find(label)[int(sense) - 1]] = frozenset(topics.split(";"))
    return table


def topics_of(concepts: list[int], taxonomy: Taxonomy, table: dict[int, frozenset[str]]) -> frozenset[str]:
    """Return the topics of concepts: each has those of its nearest ancestor in the table."""
    out: set[str] = set()
    for concept in concepts:
        out |= next((table[above] for above in taxonomy.ancestors(concept) if above in table), frozenset())
    return frozenset(out)


def agree(mapped: Sequence[frozenset[str]], human: Sequence[frozenset[str]]) -> Agreement:
    """Compare the topics of every query with those that people chose."""
    common = [len(m & h) for m, h in zip(mapped, human, strict=True)]
    return Agreement(
        sum(map(bool, common)) / len(common),
        sum(common) / max(sum(map(len, mapped)), 1),
        sum(common) / max(sum(map(len, human)), 1),
    )


def by_chance(mapped: Sequence[frozenset[str]], human: Sequence[frozenset[str]], seed: int) -> Agreement:
    """Return the mean agreement when every query takes the topics of a random other one."""
    shuffler = random.Random(seed)
    found = [agree(shuffler.sample(mapped, len(mapped)), human) for _ in range(SHUFFLES)]
    return Agreement(*(sum(column) / SHUFFLES for column in zip(*found, strict=True)))


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8", errors="replace").splitlines() if line]


def _row(figures: Agreement) -> str:
    return f"{figures.hit:.1%} | {figures.precision:.1%} | {figures.recall:.1%} | {figures.f1:.3f}"


def _shown(taxonomy: Taxonomy, text: str, concept: int) -> str:
    if concept < 0:
        return f"{text} → none"
    return f"{text} → {taxonomy.label(concept)} ({taxonomy.label(max(int(taxonomy.parent[concept]), 0))})"


if __name__ == "__main__":
    main()
