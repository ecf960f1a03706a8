"""Which queries of a log mean a text that is a label, or an item with its path."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.arrays.ragged import CountedRows

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["Meanings"]

_NONE: Final = np.zeros(0, dtype=np.int32)

_LONGEST: Final = 12
"""Words of the longest label that is looked for where several are joined; WordNet's longest has 9."""


class Meanings:
    """The queries of a log by what they mean: those of a concept are those at or below it in the tree."""

    def __init__(self, concepts: ConceptLog, taxonomy: Taxonomy) -> None:
        known = concepts.known()
        by_concept = CountedRows.of(known.concept, known.query, len(taxonomy))
        self._taxonomy = taxonomy
        self._start = by_concept.start.tolist()  # concepts are in depth-first order: a subtree is a slice
        self._query = by_concept.values
        self._found: dict[str, npt.NDArray[np.int32]] = {}

    def of_concept(self, concept: int) -> npt.NDArray[np.int32]:
        """Return the queries at or below a concept, ascending, each once."""
        first, last = self._start[concept], self._start[concept + int(self._taxonomy.size[concept])]
        return np.unique(self._query[first:last]) if first < last else _NONE

    def of_items(self, release: Release, texts: pl.Series) -> dict[int, npt.NDArray[np.int32]]:
        """Return the queries of each text of a release of items, by the paths with which it is published.

        `texts` are those of the release as they are compared. A text that is no label of one of its paths has no entry:
        the path says nothing about it.
        """
        log = release.log
        if log.category is None or log.categories is None:
            raise ValueError("a release of items has a path for each row")
        paths = log.categories.to_list()
        pairs = np.unique(np.stack([log.query, log.category], axis=1), axis=0)
        words = texts.to_list()
        out: dict[int, npt.NDArray[np.int32]] = {}
        astray: set[int] = set()
        for text, path in pairs[pairs[:, 0] >= 0].tolist():
            named = self._of_path.get(paths[path], []) if path >= 0 else []
            if not set(named) & set(self._senses.get(words[text], ())):
                astray.add(text)
                continue
            for concept in named:
                found = self.of_concept(concept)
                out[text] = np.union1d(out[text], found) if text in out else found
        return {text: queries for text, queries in out.items() if text not in astray}

    def of_texts(
        self, texts: pl.Series, which: npt.NDArray[np.int64], *, joined: bool
    ) -> dict[int, npt.NDArray[np.int32]]:
        """Return the queries of those texts, of `which`, that are labels; the others have no entry.

        With `joined`, also texts made of several labels: their queries are those that mean all of them.
        """
        out: dict[int, npt.NDArray[np.int32]] = {}
        for t, text in zip(which.tolist(), texts.gather(which).to_list(), strict=True):
            if text in self._senses:
                out[t] = self._of_label(text)
            elif joined and (labels := self._split(text)):
                out[t] = self._of_all(labels)
        return out

    def of_bracketed(self, texts: pl.Series) -> dict[int, npt.NDArray[np.int32]]:
        """Return the queries of those texts that are labels in brackets, as `[restaurant]`; others have no entry."""
        which = np.flatnonzero((texts.str.starts_with("[") & texts.str.ends_with("]")).to_numpy())
        inside = texts.str.slice(1).str.strip_suffix("]")
        return self.of_texts(inside, which, joined=False)

    @cached_property
    def _of_path(self) -> dict[str, list[int]]:
        """The concepts of every path. Some share one, and a reader cannot tell them apart: the path means all."""
        out: dict[str, list[int]] = {}
        for concept, path in enumerate(self._taxonomy.paths):
            out.setdefault(path, []).append(concept)
        return out

    @cached_property
    def _senses(self) -> dict[str, list[int]]:
        """The concepts of every label, compared as texts are; a label names all its senses."""
        out: dict[str, list[int]] = {}
        for concept, labels in enumerate(self._taxonomy.labels):
            for label in labels:
                senses = out.setdefault(" ".join(label.replace("_", " ").lower().split()), [])
                if concept not in senses:
                    senses.append(concept)
        return out

    def _of_label(self, label: str) -> npt.NDArray[np.int32]:
        """Return the queries at or below one of the concepts of a label, ascending, each once."""
        if label not in self._found:
            found = [queries for c in self._senses[label] if len(queries := self.of_concept(c))]
            self._found[label] = np.unique(np.concatenate(found)) if found else _NONE
        return self._found[label]

    def _of_all(self, labels: list[str]) -> npt.NDArray[np.int32]:
        """Return the queries that mean all of the labels, ascending."""
        found = self._of_label(labels[0])
        for label in labels[1:]:
            if not len(found):
                break
            found = np.intersect1d(found, self._of_label(label), assume_unique=True)
        return found

    def _split(self, text: str) -> list[str]:
        """Take a text apart into labels, few and long ones first; [] where that cannot be done."""
        words = text.split(" ")
        best: list[list[str] | None] = [None] * len(words) + [[]]  # best[i]: the labels of words[i:]
        for i in range(len(words) - 1, -1, -1):
            for j in range(min(len(words), i + _LONGEST), i, -1):
                rest, label, so_far = best[j], " ".join(words[i:j]), best[i]
                if rest is None or label not in self._senses:
                    continue
                if so_far is None or len(rest) + 1 < len(so_far):
                    best[i] = [label, *rest]
        return best[0] or []
