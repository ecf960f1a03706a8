"""Concepts of WordNet by label and sense, as our tables write them: `dog#1` is the first sense of "dog".

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> animals = Taxonomy.from_parents([-1, 0, 0], [["animal"], ["dog"], ["cat"]])
>>> concepts_of_senses(["cat#1", "cat#2", "cow#1"], animals).tolist()
[2, -1, -1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.knowledge.taxonomy import Int32s, Taxonomy

__all__ = ["concepts_of_senses", "split_sense"]


def split_sense(text: str) -> tuple[str, int] | None:
    """Return the label, in lower case, and the number of the sense, from 1; None where the text is not label#sense."""
    label, mark, number = text.rpartition("#")
    if not mark or not label or not number.isascii() or not number.isdigit() or number.startswith("0"):
        return None
    return label.lower(), int(number)


def concepts_of_senses(texts: Sequence[str], taxonomy: Taxonomy) -> Int32s:
    """Return the concept of each `label#sense`: int32[len(texts)], -1 where there is none.

    The same as `Taxonomy.find(label)[sense - 1]`, in one pass over the labels instead of an index of all of them.
    """
    wanted = [split_sense(text) for text in texts]
    senses: dict[str, dict[int, None]] = {split[0]: {} for split in wanted if split is not None}
    owner = np.repeat(np.arange(len(taxonomy)), np.fromiter(map(len, taxonomy.labels), np.int64, len(taxonomy)))
    rank = taxonomy.depth[owner] if taxonomy.sense is None else taxonomy.sense
    flat = [label.lower() for labels in taxonomy.labels for label in labels]
    at = np.array([i for i, label in enumerate(flat) if label in senses], dtype=np.int64)
    for i in at[np.argsort(rank[at], kind="stable")].tolist():
        senses[flat[i]].setdefault(int(owner[i]))  # labels of one concept may differ in case alone
    out = np.full(len(texts), -1, dtype=np.int32)
    for i, split in enumerate(wanted):
        if split is not None and split[1] <= len(senses[split[0]]):
            out[i] = list(senses[split[0]])[split[1] - 1]
    return out
