"""What the layers look things up in, as arrays of codes for the kernels: made once from the reference's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.brands import ALONE, ALWAYS
from querycloak.knowledge.lines import Lines
from querycloak.knowledge.vectors import SCALE
from querycloak.mapping import _layer_kernels as kernels
from querycloak.mapping._neighbour_kernels import LabelRows
from querycloak.mapping.bulk_words import CodedWords, SplitTexts, sequences_of
from querycloak.mapping.context import CONTEXT, FIRST, LATER
from querycloak.mapping.layer_arrays import Choice, Labels, Names
from querycloak.mapping.layer_tables import ALIKE
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.words import label_text

if TYPE_CHECKING:
    from querycloak.knowledge.lines import LabelLists
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.layer_tables import LayerTables

__all__ = ["choice_of", "label_rows", "labels_of", "names_of"]

Int32s = npt.NDArray[np.int32]

_NEEDS: Final = {ALWAYS: kernels.ALWAYS, ALONE: kernels.ALONE}
_CONTEXT: Final = 2


def names_of(tables: LayerTables, words: CodedWords) -> Names:
    """Return brands and own labels, and note in the facts which words they begin with."""
    brands = tables.brands.brands
    code, start = words.code_lines(Lines.of(brands).column)
    length = np.diff(start)
    np.bitwise_or.at(words.facts[:, kernels.BRANDS], code[start[:-1]], (1 << length).astype(np.int32))
    contexts = [[word for word in brand.context if " " not in word] for brand in brands.values()]
    context_start = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(found) for found in contexts])])
    own = tables.own_labels
    own_code, own_start = words.code_lines(Lines.of(own).column) if own else (np.zeros(0, np.int32), np.zeros(1))
    np.maximum.at(
        words.facts[:, kernels.OWN], own_code[own_start[:-1].astype(np.int64)], np.diff(own_start).astype(np.int32)
    )
    return Names(
        brand=sequences_of(code, start),
        brand_concept=np.array([tables.of_brand(brand) for brand in brands.values()], np.int32),
        needs=np.array([_NEEDS.get(brand.needs, _CONTEXT) for brand in brands.values()], np.uint8),
        context_start=context_start.astype(np.int64),
        context=words.code_texts([word for found in contexts for word in found]),
        own=sequences_of(own_code, own_start.astype(np.int64)),
        own_concept=np.array(list(own.values()), np.int32),
    )


def labels_of(tables: LayerTables, words: CodedWords) -> Labels:
    """Return the labels of WordNet."""
    column = tables.lexicon.columns
    sense_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(column["sense_count"], dtype=np.int64)])
    texts = Lines(column["labels"])
    possessive = np.zeros(len(column["senses"]), np.uint8)
    for line in Lines(column["possessive"]):
        text, _, concept = line.partition("\t")
        at = texts.find(text)
        if at >= 0:
            span = slice(*sense_start[at : at + 2].tolist())
            possessive[span] |= column["senses"][span] == int(concept)
    return Labels(
        text=sequences_of(*words.code_lines(column["labels"])),
        sense_start=sense_start,
        sense=column["senses"].astype(np.int32),
        possessive=possessive,
        stems=sequences_of(*words.code_lines(column["stems"])),
        label_of_stems=column["stem_label"].astype(np.int32),
        starts=sequences_of(*words.code_lines(column["starts"])),
        longest=column["start_words"].astype(np.uint8),
        concept=tables.concepts.astype(np.int32),
    )


def label_rows(wordnet: Taxonomy, words: CodedWords, vectors: npt.NDArray[np.int8]) -> LabelRows:
    """Return the vectors of the words of each concept's labels; the codes of words with a vector are its rows."""
    labels = cast("LabelLists", wordnet.labels)
    data, owner = labels.lines.column, labels.owner
    split = SplitTexts(data, np.concatenate([[0], np.flatnonzero(data == ord("\n")) + 1, [len(data)]]).astype(np.int64))
    odd = [(int(owner[i]), word) for i in split.odd.tolist() for word in label_text(labels.lines[i]).split()]
    row = np.concatenate([words.codes.find(split.words, split.spans), words.find([word for _, word in odd])])
    concept = np.concatenate([np.repeat(owner, np.diff(split.start)), np.array([c for c, _ in odd], np.int64)])
    stops = words.find(sorted(STOP_WORDS))
    keep = (row >= 0) & (row < len(vectors)) & ~np.isin(row, stops)
    row, concept = row[keep], concept[keep]
    order = np.argsort(concept, kind="stable")
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(concept, minlength=len(wordnet)))])
    return LabelRows(
        wordnet.parent.astype(np.int32), wordnet.size.astype(np.int32), start, row[order].astype(np.int32), vectors
    )


def choice_of(tables: LayerTables) -> Choice:
    """Return how senses are chosen."""
    return Choice(SCALE, FIRST, LATER, CONTEXT, ALIKE, tables.guesses, tables.of_concept(tables.person))
