"""A category tree like that of a web directory: deep, from 'Top' down, with names from a taxonomy's labels."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from querycloak.errors import ParameterError
from querycloak.knowledge.taxonomy import Taxonomy

if TYPE_CHECKING:
    from querycloak.randomness import Randomness

__all__ = ["generate_directory_tree"]


def generate_directory_tree(
    taxonomy: Taxonomy, random: Randomness, *, depth: int = 13, categories: int = 20_000, top: int = 15
) -> Taxonomy:
    """Grow a tree of about `categories` categories at depth 1 to `depth`, `top` of them at depth 1.

    Depths follow 1 + Binomial(depth - 1, 2/3): the mean is 9 for depth 13, as for AOL's queries in the Open Directory.
    Each category hangs below a random one of the level above, early ones preferred, so that some branches are far
    bushier than others. Names are labels of the taxonomy, different among siblings.

    >>> from querycloak.knowledge.wordnet import load_wordnet
    >>> from querycloak.randomness import Randomness
    >>> tree = generate_directory_tree(load_wordnet(), Randomness(seed=1), depth=13, categories=2_000)
    >>> tree.label(0), tree.height
    ('Top', 13)
    """
    if depth < 1:
        raise ParameterError.of("depth", "an integer >= 1", depth)
    if categories < top + depth:
        raise ParameterError.of("categories", f"an integer >= {top + depth}", categories)
    chance = [comb(depth - 1, d) * (2 / 3) ** d * (1 / 3) ** (depth - 1 - d) for d in range(depth)]
    level_sizes = [max(top, round(categories * p)) for p in chance]
    words = sorted({label.lower() for labels in taxonomy.labels for label in labels if label.isalpha()})
    if not words:
        words = ["category"]
    parents, labels = [-1], [["Top"]]
    above = np.zeros(1, dtype=np.int64)
    taken: dict[int, set[str]] = {}
    for size in level_sizes:
        squared = random.uniform(size) ** 2
        chosen = above[(squared * len(above)).astype(np.int64)]
        picks = random.integers(len(words), size)
        first = len(parents)
        for parent, pick in zip(chosen.tolist(), picks.tolist(), strict=True):
            name = words[pick].capitalize()
            siblings = taken.setdefault(parent, set())
            if name in siblings:
                name = f"{name} {len(siblings)}"
            siblings.add(name)
            parents.append(parent)
            labels.append([name])
        above = np.arange(first, len(parents))
    return Taxonomy.from_parents(parents, labels, name="directory")
