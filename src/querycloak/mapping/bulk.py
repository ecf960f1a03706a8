"""Many queries in layers: the answers of `LayerReader.read`, by kernels over the codes of words.

.. code-block:: text

    texts → words → codes                                     _split_kernels, arrays.vocabulary
          what is not plain text → LayerReader.read           web addresses, accents
    codes → units → concepts                                  _layer_kernels
          what is not known yet → Lexicon, LayerTables        words, guesses, senses; then the kernel again

What is known of a word or a label is asked of the reference once, when a query first needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.vocabulary import ByteCodes
from querycloak.knowledge.lines import Lines
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping import _layer_kernels as kernels
from querycloak.mapping._class_kernels import LETTERS, read_classes
from querycloak.mapping.bulk_senses import KnownSenses
from querycloak.mapping.bulk_tables import choice_of, labels_of, names_of
from querycloak.mapping.bulk_words import CodedWords, split_texts
from querycloak.mapping.layer_arrays import Found, Queries, Room
from querycloak.mapping.layer_tables import LEAST_JOINED
from querycloak.mapping.lexicon import forms_of
from querycloak.mapping.reading import concepts_in
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.word_table import NOT_THERE

if TYPE_CHECKING:
    import polars as pl

    from querycloak.mapping.bulk_words import SplitTexts
    from querycloak.mapping.parallel import Block
    from querycloak.mapping.reading import LayerReader

__all__ = ["BulkReader"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_WORDS_KEPT: Final = 2_000_000
"""Words remembered at most; then all are forgotten."""


class BulkReader:
    """Reads many queries at once."""

    def __init__(self, reader: LayerReader) -> None:
        """Take the reference, with our vectors: with a user's own, queries are read one by one."""
        self._reader = reader
        self.left = 0
        """queries that were left to the reference"""
        self._load()

    def _load(self) -> None:
        tables = self._reader.tables
        self._vectors = np.ascontiguousarray(tables.vectors.matrix)
        self._words = CodedWords()
        self._words.code_lines(Lines.of(tables.vectors.words).column)  # first: the code of such a word is its row
        tables.lexicon.unpack()
        self._labels = labels_of(tables, self._words)
        self._names = names_of(tables, self._words)
        self._senses = KnownSenses(load_wordnet(), self._labels.concept, self._words, self._vectors)
        self._choice = choice_of(tables)
        self._room = Room.of(kernels.MOST_WORDS, self._vectors.shape[1])
        self._starts = np.zeros((len(self._words.facts) + 1, 2), np.bool_)  # the last row: of no label
        first = self._labels.starts.start[:-1]
        self._starts[self._labels.starts.code[first], 0] = True
        self._starts[self._labels.starts.code[first + 1], 1] = True
        self._read_senses()

    def _read_senses(self) -> None:
        """Note the senses of the word table, and which joined words have one."""
        sense, known = self._reader.tables.table.sense_of_row, self._words.codes
        self._words.facts[: len(sense), kernels.SENSE] = sense
        end = known.ends[1 : len(sense) + 1]
        spans = np.stack([np.append(0, end[:-1]), end], axis=1).astype(np.int32)
        row = np.flatnonzero((sense != NO_CODE) & (sense != NOT_THERE) & (np.diff(spans, axis=1)[:, 0] >= LEAST_JOINED))
        self._joined = ByteCodes()
        code = np.full(len(row), -1, np.int32)
        self._joined.code(known.texts, spans[row], 0, np.arange(len(row), dtype=np.int32), code)
        self._joined_row = np.append(row, -1).astype(np.int32)
        self._joined_sense = np.append(sense[row], NO_CODE).astype(np.int32)

    def read(self, texts: pl.Series) -> Block:
        """Return the number of units of each query, and the concepts of all units."""
        if len(self._words.codes) > _WORDS_KEPT:
            self._load()
        split = split_texts(texts)
        queries = self._queries(split)
        found = self._found(queries)
        which = np.delete(np.arange(len(texts)), split.odd)
        while len(which):
            found.missing[:] = 0
            kernels.read_layers(
                which, queries, self._words.facts, self._vectors, self._names, self._labels, self._senses.arrays,
                self._choice, found, self._room,
            )  # fmt: skip
            which = which[found.units[which] == kernels.PENDING]
            self._learn(queries, found)
        return self._packed(texts, split, queries, found)

    def _queries(self, split: SplitTexts) -> Queries:
        code = self._words.code(split.words, split.spans)
        self._learn_words(np.unique(code[self._words.facts[code, kernels.LETTER] == 0]))
        pair = np.flatnonzero(split.ends == 0)  # the next word is of the same clause
        spans = np.stack([split.spans[pair, 0], split.spans[pair + 1, 1]], axis=1)
        joined = np.full(len(code), -1, np.int32)
        joined[pair] = self._joined.find(split.words, spans)
        stop = (self._words.facts[code, kernels.FLAGS] & kernels.STOP) > 0
        classes, phrase = self._words.facts[code, kernels.LETTER], np.zeros(len(code), np.int32)
        read_classes(split.start, split.ends, stop, classes, phrase)
        rows, senses = self._joined_row[joined], self._joined_sense[joined]
        return Queries(split.start, code, split.ends, classes, phrase, rows, senses)

    def _learn_words(self, codes: Int32s) -> None:
        """Ask the lexicon for new words."""
        tables, facts = self._reader.tables, self._words.facts
        texts = self._words.texts(codes.tolist())
        words = [tables.lexicon.words[text] for text in texts]
        facts[codes, kernels.LETTER] = [1 + LETTERS.index(word.letter) for word in words]
        stop, concept, marks = (
            np.array([word.stop for word in words], np.int32),
            np.array([len(tables.candidates(word).senses) > 0 for word in words], np.int32),
            np.array([tables.marks(text) for text in texts], np.int32),
        )
        facts[codes, kernels.FLAGS] = stop * kernels.STOP + concept * kernels.CONCEPT + marks * kernels.NAME
        closed = np.array([text in STOP_WORDS for text in texts], np.bool_)
        facts[codes, kernels.ROW] = np.where((codes < len(self._vectors)) & ~closed, codes, -1)
        facts[codes, kernels.STEM] = stem = self._words.find([word.stem for word in words])
        begins, follows = self._starts[np.minimum(stem, len(self._starts) - 1)].T
        facts[codes, kernels.FLAGS] |= begins * kernels.BEGINS + follows * kernels.FOLLOWS
        singular = [forms_of(word) for word in words]
        for at in range(kernels.SINGULARS):
            some = [i for i, forms in enumerate(singular) if len(forms) > at]
            facts[codes[some], kernels.SINGULAR + at] = self._words.find([singular[i][at] for i in some])

    def _learn(self, queries: Queries, found: Found) -> None:
        """Ask the reference for the guesses and senses that are missing."""
        tables, facts, lexicon = self._reader.tables, self._words.facts, self._reader.tables.lexicon
        guesses, words, labels = found.missing.tolist()
        for code in found.guess[:guesses].tolist():
            guess = tables.guess_or_doubt(lexicon.words[self._words.texts([code])[0]])
            facts[code, kernels.GUESS] = kernels.NOTHING if guess is None else guess[0]
        codes = [np.array([code], np.int32) for code in found.word[:words].tolist()]
        spans = {tuple(queries.code[at : at + n].tolist()) for at, n in found.label[:labels].tolist()}
        codes += [np.array(span, np.int32) for span in sorted(spans)]
        if codes:
            several = [[lexicon.words[text] for text in self._words.texts(label.tolist())] for label in codes]
            entry = self._senses.add(codes, [lexicon.candidates(label) for label in several])
            facts[found.word[:words], kernels.ENTRY] = entry[:words]

    def _found(self, queries: Queries) -> Found:
        n, words = len(queries.start) - 1, len(queries.code)
        return Found(
            units=np.zeros(n, np.int32),
            concept=np.zeros(words + n, np.int32),
            missing=np.zeros(3, np.int32),
            guess=np.zeros(words, np.int32),
            word=np.zeros(words, np.int32),
            label=np.zeros((words, 2), np.int32),
        )

    def _packed(self, texts: pl.Series, split: SplitTexts, queries: Queries, found: Found) -> Block:
        """Put the concepts of all queries in a row, those that the reference reads in their places."""
        odd = {q: concepts_in(self._reader.read(texts[q])) for q in split.odd.tolist()}
        self.left += len(odd)
        first = queries.start[:-1] + np.arange(len(texts))
        count = found.units.astype(np.int64)
        count[split.odd] = [len(concepts) for concepts in odd.values()]
        begin = np.cumsum(count) - count
        at = np.repeat(first - begin, count) + np.arange(count.sum())
        is_odd = np.zeros(len(texts), np.bool_)
        is_odd[split.odd] = True
        from_reference = np.repeat(is_odd, count)
        at[from_reference] = 0
        concept = found.concept[at]
        concept[from_reference] = [c for concepts in odd.values() for c in concepts]
        return count, concept
