"""Text of a drawn query: labels alone, or labels instead of the words that had the concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import encode
from querycloak.methods.dp._plurals import plural

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.mapping.trace import Trace

__all__ = ["label_texts", "label_words", "shaped_texts"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


def label_words(taxonomy: Taxonomy, drawn: Int32s) -> tuple[Int32s, pl.Series]:
    """Return the label of each drawn concept, coded: int32[draws], and the labels. Two concepts may share a label."""
    text = _labels(taxonomy, drawn)
    used, index = np.unique(drawn, return_inverse=True)
    code, words = encode([text[c] for c in used.tolist()])
    return code[index], words


def label_texts(taxonomy: Taxonomy, event: Int64s, drawn: Int32s) -> list[str]:
    """Return the text of each query event that has a draw: the labels of its concepts, nothing of the original.

    `event`: int64[draws], ascending; `drawn`: int32[draws].
    """
    text = _labels(taxonomy, drawn)
    out: list[str] = []
    last = -1
    for e, c in zip(event.tolist(), drawn.tolist(), strict=True):
        if e == last:
            out[-1] += " " + text[c]
        else:
            out.append(text[c])
        last = e
    return out


def shaped_texts(
    log: QueryLog, concepts: ConceptLog, taxonomy: Taxonomy, drawn_from: Int64s, drawn: Int32s, *, keep_all: bool
) -> list[str]:
    """Return texts with the words around the units: all of them (section 3.4), or stop words alone.

    A unit that was not drawn (no concept, or outside the domain) is left out with its words. A plural stays a plural.
    `drawn_from`: int64[draws], ascending rows of `concepts`.
    """
    from querycloak.mapping import Mapper

    mapper = Mapper(taxonomy, concepts.mapping)
    label = _labels(taxonomy, drawn)
    first = np.flatnonzero(np.diff(concepts.row, prepend=-1))
    start = first[np.searchsorted(first, drawn_from, side="right") - 1]  # first unit of the event
    events: dict[int, dict[int, str]] = {}
    for s, at, c in zip(start.tolist(), drawn_from.tolist(), drawn.tolist(), strict=True):
        events.setdefault(s, {})[at - s] = label[c]
    traces: dict[int, Trace] = {}
    out = []
    for s, units in events.items():
        query = int(concepts.query[s])
        if query not in traces:
            traces[query] = mapper.map_query(str(log.queries[query]))
        trace = traces[query]
        same = trace.concepts == tuple(concepts.concept[s : s + len(trace.concepts)].tolist())
        # concepts from another mapper: their positions in the text are unknown, so only labels are safe
        out.append(_fill(trace, units, keep_all=keep_all) if same else " ".join(units.values()))
    return out


def _fill(trace: Trace, units: dict[int, str], *, keep_all: bool) -> str:
    """Put the labels in place: `units` is unit number → label."""
    words: list[str] = []
    number = 0
    for clause in trace.clauses:
        at = 0
        for unit in clause.units:
            words += [w.text for w in clause.words[at : unit.start] if keep_all or w.stop]
            if number in units:
                label = units[number]
                words.append(_plural(label) if clause.words[unit.end - 1].tag in {"NNS", "NNPS"} else label)
            at = unit.end
            number += 1
        words += [w.text for w in clause.words[at:] if keep_all or w.stop]
    return " ".join(words)


def _plural(label: str) -> str:
    before, space, last = label.rpartition(" ")
    return f"{before}{space}{plural(last)}"


def _labels(taxonomy: Taxonomy, drawn: Int32s) -> dict[int, str]:
    """Return a label for each concept: the first whose first sense it is, so that mapping the label returns it."""
    out = {}
    for c in np.unique(drawn).tolist():
        clear = (label for label in taxonomy.labels[c] if taxonomy.first_sense.get(label.lower()) == c)
        out[c] = next(clear, taxonomy.label(c))
    return out
