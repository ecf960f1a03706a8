"""The topics of web search: a tree of ours, each node with subtrees of WordNet and the words that people type.

`--taxonomy topics`. The file next to this module says how its three columns are read. Names and words of a node are its
labels, so that queries map to it as to any taxonomy; a concept of WordNet has the topic of the deepest subtree that is
listed and covers it.

>>> tree = load_topic_tree()
>>> tree.taxonomy.path(tree.node["Animals & Pets/Dogs"])
'Top/Animals & Pets/Dogs'
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from querycloak.errors import InputError
from querycloak.knowledge.senses import concepts_of_senses
from querycloak.knowledge.tables import items_of, table_rows
from querycloak.knowledge.taxonomy import ROOT, Int32s, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["Subtree", "TopicTree", "load_topic_tree", "read_topic_tree", "topics_of_concepts"]

FILE: Final = "topics.tsv"
_COLUMNS: Final = ("path", "subtrees", "words")
_NO_TOPIC: Final = -1


class Subtree(NamedTuple):
    """A subtree of WordNet that a topic lists."""

    node: int
    """the topic's concept in the tree of topics"""
    sense: str
    """label#sense of the subtree's root"""
    taken_out: bool
    """not of this topic, although a subtree above it is"""
    line: int


@dataclass(frozen=True, eq=False)
class TopicTree:
    """The tree of topics with what joins it to WordNet."""

    taxonomy: Taxonomy
    node: Mapping[str, int]
    """path without the root, such as 'Animals & Pets/Dogs' → concept of `taxonomy`"""
    listed: tuple[tuple[int, str, int], ...]
    """node, its field of subtrees, line of the file; taken apart by `subtrees`"""
    source: str
    """file, for messages"""

    def subtrees(self) -> list[Subtree]:
        """Return the subtrees of WordNet that the topics list."""
        return [
            Subtree(node, item.removeprefix("-"), item.startswith("-"), line)
            for node, field, line in self.listed
            for item in items_of(field)
        ]


@cache
def load_topic_tree() -> TopicTree:
    """Return our tree of topics; read once, a few milliseconds."""
    return _parse(files("querycloak.knowledge").joinpath(FILE).read_text("utf-8"), FILE)


def read_topic_tree(path: str | PathLike[str]) -> TopicTree:
    """Read a tree of topics from a file in the format of ours."""
    return _parse(Path(path).read_text("utf-8"), str(path))


def topics_of_concepts(tree: TopicTree, wordnet: Taxonomy) -> Int32s:
    """Return the topic of every concept of WordNet: int32[len(wordnet)], a node of the tree, -1 = none.

    Of the subtrees that cover a concept the deepest decides. One that a topic takes out again has the topic that it
    would have if this topic listed nothing.
    """
    subtrees = tree.subtrees()
    concept = concepts_of_senses([subtree.sense for subtree in subtrees], wordnet)
    listed: dict[int, Subtree] = {}
    taken_out: list[tuple[int, Subtree]] = []
    for c, subtree in zip(concept.tolist(), subtrees, strict=True):
        if c < 0:
            raise InputError.at(tree.source, f"there is no concept {subtree.sense!r} in {wordnet.name}", subtree.line)
        if subtree.taken_out:
            taken_out.append((c, subtree))
        elif c in listed:
            twice = f"{subtree.sense!r} is listed in line {listed[c].line} too; a subtree has one topic"
            raise InputError.at(tree.source, twice, subtree.line)
        else:
            listed[c] = subtree
    topic_at = {c: subtree.node for c, subtree in listed.items()}
    for c, subtree in taken_out:
        above = [topic for a in wordnet.ancestors(c) if (topic := topic_at.get(a, _NO_TOPIC)) != _NO_TOPIC]
        if c in listed or subtree.node not in above:
            problem = f"{subtree.sense!r} is taken out of a topic that does not have it"
            raise InputError.at(tree.source, problem, subtree.line)
        topic_at[c] = next((topic for topic in above if topic != subtree.node), _NO_TOPIC)
    out = np.full(len(wordnet), _NO_TOPIC, dtype=np.int32)
    for c in sorted(topic_at):  # in depth-first order an inner subtree comes after the one around it
        out[c : c + int(wordnet.size[c])] = topic_at[c]
    return out


def _parse(text: str, source: str) -> TopicTree:
    node: dict[str, int] = {}
    parent, labels = [-1], [["Top"]]
    listed: list[tuple[int, str, int]] = []
    topic_of_word: dict[str, str] = {}
    open_paths: list[str] = []  # the last topic and those above it
    for line, (path, subtrees, words) in table_rows(text, source, _COLUMNS):
        above, _, name = path.rpartition("/")
        if not name or path in node:
            raise InputError.at(source, f"the topic {path!r} is listed twice" if name else "a topic has no name", line)
        while open_paths and open_paths[-1] != above:
            open_paths.pop()
        if above and not open_paths:
            raise InputError.at(
                source, f"the topic {path!r} does not follow the topic above it or one below that", line
            )
        open_paths.append(path)
        node[path] = len(parent)
        parent.append(node[above] if above else ROOT)
        own = items_of(words)
        for word in own:
            if topic_of_word.setdefault(word, path) != path:
                raise InputError.at(source, f"the word {word!r} is of {topic_of_word[word]!r} too", line)
        same = name.lower()
        labels.append([name, *[word for word in own if word != same]])
        listed.append((node[path], subtrees, line))
    taxonomy = Taxonomy.from_depth_first(np.array(parent, dtype=np.int32), labels, name="topics")
    return TopicTree(taxonomy, node, tuple(listed), source)
