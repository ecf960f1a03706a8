"""Print how far the topics of web search and the table of brands reach: WordNet's concepts, and labelled queries.

    python tools/topic_figures.py kdd2005-labelled-queries.tsv

Lines of the file are a query and the topics that people chose for it, by tabs. Names and words are looked up as they
are, the longest first, without the mapper: what a table can do by itself. Nothing printed shows a query.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kdd_cup import kdd_topics, read_labelled, score

from querycloak.knowledge.brands import read_brands
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.words import clauses, label_text

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 6


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Print how far topics and brands reach.")
    parser.add_argument("kdd", type=Path)
    labelled = read_labelled(parser.parse_args().kdd)
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
        seen = score([sorted(topics) for topics in found], human)
        print(f"  {what}: {sum(map(bool, found))} queries, precision {seen.precision:.1%}, F1 {seen.f1:.3f}")


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
