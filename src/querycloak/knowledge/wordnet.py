"""The nouns of WordNet 3.0, embedded: the default taxonomy.

The tree takes the first hypernym of each synset; the further ones are in `Taxonomy.more_parents`. The file next to this
module is made by `tools/build_wordnet.py` and is a NumPy archive of these columns, synsets in depth-first order:

==============  =====  ==========================================================================
up              i4[n]  distance from a synset back to its parent; 1 for the root, whose parent is -1
further         i4[2]  child and parent of each further hypernym
label_count     u1[n]  labels of each synset
labels          text   the labels of all synsets, one per line, the preferred one of a synset first
sense           u1     per label: rank of the synset among those of the label, the commonest first
irregular       text   irregular plural, tab, singular
==============  =====  ==========================================================================

>>> from querycloak.knowledge.wordnet import load_wordnet
>>> load_wordnet()
Taxonomy(wordnet, 82,115 concepts, depth 19)
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np

from querycloak.knowledge.lines import LabelLists, Lines
from querycloak.knowledge.taxonomy import Taxonomy

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["irregular_nouns", "is_wordnet", "load_wordnet"]


@cache
def load_wordnet() -> Taxonomy:
    """Return the taxonomy of WordNet's nouns; read once."""
    columns = _read("up", "further", "label_count", "labels", "sense")
    up = columns["up"]
    child, parent = columns["further"]
    return Taxonomy.from_depth_first(
        np.arange(len(up), dtype=np.int32) - up,
        LabelLists(Lines(columns["labels"]), columns["label_count"]),
        name="wordnet",
        more_parents=(child, parent),
        sense=columns["sense"].astype(np.int32),
    )


def is_wordnet(taxonomy: Taxonomy) -> bool:
    """Tell whether a taxonomy is the one of `load_wordnet`, without loading it for another."""
    return taxonomy.name == "wordnet" and taxonomy is load_wordnet()


@cache
def irregular_nouns() -> dict[str, str]:
    """Return irregular plural → singular, in lower case: 'geese' → 'goose'."""
    pairs = (line.split("\t") for line in reversed(Lines(_read("irregular")["irregular"]).all()))
    return {plural: singular for plural, singular in pairs}  # noqa: C416 - the first of a repeated plural wins


def _read(*names: str) -> dict[str, npt.NDArray[Any]]:
    with as_file(files("querycloak.knowledge") / "wordnet-nouns.npz") as path, np.load(path, allow_pickle=False) as npz:
        return {name: npz[name] for name in names}
