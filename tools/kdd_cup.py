"""Labelled queries of the KDD Cup 2005: reading them, joining its topics to ours, and scoring as the Cup did.

Both tables that join its 67 topics to concepts were made by hand from the two structures, without looking at a labelled
query: `kdd_topics_tree.tsv` from nodes of our tree of topics, and the older `kdd_topics.tsv` from subtrees of WordNet.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from querycloak.knowledge.tables import table_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.knowledge.topic_tree import TopicTree

HERE = Path(__file__).parent
MOST = 5
"""Topics that a query may have, by the rules of the Cup."""


class Labelled(NamedTuple):
    """A query and the topics that a person chose for it."""

    query: str
    topics: frozenset[str]


class Score(NamedTuple):
    """How ranked topics agree with those that a person chose."""

    precision: float
    """share of the topics answered that were chosen, over all pairs of query and topic"""
    recall: float
    """share of the topics chosen that were answered"""
    first: float
    """P@1: share of all queries whose first topic was chosen; no answer is a wrong one"""
    answered: float
    """share of queries with a topic"""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


def read_labelled(path: Path) -> list[Labelled]:
    """Read lines of a query and its topics, separated by tabs; queries without a topic are left out."""
    rows = [line.split("\t") for line in path.read_text("utf-8", errors="replace").splitlines()]
    found = [Labelled(row[0], frozenset(topic.strip() for topic in row[1:] if topic.strip())) for row in rows]
    return [pair for pair in found if pair.topics]


def score(ranked: Sequence[Sequence[str]], chosen: Sequence[frozenset[str]]) -> Score:
    """Score the ranked topics of each query, those after the fifth left out."""
    answers = [topics[:MOST] for topics in ranked]
    right = sum(len(chosen[q].intersection(topics)) for q, topics in enumerate(answers))
    return Score(
        right / max(sum(map(len, answers)), 1),
        right / max(sum(map(len, chosen)), 1),
        sum(bool(topics) and topics[0] in chosen[q] for q, topics in enumerate(answers)) / max(len(chosen), 1),
        sum(map(bool, answers)) / max(len(chosen), 1),
    )


def kdd_topics(tree: TopicTree) -> list[frozenset[str]]:
    """Return the Cup's topics of every node of our tree: those that list it, or the nearest listed node above it."""
    table = HERE / "kdd_topics_tree.tsv"
    listed: dict[int, set[str]] = {}
    for _, (topic, paths) in table_rows(table.read_text("utf-8"), table.name, ["topic", "nodes"]):
        for path in paths.split(";"):
            listed.setdefault(tree.node[path.strip()], set()).add(topic)
    return _inherited(tree.taxonomy, listed)


def older_topics(wordnet: Taxonomy) -> list[frozenset[str]]:
    """Return the Cup's topics of every concept of WordNet by the older table: those of the nearest listed ancestor."""
    listed: dict[int, set[str]] = {}
    for line in (HERE / "kdd_topics.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, topics = line.split("\t")
            label, sense = name.split("#")
            listed[wordnet.find(label)[int(sense) - 1]] = set(topics.split(";"))
    return _inherited(wordnet, listed)


def _inherited(tree: Taxonomy, listed: dict[int, set[str]]) -> list[frozenset[str]]:
    out: list[frozenset[str]] = []
    for node, above in enumerate(tree.parent.tolist()):  # depth first: what is above comes before
        out.append(frozenset(listed[node]) if node in listed else out[above] if above >= 0 else frozenset())
    return out
