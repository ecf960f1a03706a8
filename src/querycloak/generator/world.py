"""What all users of a generated log share: terms with their popularity, sites with their concept, common queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from querycloak.errors import TaxonomyError, UnknownNameError
from querycloak.generator.brands import BRANDS, FORMS
from querycloak.generator.model import World
from querycloak.generator.phrases import MOST_TERMS, TEMPLATE_BOUNDS
from querycloak.generator.templates import TEMPLATES

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.randomness import Randomness

__all__ = ["Sites", "Terms", "build_sites", "build_terms", "build_world", "topic_roots"]

TERM_EXPONENT: Final = 0.35
"""Popularity of the r-th term is 1 / r^TERM_EXPONENT (Zipf)."""

MEANING_EXPONENT: Final = 1.5
"""Words with more senses are more frequent (Zipf's law of meaning): frequency grows with this power of the senses."""

_HOURS: Final = (20, 13, 8, 5, 4, 4, 8, 16, 26, 34, 39, 42, 43, 44, 45, 46, 47, 48, 50, 53, 55, 52, 43, 31)
"""Rhythm of the day: searches by hour."""

_RESULTS: Final = 50
"""A search finds at least so many sites, where there are as many."""

_SUFFIXES: Final = ("", "-online", "-guide", "-world", "-shop", "-info")
_ENDINGS: Final = (".com", ".org", ".net")


@dataclass(frozen=True, eq=False)
class Terms:
    """Labels of concepts as people type them, in depth-first order of the concepts."""

    text: pl.Series
    """String[terms], in lower case"""
    concept: npt.NDArray[np.int32]
    """int32[terms], rising"""
    weight: npt.NDArray[np.float64]
    """float64[terms], popularity"""


@dataclass(frozen=True, eq=False)
class Sites:
    """The sites of the generated directory, in depth-first order of their concepts."""

    host: pl.Series
    """String[sites], all different, without 'www.'"""
    concept: npt.NDArray[np.int32]
    """int32[sites], rising"""
    low: npt.NDArray[np.int64]
    """int64[concepts], first of the sites that a search for the concept finds"""
    span: npt.NDArray[np.int64]
    """int64[concepts], how many it finds"""
    name: list[str]
    """names of the well-known sites, the most popular first"""
    brand: npt.NDArray[np.int64]
    """int64[well-known sites], which site each is"""


def build_terms(taxonomy: Taxonomy, random: Randomness) -> Terms:
    """Take every label of every concept but the root, and draw popularity: Zipf, first senses before further ones."""
    concept = np.repeat(np.arange(len(taxonomy), dtype=np.int32), [len(labels) for labels in taxonomy.labels])
    frame = pl.DataFrame(
        {
            "text": [label for labels in taxonomy.labels for label in labels],
            "concept": concept,
            "sense": np.zeros(len(concept), np.int32) if taxonomy.sense is None else taxonomy.sense,
        }
    )
    frame = frame.with_columns(
        pl.col("text").str.to_lowercase().str.replace_all(r"[_\s]+", " ").str.strip_chars()
    ).filter(pl.col("text").str.contains(r"[\p{L}\p{N}]") & ((pl.col("concept") > 0) | (len(taxonomy) == 1)))
    frame = frame.unique(subset=["text", "concept"], keep="first", maintain_order=True)
    if taxonomy.sense is None:
        frame = frame.with_columns(sense=pl.int_range(pl.len(), dtype=pl.Int32).over("text"))
    if frame.is_empty():
        raise TaxonomyError("The taxonomy has no labels besides the root's: a log cannot be generated from it.")
    senses = frame.select(pl.len().over("text")).to_series().to_numpy().astype(np.float64)
    gumbel = -np.log(-np.log(np.maximum(random.uniform(len(frame)), 2.0**-53)))
    score = MEANING_EXPONENT * np.log(senses) + gumbel
    order = np.argsort(-score, kind="stable")
    rank = np.empty(len(frame), dtype=np.float64)
    rank[order] = np.arange(1, len(frame) + 1)
    weight = rank**-TERM_EXPONENT / (1.0 + frame["sense"].to_numpy())
    kept = np.sort(order[:MOST_TERMS])
    return Terms(frame["text"].gather(kept), frame["concept"].to_numpy()[kept], weight[kept])


def topic_roots(taxonomy: Taxonomy, topics: str) -> list[int]:
    """Find the concepts named in a list with commas, by label; the first sense of a label wins.

    >>> from querycloak.knowledge.wordnet import load_wordnet
    >>> wordnet = load_wordnet()
    >>> [wordnet.label(c) for c in topic_roots(wordnet, "disease, social event")]
    ['disease', 'social event']
    """
    wanted = [" ".join(name.lower().split()) for name in topics.split(",") if name.strip()]
    if not wanted:
        return [0]
    roots = []
    for name in wanted:
        senses = taxonomy.find(name)
        if not senses:
            raise UnknownNameError.of("topic", name, [taxonomy.label(c) for c in range(len(taxonomy))])
        roots.append(senses[0])
    return list(dict.fromkeys(roots))


def build_world(taxonomy: Taxonomy, terms: Terms, sites: Sites, topics: list[int]) -> World:
    """Build the arrays that the kernels draw from."""
    first = np.searchsorted(terms.concept, np.arange(len(taxonomy) + 1)).astype(np.int64)
    for topic in topics:
        if first[topic] == first[topic + int(taxonomy.size[topic])]:
            raise TaxonomyError(f"The topic {taxonomy.label(topic)!r} has no labels to make queries of.")
    roots = np.array(topics, dtype=np.int64)
    return World(
        weight=np.concatenate([[0.0], np.cumsum(terms.weight)]),
        concept=terms.concept,
        first=first,
        parent=taxonomy.parent,
        size=taxonomy.size,
        topics=roots,
        site_bounds=np.searchsorted(sites.concept, np.stack([roots, roots + taxonomy.size[roots]], axis=1)),
        template_weight=np.concatenate([[0.0], np.cumsum([t.weight for t in TEMPLATES])]),
        template_bounds=TEMPLATE_BOUNDS,
        form_weight=np.concatenate([[0.0], np.cumsum([form.weight for form in FORMS])]),
        hour_weight=np.concatenate([[0.0], np.cumsum(np.array(_HOURS, dtype=np.float64))]),
    )


def build_sites(taxonomy: Taxonomy, terms: Terms, random: Randomness) -> Sites:
    """Return one to six sites for every concept that has terms, named after one of its labels, and the well-known ones.

    Well-known sites belong to popular concepts by chance; their names say nothing about them.
    """
    concepts, first = np.unique(terms.concept, return_index=True)
    extra = np.minimum(-np.log2(1.0 - random.uniform(len(concepts))), len(_SUFFIXES) - 1).astype(np.int64)
    brands = random.child("brands")
    names = [BRANDS[i] for i in np.argsort(brands.uniform(len(BRANDS)), kind="stable").tolist()]
    popular = np.searchsorted(np.cumsum(terms.weight), brands.uniform(len(BRANDS)) * terms.weight.sum(), side="right")
    concept = np.concatenate([terms.concept[popular], np.repeat(concepts, extra + 1)])
    # well-known sites come first, so that each is called by its name and .com
    labels = pl.concat([pl.Series("name", names), terms.text.gather(np.repeat(first, extra + 1)).alias("name")])
    frame = labels.to_frame().with_columns(pl.col("name").str.replace_all(r"[^a-z0-9]+", ""))
    frame = frame.with_columns(name=pl.when(pl.col("name") == "").then(pl.lit("site")).otherwise(pl.col("name")))
    turn = frame.select(pl.int_range(pl.len()).over("name")).to_series().to_numpy()
    forms = [suffix + ending for ending in _ENDINGS for suffix in _SUFFIXES]
    number = turn // len(forms)
    tail = pl.Series(forms).gather(turn % len(forms))
    digits = pl.Series(np.where(number > 0, number.astype(np.str_), ""))
    hyphen = pl.Series(np.where(number > 0, "-", ""))
    order = np.argsort(concept, kind="stable")
    index = np.empty(len(order), dtype=np.int64)
    index[order] = np.arange(len(order))
    low, span = _results(taxonomy, concept[order])
    host = (frame["name"] + hyphen + digits + tail).gather(order)
    return Sites(host, concept[order], low, span, names, index[: len(names)])


def _results(taxonomy: Taxonomy, site_concept: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the sites that a search for each concept finds: those of the nearest subtree with enough of them."""
    ids = np.arange(len(taxonomy))
    low = np.searchsorted(site_concept, ids).astype(np.int64)
    span = np.searchsorted(site_concept, ids + taxonomy.size).astype(np.int64) - low
    lows, spans, parent = low.tolist(), span.tolist(), taxonomy.parent.tolist()
    for node in range(1, len(taxonomy)):
        if spans[node] < _RESULTS:
            lows[node], spans[node] = lows[parent[node]], spans[parent[node]]
    return np.array(lows, dtype=np.int64), np.array(spans, dtype=np.int64)
