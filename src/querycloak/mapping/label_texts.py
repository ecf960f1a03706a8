"""The texts by which the concepts of a taxonomy are found, in the order of their priority."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.words import fold, label_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["label_texts", "possessive_pairs"]

_ARTICLES: Final = frozenset({"a", "an", "the"})


def label_texts(taxonomy: Taxonomy, weight: npt.NDArray[Any] | None) -> list[list[tuple[str, int]]]:
    """Return the texts by which concepts are found, in three lists; of equal texts the one to use comes first.

    Labels; the same without stop words; and, in a directory, the parts of double labels.
    """
    labels = [(label_text(label), concept) for label, concept in _in_order(taxonomy, weight)]
    less = [(less, concept) for text, concept in labels if (less := _without_stop_words(text))]
    parts = [(part, concept) for text, concept in labels for part in _parts(text)] if taxonomy.sense is None else []
    return [labels, less, parts]


def _in_order(taxonomy: Taxonomy, weight: npt.NDArray[Any] | None) -> list[tuple[str, int]]:
    """Return (label, concept) pairs; of those with the same label the one to use comes first."""
    flat = list(chain.from_iterable(taxonomy.labels))
    concept = np.repeat(np.arange(len(taxonomy)), np.fromiter(map(len, taxonomy.labels), np.int64, len(taxonomy)))
    if taxonomy.sense is not None:
        order = np.argsort(taxonomy.sense, kind="stable")
    else:
        heavy = taxonomy.size if weight is None else weight
        order = np.lexsort((concept, -np.asarray(heavy, np.float64)[concept], taxonomy.depth[concept]))
    return [(flat[i], c) for i, c in zip(order.tolist(), concept[order].tolist(), strict=True)]


def _without_stop_words(text: str) -> str:
    """Return a label without its stop words where something telling is left: two words, or all but the articles."""
    words = text.split()
    less = [word for word in words if word not in STOP_WORDS]
    if len(less) == len(words) or not less:
        return ""
    return " ".join(less) if len(less) > 1 or _ARTICLES.issuperset(set(words) - set(less)) else ""


def _parts(text: str) -> list[str]:
    """Return the parts of a directory's double label: 'swimming and diving' is found by 'diving' (Batet, Example 2)."""
    words = text.split()
    if words.count("and") != 1 or "and" in {words[0], words[-1]}:
        return []
    halves = text.split(" and ")
    return [half for half in halves if not STOP_WORDS.issuperset(half.split())]


def possessive_pairs(taxonomy: Taxonomy) -> frozenset[tuple[str, int]]:
    """Return (text, concept) where the concept has the text only through labels that end in a possessive.

    "men's" (the room) is read as "men", as a query's "men's" is; who types "men" hardly means it.
    """
    out = set()
    for concept, labels in enumerate(taxonomy.labels):
        ends = [fold(label).endswith(("'s", "s'")) for label in labels]
        if any(ends):
            texts = _with_shorter([label for label, end in zip(labels, ends, strict=True) if end])
            plain = _with_shorter([label for label, end in zip(labels, ends, strict=True) if not end])
            out |= {(text, concept) for text in texts - plain}
    return frozenset(out)


def _with_shorter(labels: list[str]) -> set[str]:
    texts = {label_text(label) for label in labels}
    return (texts | {_without_stop_words(text) for text in texts}) - {""}
