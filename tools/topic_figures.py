"""Print how far the topics of web search and the table of brands reach: WordNet's concepts, and labelled queries.

    python tools/topic_figures.py kdd2005-labelled-queries.tsv

Lines of the file are a query and the topics that people chose for it, by tabs. Names and words are looked up as they
are, the longest first, without the mapper: what a table can do by itself. Nothing printed shows a query.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mapping_figures import agree

from querycloak.knowledge.brands import read_brands
from querycloak.knowledge.tables import table_rows
from querycloak.knowledge.topic_tree import TopicTree, load_topic_tree, topics_of_concepts
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.words import clauses, label_text

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = Path(__file__).with_name("kdd_topics_tree.tsv")
LONGEST = 6


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Print how far topics and brands reach.")
    parser.add_argument("kdd", type=Path)
    rows = [line.split("\t") for line in parser.parse_args().kdd.read_text("utf-8", errors="replace").splitlines()]
    labelled = [(row[0], frozenset(topic.strip() for topic in row[1:] if topic.strip())) for row in rows]
    labelled = [pair for pair in labelled if pair[1]]
    tree, brands = load_topic_tree(), load_brands()
    topic = topics_of_concepts(tree, load_wordnet())
    print(
        f"{len(tree.taxonomy):,} nodes, {len(tree.taxonomy.children(0))} at the top; WordNet: {(topic >= 0).mean():.1%}"
    )
    print(f"{len(read_brands()):,} lines of brands, {len(brands):,} names")
    node_of_word = {label_text(label): n for n, labels in enumerate(tree.taxonomy.labels) for label in labels}

    def brand(key: str, others: list[str]) -> int | None:
        found = brands.get(key)
        return found.topic if found is not None and found.meant_with(others) else None

    def word(key: str, _: list[str]) -> int | None:
        return node_of_word.get(key)

    kdd = kdd_topics(tree)
    by_brand = [frozenset().union(*(kdd[n] for n in nodes(query, brand))) for query, _ in labelled]
    by_word = [frozenset().union(*(kdd[n] for n in nodes(query, word))) for query, _ in labelled]
    either = [brand | word for brand, word in zip(by_brand, by_word, strict=True)]
    human = [topics for _, topics in labelled]
    print(f"{len(labelled)} labelled queries")
    for what, found in (("a brand", by_brand), ("a word of a topic", by_word), ("either", either)):
        seen = agree(found, human)
        print(f"  {what}: {sum(map(bool, found))} queries, precision {seen.precision:.1%}, F1 {seen.f1:.3f}")


def kdd_topics(tree: TopicTree) -> list[frozenset[str]]:
    """Return the KDD Cup's topics of every node: those that list it, or the nearest listed node above it."""
    listed: dict[int, set[str]] = {}
    for _, (topic, paths) in table_rows(TABLE.read_text("utf-8"), TABLE.name, ["topic", "nodes"]):
        for path in paths.split(";"):
            listed.setdefault(tree.node[path.strip()], set()).add(topic)
    above = [tree.taxonomy.ancestors(node) for node in range(len(tree.taxonomy))]
    return [frozenset(next((listed[a] for a in path if a in listed), ())) for path in above]


def nodes(query: str, find: Callable[[str, list[str]], int | None]) -> list[int]:
    """Return the nodes that are found in a query from left to right, the longest stretch of words first."""
    found = []
    parts = clauses(query)
    for at, words in enumerate(parts):
        start = 0
        while start < len(words):
            for end in range(min(start + LONGEST, len(words)), start, -1):
                others = [w for i, part in enumerate(parts) if i != at for w in part] + words[:start] + words[end:]
                node = find(" ".join(words[start:end]), others)
                if node is not None:
                    found.append(node)
                    start = end
                    break
            else:
                start += 1
    return found


if __name__ == "__main__":
    main()
