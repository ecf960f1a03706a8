"""The lists by which names of persons are told from other words: embedded ones, and the labels of a taxonomy."""

from __future__ import annotations

import lzma
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["names", "rather_names", "single_labels"]

_PLACE_ROOTS: Final = ("location", "geographical area", "geological formation", "body of water", "natural language")
"""What is below these is a place, or "irish": no ordinary word, but no name either."""


def single_labels(taxonomy: Taxonomy) -> tuple[frozenset[str], frozenset[str]]:
    """Return the labels of one word that are written in lower case, and those of places."""
    subtrees = [(c, c + int(taxonomy.size[c])) for root in _PLACE_ROOTS for c in taxonomy.find(root)]
    labels = taxonomy.labels
    words = frozenset(label for of in labels for label in of if " " not in label and label == label.lower())
    below = (of for begin, end in subtrees for of in labels[begin:end])
    return words, frozenset(label.lower() for of in below for label in of if " " not in label)


@cache
def names() -> dict[str, int]:
    """Read the embedded lists: name → roles."""
    packed = files("querycloak.texts").joinpath("names.txt.xz").read_bytes()
    lines = (line.split(" ") for line in lzma.decompress(packed).decode("ascii").splitlines())
    return {name: int(role) for role, *names in lines for name in names}


@cache
def rather_names() -> dict[str, frozenset[str]]:
    """Read the words that are rather names, by role."""
    out: dict[str, set[str]] = {"first": set(), "last": set()}
    for line in files("querycloak.texts").joinpath("rather_names.txt").read_text("ascii").splitlines():
        if not line.startswith("#"):
            role, names = line.split(": ")
            out[role].update(names.split())
    return {role: frozenset(names) for role, names in out.items()}
